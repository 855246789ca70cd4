"""Calendars at a fake Google that a file's tests share; each test finds them empty, and leaves no
request or answer behind that Google's discovery document does not know."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.google_calendar_world import (
    ADDRESS,
    TOKEN,
    GoogleCalendar,
    running_google_calendar,
)

if TYPE_CHECKING:
    from tests.integrations.providers.google_calendar.box import Box


@pytest.fixture(scope="package")
def running() -> Iterator[GoogleCalendar]:
    with running_google_calendar() as google:
        yield google


@pytest.fixture
def google(
    running: GoogleCalendar, keys: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[GoogleCalendar]:
    from tests.own_accounts import trusted  # this conftest is read before Django is set up

    with trusted(running, monkeypatch) as google:
        yield google


@pytest.fixture
def box(google: GoogleCalendar) -> "Box":
    from tests.integrations.providers.google_calendar.box import Box
    from tests.own_accounts import connected, tokens

    servers = {"api": google.api, "ends_at": ""}
    row = connected("google_calendar", address=ADDRESS, servers=servers, secret=tokens(TOKEN))
    return Box(google=google, account=row.ref())
