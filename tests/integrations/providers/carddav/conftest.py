"""An account of a real server of address books; each test finds one empty book there."""

import re
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from tests.calendar_world import ADDRESS, PASSWORD, USER, CalendarServer

if TYPE_CHECKING:
    from tests.integrations.providers.carddav.box import Box

HOMES = {"radicale": f"/{USER}/", "xandikos": f"/{USER}/contacts/"}


@pytest.fixture
def box(calendars: CalendarServer) -> "Box":
    # This conftest is read before Django is set up.
    from integrations.credentials import credentials
    from integrations.models import Account
    from integrations.providers.carddav import trial
    from tests.integrations.providers.carddav.box import PLAIN_BOOK, Box
    from tests.knowledge.office import account

    client, home = calendars.client, HOMES[calendars.name]
    said = client.request("PROPFIND", home, headers={"Depth": "1"}).text
    for path in set(re.findall(r"href>([^<]+/)</", said)) - {home, calendars.calendar}:
        client.delete(path)
    book = f"{home}friends/"
    assert client.request("MKCOL", book, content=PLAIN_BOOK).status_code == 201

    row = Account.objects.get(id=account(user=uuid4().hex[:12], source="carddav").id)
    row.address = ADDRESS
    row.save()
    tried = trial.try_urls([calendars.origin], user_name=USER, secret=PASSWORD)
    credentials.keep(
        account_id=row.id,
        user_name=USER,
        servers=tried.server.to_json(),
        sealed=credentials.seal(PASSWORD, account_id=row.id),
    )
    return Box(server=calendars, account=row.ref(), book=book)
