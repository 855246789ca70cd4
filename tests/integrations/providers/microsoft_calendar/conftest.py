"""Calendars at a fake Microsoft Graph that a file's tests share; each test finds them empty, and
leaves no request or answer behind that its description does not know."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

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
    from tests.own_accounts import trusted  # this conftest is read before Django is set up

    with trusted(running, monkeypatch) as outlook:
        yield outlook


@pytest.fixture
def box(outlook: OutlookCalendar) -> "Box":
    from tests.integrations.providers.microsoft_calendar.box import Box
    from tests.own_accounts import connected, tokens

    servers = {"api": outlook.api, "ends_at": ""}
    row = connected("microsoft_calendar", address=ADDRESS, servers=servers, secret=tokens(TOKEN))
    return Box(outlook=outlook, account=row.ref())
