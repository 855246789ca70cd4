"""Whose delivery is taken next, and what it costs to find it."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.utils import timezone

from agents.inbound import claims, items
from agents.inbound.intake import accept_delivery
from integrations.contracts import AccountRef
from integrations.contracts.events import ItemEvent
from integrations.models import Account, Delivery
from knowledge.models import Item
from tests.clocks import HOUR, clock_off
from tests.knowledge.office import NOW, account, issue

pytestmark = pytest.mark.django_db


def arrive(owner: AccountRef, id: str, sender: str) -> None:
    event = ItemEvent.model_validate(
        {
            "kind": "created",
            "user_id": owner.external_user_id,
            "source": owner.source,
            "source_id": id,
            "data": {"id": id, "from": sender},
            "timestamp": NOW,
        }
    )
    accept_delivery(owner.organisation_slug, f"w-{uuid4()}", event)


def take(most: int) -> list[str]:
    taken = claims.claim_queued(most, large=True)
    return [str(one.body["source_id"]) for one in sorted(taken, key=lambda one: one.received_at)]


def test_a_flood_keeps_no_other_sender_and_no_other_account_waiting() -> None:
    maya, omar = account(), account()
    for number in range(6):
        arrive(maya, f"eve-{number}", "eve@evil.example")
    arrive(maya, "ann", "ann@a.example")
    arrive(omar, "bob", "bob@a.example")
    arrive(omar, "eve-to-omar", "eve@evil.example")

    # One of each account first, and of each sender; those that are at work count.
    assert take(2) == ["eve-0", "bob"]
    assert take(2) == ["ann", "eve-to-omar"]
    assert take(2) == ["eve-1", "eve-2"]
    arrive(maya, "ann again", "ann@a.example")
    arrive(omar, "bob again", "bob@a.example")
    assert take(2) == ["ann again", "bob again"]
    assert take(8) == ["eve-3", "eve-4", "eve-5"]


def test_a_delivery_comes_with_all_that_its_account_says() -> None:
    owner = account(source="jira")
    rows = Account.objects.filter(id=owner.id)
    narrowed = {"project_keys": ["PROJ"], "mime_types": ["text/csv"], "features": ["plans"]}
    rows.update(**narrowed, bcc_self=True, time_zone="Asia/Tokyo", display_name="Maya")
    arrive(owner, "i1", "")

    (taken,) = claims.claim_queued(1, large=True)

    assert taken.account == rows.select_related("organisation").get().ref()


def test_nothing_that_an_operator_did_not_let_in_is_stored_when_word_of_it_comes() -> None:
    owner = account(source="jira")
    Account.objects.filter(id=owner.id).update(project_keys=["PROJ"])
    accept_delivery(
        owner.organisation_slug,
        f"w-{uuid4()}",
        ItemEvent.model_validate(
            {
                "kind": "created",
                "user_id": owner.external_user_id,
                "source": "jira",
                "source_id": "i2",
                "data": issue(id="i2", project_key="OPS").model_dump(mode="json", by_alias=True),
                "timestamp": NOW,
            }
        ),
    )
    (taken,) = claims.claim_queued(1, large=True)

    assert items.work(taken).reason == "left_out"
    assert not Item.objects.exists()


def test_a_claim_looks_at_each_that_waits_a_few_times_however_many_they_are() -> None:
    """The server knows no more of the table here than in the first minute of a flood. Rows of other
    tests, which it looks at too, are counted before."""
    maya, waiting = account(), 150
    looked: list[float] = []

    def explain(execute: Callable[..., Any], sql: str, given: Any, many: bool, context: Any) -> Any:
        if not sql.lstrip().startswith("UPDATE"):
            return execute(sql, given, many, context)  # the beginning and the end of a transaction
        execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", given, many, context)
        [(plan,)] = context["cursor"].fetchall()
        looked.append(sum(map(_rows, _nodes(plan[0]["Plan"]))))
        return None

    with connection.execute_wrapper(explain):
        assert take(8) == []
    for number in range(waiting):
        arrive(maya, f"mail-{number}", f"{number}@a.example")
    with connection.execute_wrapper(explain):
        assert take(8) == []

    before, rows = looked
    assert waiting < rows - before < 20 * waiting


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", ()):
        yield from _nodes(below)


def _rows(node: dict[str, Any]) -> float:
    """How many rows it looked at, those included that did not fit."""
    found = ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Join Filter")
    return float(sum(node.get(name, 0) for name in found) * node["Actual Loops"])


def test_the_mail_of_a_process_that_died_with_its_clock_ahead_is_free_when_its_lease_is_over(
    settings: Any,
) -> None:
    longest = timedelta(seconds=settings.TURN_LEASE_SECONDS)
    arrive(account(), "first", "ann@a.example")

    with clock_off(HOUR):
        assert take(1) == ["first"]

    until = Delivery.objects.values_list("lease_expires_at", flat=True).get(state="running")
    assert until is not None
    assert timezone.now() <= until <= timezone.now() + longest + timedelta(seconds=5)
