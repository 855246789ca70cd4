"""An account of a real calendar server, which all tests share; each test finds it empty."""

from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from tests.calendar_world import ADDRESS, PASSWORD, USER, CalendarServer

if TYPE_CHECKING:
    from tests.integrations.providers.caldav.box import Box


@pytest.fixture
def box(calendars: CalendarServer) -> "Box":
    # This conftest is read before Django is set up.
    from integrations.credentials import credentials
    from integrations.models import Account
    from integrations.providers.caldav import trial
    from tests.integrations.providers.caldav.box import Box
    from tests.knowledge.office import account

    row = Account.objects.get(id=account(user=uuid4().hex[:12], source="caldav").id)
    row.address, row.display_name, row.time_zone = ADDRESS, "Nora Berg", "Europe/Stockholm"
    row.save()
    tried = trial.try_urls([calendars.origin], user_name=USER, secret=PASSWORD)
    credentials.keep(
        account_id=row.id,
        user_name=USER,
        servers=tried.server.to_json(),
        sealed=credentials.seal(PASSWORD, account_id=row.id),
    )
    return Box(server=calendars, account=row.ref())
