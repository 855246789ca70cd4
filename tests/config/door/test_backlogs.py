import pytest
from asgiref.sync import async_to_sync
from django.db import connection
from django_q.models import OrmQ

from agents.models import Turn
from agents.turns import opening
from config.door.backlogs import tasks_reach, turns_reach
from integrations.models import Account, Organisation

pytestmark = pytest.mark.django_db(transaction=True)


def test_tasks_in_the_queue_are_counted_up_to_the_limit() -> None:
    OrmQ.objects.bulk_create(OrmQ(key="remit", payload="x") for _ in range(3))

    assert async_to_sync(tasks_reach)(3)
    assert not async_to_sync(tasks_reach)(4)


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
        cursor.execute("ALTER TABLE django_q_ormq RENAME TO hidden")
    try:
        assert not async_to_sync(tasks_reach)(1)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE hidden RENAME TO django_q_ormq")
