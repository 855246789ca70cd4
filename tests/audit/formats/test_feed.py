"""A reader who asks from where they stopped misses nothing and gets nothing twice."""

import random
import threading
from typing import Any
from uuid import uuid4

import pytest
from django.db import connections
from django.test import Client

from audit.formats import feed, ocsf
from audit.models import ExecutedAgentAction, Leaf
from audit.seals import sealer
from integrations.models import Organisation, ServiceToken
from tests.audit import sealed
from tests.audit.entries import append_action

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@pytest.fixture
def organisation() -> Organisation:
    return Organisation.objects.create(slug=f"o-{uuid4().hex}", name="Office")


def ask(organisation: Organisation, *, user_ids: list[str] | None = None, **params: Any) -> Any:
    _, token = ServiceToken.issue(
        organisation=organisation, name="siem", scopes=["audit:read"], user_ids=user_ids or []
    )
    return Client().get("/api/v1/ledger/feed", params, headers={"Authorization": f"Bearer {token}"})


def test_rows_come_in_order_of_place_and_the_next_page_continues(
    organisation: Organisation,
) -> None:
    append_action(tenant_id=organisation.id, resource_id="mail-1")
    append_action(tenant_id=organisation.id)
    append_action(tenant_id=uuid4())
    sealed.seal(organisation.id)
    append_action(tenant_id=organisation.id)  # not sealed yet

    first = ask(organisation, limit=3).json()
    second = ask(organisation, limit=3, place=first["next_place"]).json()
    third = ask(organisation, limit=3, place=second["next_place"]).json()

    assert [item["leaf_index"] for item in first["items"] + second["items"]] == [0, 1, 2, 3]
    assert (first["next_place"], second["next_place"], first["size"]) == (3, 4, 4)
    assert (third["items"], third["next_place"]) == ([], 4)
    assert first["items"][0]["resource_id"] == "mail-1"
    leaf = Leaf.objects.get(tenant_id=organisation.id, leaf_index=0)
    assert first["items"][0]["leaf_hash"] == bytes(leaf.hash).hex()


def test_nothing_is_missed_while_rows_are_written_and_sealed(organisation: Organisation) -> None:
    def write() -> None:
        try:
            for _ in range(15):
                append_action(tenant_id=organisation.id)
                sealer.seal(signer=sealed.SIGNER)
        finally:
            connections.close_all()

    writers = [threading.Thread(target=write) for _ in range(4)]
    for writer in writers:
        writer.start()
    read: list[dict[str, Any]] = []
    place, luck = 0, random.Random(1)
    while any(writer.is_alive() for writer in writers):
        page = feed.load_page(tenant_id=organisation.id, start=place, limit=luck.randrange(1, 9))
        read, place = [*read, *page.items], page.next_place
    sealed.seal(organisation.id)
    while (page := feed.load_page(tenant_id=organisation.id, start=place, limit=50)).items:
        read, place = [*read, *page.items], page.next_place

    written = ExecutedAgentAction.objects.filter(tenant_id=organisation.id)
    assert [item["leaf_index"] for item in read] == list(range(120))
    assert sorted(item["id"] for item in read) == sorted(written.values_list("id", flat=True))


def test_another_organisation_gets_nothing_of_it(organisation: Organisation) -> None:
    append_action(tenant_id=organisation.id)
    sealed.seal(organisation.id)
    other = Organisation.objects.create(slug=f"o-{uuid4().hex}", name="Other")
    assert ask(other).json() == {"items": [], "left": [], "next_place": 0, "size": 0}


def test_a_token_for_some_users_may_not_have_it(organisation: Organisation) -> None:
    refused = ask(organisation, user_ids=["maya"])
    assert refused.status_code == 403
    assert "this token covers some" in refused.content.decode()


def test_rows_as_events_for_a_siem(organisation: Organisation) -> None:
    append_action(tenant_id=organisation.id)
    sealed.seal(organisation.id)
    rows = feed.load_page(tenant_id=organisation.id, start=0, limit=10).items
    told = ask(organisation, format="ocsf").json()
    assert told["items"] == [ocsf.event(row) for row in rows]
    assert [item["metadata"]["sequence"] for item in told["items"]] == [0, 1]


@pytest.mark.parametrize("params", [{"place": "-1"}, {"limit": "0"}, {"format": "xml"}])
def test_a_bad_parameter_is_named(organisation: Organisation, params: dict[str, Any]) -> None:
    refused = ask(organisation, **params)
    assert refused.status_code == 400
    assert next(iter(params)) in refused.content.decode()


def test_a_place_that_the_ledger_never_reached_is_refused(organisation: Organisation) -> None:
    append_action(tenant_id=organisation.id)
    sealed.seal(organisation.id)
    assert ask(organisation, place=2).json()["next_place"] == 2
    for place in (3, 10**30):
        refused = ask(organisation, place=place)
        assert refused.status_code == 409
        assert refused.json()["error"]["code"] == "ahead_of_ledger"
        assert f"Place {place} is ahead of this ledger, of which 2 rows are sealed" in str(
            refused.json()
        )


def test_the_feed_of_an_empty_ledger_begins_at_its_first_place(organisation: Organisation) -> None:
    assert ask(organisation).json() == {"items": [], "left": [], "next_place": 0, "size": 0}
    assert ask(organisation, place=1).status_code == 409
