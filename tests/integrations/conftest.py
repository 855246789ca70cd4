"""A mailbox of its own for each test, on a real mail server that a file's tests share; calendars on
servers that all share."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from tests.calendar_world import CalendarServer
from tests.dns_world import Dns, running_dns
from tests.mail_world import DOMAIN, PASSWORD, MailWorld, running_mail_world

if TYPE_CHECKING:
    from tests.integrations.providers.imap.box import Box


@pytest.fixture(scope="module")
def world() -> Iterator[MailWorld]:
    with running_mail_world() as running:
        yield running


@pytest.fixture
def dns(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Dns]:
    with running_dns(monkeypatch, tmp_path) as running:
        yield running


@pytest.fixture
def calendars(
    calendar_server: CalendarServer, keys: None, monkeypatch: pytest.MonkeyPatch
) -> CalendarServer:
    monkeypatch.setenv("SSL_CERT_FILE", str(calendar_server.trusted))
    return calendar_server


@pytest.fixture
def box(world: MailWorld, keys: None) -> "Iterator[Box]":
    # This conftest is read before Django is set up.
    from integrations.providers.imap import connection
    from tests.integrations.providers.imap.box import Box
    from tests.own_accounts import connected

    address = f"{uuid4().hex[:12]}@{DOMAIN}"
    row = connected("imap", address=address, servers=world.servers, secret=PASSWORD)
    yield Box(world=world, account=row.ref())
    connection.close_idle()
