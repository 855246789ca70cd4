"""A mailbox at a fake Gmail that a file's tests share; each test finds it empty, and leaves no
request or answer behind that Google's discovery document does not know."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.google_world import ADDRESS, TOKEN, Gmail, running_gmail

if TYPE_CHECKING:
    from tests.integrations.providers.google_mail.box import Box


@pytest.fixture(scope="package")
def running() -> Iterator[Gmail]:
    with running_gmail() as gmail:
        yield gmail


@pytest.fixture
def gmail(running: Gmail, keys: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gmail]:
    from tests.own_accounts import trusted  # this conftest is read before Django is set up

    with trusted(running, monkeypatch) as gmail:
        yield gmail


@pytest.fixture
def box(gmail: Gmail) -> "Box":
    from tests.integrations.providers.google_mail.box import Box
    from tests.own_accounts import connected, tokens

    servers = {"api": gmail.api, "ends_at": ""}
    row = connected("google_mail", address=ADDRESS, servers=servers, secret=tokens(TOKEN))
    return Box(gmail=gmail, account=row.ref())
