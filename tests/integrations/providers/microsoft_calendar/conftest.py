"""Calendars at a fake Microsoft Graph that a file's tests share; each test finds them empty, and
leaves no request or answer behind that its description does not know."""

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from tests.microsoft_calendar_world import (
    ADDRESS,
    TOKEN,
    OutlookCalendar,
    running_outlook_calendar,
)

if TYPE_CHECKING:
    from tests.integrations.providers.microsoft_calendar.box import Box


@pytest.fixture(scope="package")
def running() -> Iterator[OutlookCalendar]:
    with running_outlook_calendar() as outlook:
        yield outlook


@pytest.fixture
def outlook(
    running: OutlookCalendar, keys: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[OutlookCalendar]:
    from integrations.network import http  # this conftest is read before Django is set up

    monkeypatch.setenv("SSL_CERT_FILE", str(running.trusted))
    http.close_clients()
    running.clear()
    yield running
    assert running.problems == []


@pytest.fixture
def box(outlook: OutlookCalendar) -> "Box":
    from django.utils import timezone

    from integrations.credentials import credentials
    from integrations.credentials.oauth import Tokens
    from integrations.models import Account
    from tests.integrations.providers.microsoft_calendar.box import Box
    from tests.knowledge.office import account

    row = Account.objects.get(id=account(user=uuid4().hex[:12], source="microsoft_calendar").id)
    row.address = ADDRESS
    row.save()
    tokens = Tokens(access=TOKEN, refresh="r", expires_at=timezone.now() + timedelta(hours=1))
    credentials.keep(
        account_id=row.id,
        user_name=ADDRESS,
        servers={"api": outlook.api, "ends_at": ""},
        sealed=credentials.seal(tokens.to_text(), account_id=row.id),
    )
    return Box(outlook=outlook, account=row.ref())
