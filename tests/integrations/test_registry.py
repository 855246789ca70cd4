"""Every source of the data service, read at the real sandbox in the same way."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from integrations.connectors.base import Connector
from integrations.contracts import AccountRef, AnyItem
from integrations.exceptions import NotFound, Rejected
from integrations.reads import reader
from integrations.registry import BY_SOURCE, CONNECTORS, PROVIDED
from tests.knowledge.office import account
from tests.sandbox_server import KEY, RunningSandbox, running_sandbox

pytestmark = pytest.mark.django_db

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
COLLECTIONS = {
    "gmail": "emails",
    "gdrive": "documents",
    "calendar": "events",
    "jira": "issues",
    "outlook": "outlook",
    "github": "github",
    "slack": "slack",
}


@pytest.fixture
def sandbox() -> Iterator[RunningSandbox]:
    with running_sandbox() as running:
        yield running


def omar(source: str, sandbox: RunningSandbox, settings: Any) -> AccountRef:
    owner = account(user="omar", source=source)
    settings.DATA_SERVICES = {owner.organisation_slug: sandbox.url}
    settings.DATA_SERVICE_KEYS = {owner.organisation_slug: KEY}
    return owner


def listed(owner: AccountRef, connector: Connector, *, since: datetime) -> list[AnyItem]:
    assert connector.list_changes
    found: list[AnyItem] = []
    cursor: str | None = None
    while True:
        page = connector.list_changes(reader(owner), since, cursor, 2)
        assert page.rejected == ()
        found += page.items
        cursor = page.next_cursor
        if cursor is None:
            return found


def test_the_sources_of_the_data_service_are_those_the_sandbox_has() -> None:
    assert set(PROVIDED) == COLLECTIONS.keys()


@pytest.mark.parametrize("source", PROVIDED)
def test_items_are_listed_page_by_page_and_read_alone(
    source: str, sandbox: RunningSandbox, settings: Any
) -> None:
    connector = BY_SOURCE[source]  # type: ignore[index]  # one of its keys
    owner = omar(source, sandbox, settings)

    found = listed(owner, connector, since=LONG_AGO)

    assert found
    assert all(isinstance(item, connector.item_type) for item in found)
    assert len({item.id for item in found}) == len(found)
    assert listed(owner, connector, since=datetime.now(UTC) + timedelta(days=1)) == []
    assert reader(owner).item(source=connector.source, source_id=found[0].id) == found[0]
    with pytest.raises(NotFound):
        reader(owner).item(source=connector.source, source_id="none")


@pytest.mark.parametrize("source", PROVIDED)
def test_what_is_removed_stands_in_the_history(
    source: str, sandbox: RunningSandbox, settings: Any
) -> None:
    connector = BY_SOURCE[source]  # type: ignore[index]
    assert connector.history
    owner = omar(source, sandbox, settings)
    item = listed(owner, connector, since=LONG_AGO)[-1]
    before = datetime.now(UTC) - timedelta(seconds=1)
    answer = httpx.delete(
        f"{sandbox.control}/users/omar/{COLLECTIONS[source]}/{item.id}", headers=sandbox.headers
    )

    assert answer.status_code == 204
    changes = connector.history(reader(owner), before, None, 100).items
    assert ("deleted", "other") in [(change.change, change.by) for change in changes]


@pytest.mark.parametrize("connector", CONNECTORS, ids=lambda one: one.source)
def test_what_is_imported_has_no_list_and_no_path_at_the_data_service(
    connector: Connector, sandbox: RunningSandbox, settings: Any
) -> None:
    if connector.source in PROVIDED:
        assert connector.path
        return
    owner = omar(connector.source, sandbox, settings)

    assert (connector.path, connector.list_items, connector.list_changes) == ("", None, None)
    with pytest.raises(Rejected):
        reader(owner).item(source=connector.source, source_id="m1")
