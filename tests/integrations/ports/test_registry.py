"""Every source of the data service, read at the real sandbox in the same way."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError

from integrations.accounts.reads import reader
from integrations.contracts import AccountRef, AnyItem
from integrations.exceptions import NotFound, Rejected
from integrations.models import Account, Organisation
from integrations.ports.registry import BY_SOURCE, DATA_SERVICE, PROVIDER_OF, SYNCED
from tests.knowledge.office import account
from tests.sandbox_server import KEY, RunningSandbox, running_sandbox

pytestmark = pytest.mark.django_db

PROVIDED = tuple(one.source for one in DATA_SERVICE.connectors)
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


def listed(owner: AccountRef, *, since: datetime) -> list[AnyItem]:
    found: list[AnyItem] = []
    cursor: str | None = None
    while True:
        page = reader(owner).items(since=since, cursor=cursor, limit=2)
        assert page.rejected == ()
        found += page.items
        cursor = page.next_cursor
        if cursor is None:
            return found


def test_the_sources_of_the_data_service_are_those_the_sandbox_has() -> None:
    assert set(PROVIDED) == COLLECTIONS.keys()
    assert set(PROVIDED) < set(SYNCED)


@pytest.mark.parametrize("source", PROVIDED)
def test_items_are_listed_page_by_page_and_read_alone(
    source: str, sandbox: RunningSandbox, settings: Any
) -> None:
    connector = BY_SOURCE[source]
    owner = omar(source, sandbox, settings)

    found = listed(owner, since=LONG_AGO)

    assert found
    assert all(isinstance(item, connector.item_type) for item in found)
    assert len({item.id for item in found}) == len(found)
    assert listed(owner, since=datetime.now(UTC) + timedelta(days=1)) == []
    assert reader(owner).item(found[0].id) == found[0]
    with pytest.raises(NotFound):
        reader(owner).item("none")


@pytest.mark.parametrize("source", PROVIDED)
def test_what_is_removed_stands_in_the_history(
    source: str, sandbox: RunningSandbox, settings: Any
) -> None:
    owner = omar(source, sandbox, settings)
    item = listed(owner, since=LONG_AGO)[-1]
    before = datetime.now(UTC) - timedelta(seconds=1)
    answer = httpx.delete(
        f"{sandbox.control}/users/omar/{COLLECTIONS[source]}/{item.id}", headers=sandbox.headers
    )

    assert answer.status_code == 204
    changes = reader(owner).history(since=before, cursor=None, limit=100).items
    assert ("deleted", "other") in [(change.change, change.by) for change in changes]


@pytest.mark.parametrize("source", sorted(BY_SOURCE.keys() - SYNCED))
def test_nobody_can_be_asked_about_the_items_of_any_other_source(
    source: str, sandbox: RunningSandbox, settings: Any
) -> None:
    owner = omar(source, sandbox, settings)

    with pytest.raises(Rejected):
        reader(owner).item("m1")


@pytest.mark.parametrize("source", sorted(BY_SOURCE))
def test_an_account_has_the_kind_and_the_provider_of_its_source(source: str) -> None:
    owner = account(source=source)

    assert (owner.kind, owner.provider) == (BY_SOURCE[source].kind, PROVIDER_OF[source].name)


def test_a_user_has_each_source_of_the_data_service_once_and_may_have_two_of_one_kind() -> None:
    owner = account(source="gmail")
    account(source="outlook", organisation=Organisation.objects.get())
    again = Account(
        organisation_id=owner.organisation_id,
        external_user_id=owner.external_user_id,
        source="gmail",
    )

    with pytest.raises(ValidationError):
        again.full_clean()
    with pytest.raises(IntegrityError):
        again.save()
