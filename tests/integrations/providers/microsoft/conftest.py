"""An account of each kind at a fake Microsoft Graph that calls Remit's own door over HTTP."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
    from tests.own_accounts import connected, tokens, trusted  # Django is set up by now

    kind = getattr(request, "param", "mail")
    world: Any = worlds[kind]
    world.subscriptions.clear()
    world.subscriptions.door, settings.PUBLIC_URL = live_server.url, PUBLIC
    servers = {"api": world.api, "ends_at": ""}
    if isinstance(world, Outlook):
        servers["folders"] = world.folders
    servers |= getattr(world, "servers", {})
    row = connected(f"microsoft_{kind}", address=ADDRESS, servers=servers, secret=tokens(TOKEN))
    with trusted(world, monkeypatch):
        yield Graph(world=world, account=row.ref())
    assert world.subscriptions.problems == []
