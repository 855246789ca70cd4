"""The engine's connections are Django's own, to the database of the tests."""

import socket
import sys
from typing import cast

import psycopg
import pytest
from django.db import connection, connections

from integrations.database.base import DatabaseWrapper, is_quiet
from tests.database import parameters

pytestmark = pytest.mark.django_db


def test_a_connection_on_which_nothing_was_said_is_used_without_asking(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrapper = cast(DatabaseWrapper, connections["default"])
    wrapper.ensure_connection()
    assert wrapper.connection is not None
    asked: list[object] = []
    monkeypatch.setattr(wrapper.connection, "cursor", lambda *a, **k: asked.append(a))

    assert wrapper.is_usable()
    assert not asked


def test_after_an_error_the_server_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    wrapper = cast(DatabaseWrapper, connections["default"])
    wrapper.ensure_connection()
    monkeypatch.setattr(wrapper, "errors_occurred", True)
    session = wrapper.connection
    assert session is not None
    asked: list[int] = []
    cursor = session.cursor

    def counted() -> object:
        asked.append(1)
        return cursor()

    monkeypatch.setattr(session, "cursor", counted)

    assert wrapper.is_usable()
    assert asked == [1]


def test_a_word_that_waits_to_be_read_is_a_reason_to_ask() -> None:
    name = connection.settings_dict["NAME"]
    with (
        psycopg.connect(**parameters(name)) as idle,
        psycopg.connect(**parameters(name)) as other,
    ):
        assert is_quiet(idle)
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [idle.info.backend_pid])

        assert not is_quiet(idle)
    assert not is_quiet(idle)
    assert not is_quiet(None)


@pytest.mark.skipif(sys.platform != "linux", reason="The option is Linux's.")
def test_a_server_that_vanished_without_a_word_is_noticed_after_twenty_seconds() -> None:
    """As tried with a network that was cut: without it, what was said is repeated for minutes."""
    wrapper = cast(DatabaseWrapper, connections["default"])
    wrapper.ensure_connection()
    assert wrapper.connection is not None
    with socket.fromfd(wrapper.connection.fileno(), socket.AF_INET, socket.SOCK_STREAM) as heard:
        is_kept_alive = heard.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        unanswered = heard.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
    assert (is_kept_alive, unanswered) == (1, 20_000)
