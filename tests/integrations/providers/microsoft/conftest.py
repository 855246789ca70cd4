"""An account of each kind at a fake Microsoft Graph that calls Remit's own door over HTTP."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from tests.microsoft_calendar_world import running_outlook_calendar
from tests.microsoft_files_world import running_onedrive
from tests.microsoft_pushes_world import PUBLIC, FakeGraph, GraphSubscriptions
from tests.microsoft_world import ADDRESS, TOKEN, Outlook, running_outlook

if TYPE_CHECKING:
    from integrations.contracts import AccountRef

KINDS = ("mail", "calendar", "files")
RUN: dict[str, Any] = {
    "mail": running_outlook,
    "calendar": running_outlook_calendar,
    "files": running_onedrive,
}


@dataclass(frozen=True, kw_only=True)
class Graph:
    world: FakeGraph
    account: "AccountRef"

    @property
    def subscriptions(self) -> GraphSubscriptions:
        return self.world.subscriptions


@pytest.fixture(scope="package")
def worlds() -> Iterator[dict[str, FakeGraph]]:
    with ExitStack() as stack:
        yield {kind: stack.enter_context(RUN[kind]()) for kind in KINDS}


@pytest.fixture
def graph(
    request: pytest.FixtureRequest,
    worlds: dict[str, FakeGraph],
    keys: None,
    live_server: Any,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Graph]:
    from integrations.network import http  # this conftest is read before Django is set up

    kind = getattr(request, "param", "mail")
    world: Any = worlds[kind]
    monkeypatch.setenv("SSL_CERT_FILE", str(world.trusted))
    http.close_clients()
    world.clear()
    world.subscriptions.clear()
    world.subscriptions.door, settings.PUBLIC_URL = live_server.url, PUBLIC
    servers = {"api": world.api, "ends_at": ""}
    if isinstance(world, Outlook):
        servers["folders"] = world.folders
    servers |= getattr(world, "servers", {})
    yield Graph(world=world, account=connect(f"microsoft_{kind}", servers))
    assert world.problems == []
    assert world.subscriptions.problems == []


def connect(source: str, servers: dict[str, Any]) -> "AccountRef":
    from django.utils import timezone

    from integrations.credentials import credentials
    from integrations.credentials.oauth import Tokens
    from integrations.models import Account
    from tests.knowledge.office import account

    row = Account.objects.select_related("organisation").get(
        id=account(user=uuid4().hex[:12], source=source).id
    )
    row.address = ADDRESS
    row.save()
    tokens = Tokens(access=TOKEN, refresh="r", expires_at=timezone.now() + timedelta(hours=1))
    credentials.keep(
        account_id=row.id,
        user_name=ADDRESS,
        servers=servers,
        sealed=credentials.seal(tokens.to_text(), account_id=row.id),
    )
    return row.ref()
