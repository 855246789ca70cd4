"""Whose delivery is taken next."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from agents.inbound import claims
from agents.inbound.intake import accept_delivery
from integrations.contracts import AccountRef
from integrations.contracts.events import ItemEvent
from integrations.models import Delivery
from tests.clocks import HOUR, clock_off
from tests.knowledge.office import NOW, account

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
