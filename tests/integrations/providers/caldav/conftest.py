"""An account of a real calendar server, which all tests share; each test finds it empty."""

from typing import TYPE_CHECKING

import pytest

from tests.calendar_world import ADDRESS, PASSWORD, USER, CalendarServer

if TYPE_CHECKING:
    from tests.integrations.providers.caldav.box import Box


@pytest.fixture
def box(calendars: CalendarServer) -> "Box":
    # This conftest is read before Django is set up.
    from integrations.providers.caldav import trial
    from tests.integrations.providers.caldav.box import Box
    from tests.own_accounts import connected

    tried = trial.try_urls([calendars.origin], user_name=USER, secret=PASSWORD)
    row = connected(
        "caldav",
        address=ADDRESS,
        display_name="Nora Berg",
        user_name=USER,
        servers=tried.server.to_json(),
        secret=PASSWORD,
    )
    return Box(server=calendars, account=row.ref())
