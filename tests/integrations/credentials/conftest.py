"""A real authorisation server that a file's tests share; each finds it without codes and tokens."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.oauth_world import OAuthServer


@pytest.fixture(scope="package")
def running_oauth_server() -> "Iterator[OAuthServer]":
    from tests.oauth_world import running_oauth  # this conftest is read before Django is set up

    with running_oauth() as server:
        yield server


@pytest.fixture
def server(
    running_oauth_server: "OAuthServer", settings: Any, monkeypatch: pytest.MonkeyPatch
) -> "Iterator[OAuthServer]":
    from integrations.network import http

    settings.OUTGOING_TO_PRIVATE = True
    monkeypatch.setenv("SSL_CERT_FILE", str(running_oauth_server.trusted))
    http.close_clients()
    running_oauth_server.reset()
    yield running_oauth_server
    http.close_clients()
