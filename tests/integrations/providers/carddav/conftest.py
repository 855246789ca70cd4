"""An account of a real server of address books; each test finds one empty book there."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from tests.calendar_world import ADDRESS, PASSWORD, CalendarServer, servers
from tests.cyrus_world import needs_cyrus, running_cyrus, served_contacts

if TYPE_CHECKING:
    from tests.integrations.providers.carddav.box import Box


@pytest.fixture(scope="module")
def cyrus() -> Iterator[CalendarServer]:
    with running_cyrus() as world, served_contacts(world, ADDRESS) as server:
        yield server


@pytest.fixture(params=[*servers(), pytest.param("cyrus", marks=needs_cyrus)])
def calendar_server(
    request: pytest.FixtureRequest, calendar_servers: Callable[[str], CalendarServer]
) -> CalendarServer:
    """Each in turn that keeps address books, empty."""
    is_cyrus = request.param == "cyrus"
    found: CalendarServer = (
        request.getfixturevalue("cyrus") if is_cyrus else calendar_servers(request.param)
    )
    found.clear()
    return found


@pytest.fixture
def box(calendars: CalendarServer) -> "Box":
    # This conftest is read before Django is set up.
    from integrations.providers.carddav import trial
    from tests.integrations.providers.carddav.box import Box, open_book
    from tests.own_accounts import connected

    book = open_book(calendars)
    tried = trial.try_urls([calendars.origin], user_name=calendars.user, secret=PASSWORD)
    row = connected(
        "carddav",
        address=ADDRESS,
        user_name=calendars.user,
        servers=tried.server.to_json(),
        secret=PASSWORD,
    )
    return Box(server=calendars, account=row.ref(), book=book)
