"""An account of a real calendar server, which all tests share; each test finds it empty."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from tests.calendar_world import (
    ADDRESS,
    PASSWORD,
    USER,
    CalendarServer,
    running_calendar_server,
    servers,
)

if TYPE_CHECKING:
    from tests.integrations.providers.caldav.box import Box

PRIVATE = "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA="


@pytest.fixture(scope="session", params=servers())
def server(request: pytest.FixtureRequest) -> Iterator[CalendarServer]:
    with running_calendar_server(request.param) as running:
        yield running


@pytest.fixture
def box(
    server: CalendarServer, settings: Any, db: None, monkeypatch: pytest.MonkeyPatch
) -> "Iterator[Box]":
    # This conftest is read before Django is set up.
    from integrations.credentials import credentials, sealing
    from integrations.models import Account
    from integrations.network import http
    from integrations.providers.caldav import trial
    from tests.integrations.providers.caldav.box import Box
    from tests.knowledge.office import account

    monkeypatch.setenv("SSL_CERT_FILE", str(server.trusted))
    settings.OUTGOING_TO_PRIVATE = True
    settings.CREDENTIALS_PRIVATE_KEY = PRIVATE
    public = sealing.private_key(PRIVATE).public_key()
    settings.CREDENTIALS_PUBLIC_KEY = sealing.to_text(public)
    server.clear()
    row = Account.objects.get(id=account(user=uuid4().hex[:12], source="caldav").id)
    row.address, row.display_name, row.time_zone = ADDRESS, "Nora Berg", "Europe/Stockholm"
    row.save()
    tried = trial.try_urls([server.origin], user_name=USER, secret=PASSWORD)
    credentials.keep(
        account_id=row.id,
        user_name=USER,
        servers=tried.server.to_json(),
        sealed=credentials.seal(PASSWORD, account_id=row.id),
    )
    yield Box(server=server, account=row.ref())
    http.close_clients()
