"""Servers that say at once that something changed. Nothing here depends on how long it takes."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from integrations.accounts import watching
from integrations.accounts.watching import Watcher
from integrations.credentials import credentials
from integrations.models import Account, Credential
from integrations.providers.imap import listening
from tests import imap_server
from tests.imap_server import running_mail_server
from tests.integrations.providers.imap.box import Box
from tests.knowledge.office import account
from tests.mail_world import needs_dovecot
from tests.office import until
from tests.own_accounts import sign_in

pytestmark = [needs_dovecot, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def asked() -> list[UUID]:
    """The accounts that were asked for their changes."""
    return []


@pytest.fixture
def watch(asked: list[UUID], monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Watcher]]:
    """Starts a process's watcher."""
    monkeypatch.setattr(watching, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(listening, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(watching, "FIRST_PAUSE", 0.05)
    stop, running = threading.Event(), []

    def start() -> Watcher:
        watcher = Watcher(ask=asked.append)
        thread = threading.Thread(target=watcher.run, args=(stop,))
        thread.start()
        running.append(thread)
        return watcher

    yield start
    stop.set()
    for thread in running:
        thread.join()


def test_a_change_is_asked_for_when_the_server_tells_and_when_listening_begins(
    box: Box, watch: Callable[[], Watcher], asked: list[UUID]
) -> None:
    watch()
    until(lambda: len(asked) == 1)

    box.deliver()
    until(lambda: len(asked) >= 2)
    row = Credential.objects.get(account_id=box.account.id)
    assert row.watched_until is not None
    assert row.watched_until > timezone.now()

    before = len(asked)
    with box.world.client(box.address) as client:
        client.select_folder("INBOX")
        client.add_flags([1], [b"\\Seen"])
    until(lambda: len(asked) > before)
    assert set(asked) == {box.account.id}


def test_a_calendar_server_is_not_listened_to(
    box: Box, watch: Callable[[], Watcher], asked: list[UUID]
) -> None:
    calendar = account(user="nora", source="caldav")
    sign_in(calendar.id, user_name="nora", servers={"home": "https://127.0.0.1:1/"}, secret="word")

    watch()

    until(lambda: len(asked) == 1)
    assert asked == [box.account.id]
    assert Credential.objects.get(account_id=calendar.id).watched_until is None


def test_a_connection_that_breaks_is_made_again_and_the_account_asked(
    box: Box, watch: Callable[[], Watcher], asked: list[UUID]
) -> None:
    watcher = watch()
    until(lambda: len(asked) == 1)
    (listener,) = watcher._listening.values()

    listener._line.hang_up()
    box.deliver()

    until(lambda: len(asked) >= 2)
    assert Credential.objects.get(account_id=box.account.id).state == "good"


def test_of_two_processes_one_listens_and_the_other_takes_over(
    box: Box, watch: Callable[[], Watcher], asked: list[UUID]
) -> None:
    first = watch()
    until(lambda: len(asked) == 1)
    second = watch()

    def taken_over() -> bool:
        """The lease ends until the second one is the first to see it."""
        mine = Credential.objects.filter(account_id=box.account.id)
        mine.filter(watched_by=first._me).update(watched_until=None)
        return len(asked) >= 2

    until(taken_over)
    until(lambda: len(first._listening) + len(second._listening) == 1)


def test_who_disconnects_is_listened_for_no_longer(
    box: Box, watch: Callable[[], Watcher], asked: list[UUID]
) -> None:
    watcher = watch()
    until(lambda: len(asked) == 1)

    credentials.forget(box.account.id)

    until(lambda: not watcher._listening)


def test_a_refused_sign_in_is_tried_once(
    box: Box, watch: Callable[[], Watcher], asked: list[UUID]
) -> None:
    sign_in(
        box.account.id,
        user_name=box.address,
        servers=box.world.servers,
        secret="changed by its user",
    )
    watcher = watch()

    until(lambda: Credential.objects.get(account_id=box.account.id).state == "sign_in")
    until(lambda: not watcher._listening)
    assert asked == []


def test_a_server_that_cannot_is_left_to_the_poll(
    box: Box,
    watch: Callable[[], Watcher],
    asked: list[UUID],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    settings: Any,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    with running_mail_server(tmp_path) as server:
        there = {"host": "127.0.0.1", "port": server.port, "security": "tls"}
        account = Account.objects.get(id=box.account.id)
        sign_in(
            account.id,
            user_name=imap_server.USER,
            servers={"imap": there},
            secret=imap_server.PASSWORD,
        )
        watcher = watch()
        until(lambda: bool(server.named("LOGOUT")))
        until(lambda: not any(one.is_alive() for one in watcher._listening.values()))

        settings.WATCHED_MAILBOXES = 0
        until(lambda: not watcher._listening)
    assert len(server.named("AUTHENTICATE")) == 1
    assert asked == []
