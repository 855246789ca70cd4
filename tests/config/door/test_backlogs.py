import pytest
from asgiref.sync import async_to_sync
from django.db import connection
from django.utils import timezone

from agents.models import Turn
from agents.turns import opening
from config.door.backlogs import deliveries_reach, turns_reach
from integrations.models import Account, Delivery, Organisation, Outage
from tests.agents.inbound.test_claims import arrive
from tests.knowledge.office import account

pytestmark = pytest.mark.django_db(transaction=True)


def test_deliveries_that_wait_are_counted_up_to_the_limit_and_postponed_ones_are_not() -> None:
    owner = account()
    for number in range(4):
        arrive(owner, str(number), "ann@a.example")
    Delivery.objects.filter(source_id="3").update(reason="status_503")

    assert async_to_sync(deliveries_reach)(3)
    assert not async_to_sync(deliveries_reach)(4)
    Outage.objects.create(account_id=owner.id, code="status_503", due_at=timezone.now())
    assert not async_to_sync(deliveries_reach)(1)


def test_turns_that_wait_are_counted_and_those_that_run_are_not() -> None:
    organisation = Organisation.objects.create(slug="default", name="Default")
    Account.objects.create(
        organisation=organisation, external_user_id="maya", source="gmail", address="m@a.example"
    )
    turns = [
        opening.start_turn(
            organisation_id=organisation.id,
            external_user_id="maya",
            conversation_id=None,
            message="Hello",
            decisions=[],
            principal="token:1",
            queued=True,
        )
        for _ in range(2)
    ]
    Turn.objects.filter(id=turns[0]).update(state=Turn.State.RUNNING)

    assert async_to_sync(turns_reach)(1)
    assert not async_to_sync(turns_reach)(2)


def test_a_database_that_does_not_answer_is_no_full_queue() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE integrations_delivery RENAME TO hidden")
    try:
        assert not async_to_sync(deliveries_reach)(1)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE hidden RENAME TO integrations_delivery")
