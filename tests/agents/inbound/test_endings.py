"""The end of an item's turn and what comes with it are one commit."""

from uuid import uuid4

import pytest

from agents.inbound.endings import End
from agents.journal import journal, leases
from agents.models import Step, Turn, TurnEvent
from integrations.llm.completions import Completion, Usage
from integrations.models import Organisation
from tests.agents.waiting import turn_of
from tests.knowledge.office import account

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
SAID = Completion(text="Sorted.", calls=(), model="m", finish_reason="stop", usage=Usage())


@pytest.fixture
def end(organisation: Organisation) -> End:
    lease = leases.claim(turn_of(organisation))
    assert lease is not None
    return End(lease=lease, account=account())


def add_step(end: End) -> None:
    journal.add_step(
        end.lease, parent_call=None, agent="a", number=1, completion=SAID, latency_ms=1
    )


def test_a_turn_ends_once_with_its_last_step(end: End) -> None:
    with end.committing(Turn.Ending.REPLY):
        add_step(end)

    end.store(Turn.Ending.LIMIT)

    assert (Turn.objects.get().state, Turn.objects.get().ending) == ("finished", "reply")
    assert [step.text for step in Step.objects.all()] == ["Sorted."]
    assert [event.data["ending"] for event in TurnEvent.objects.all()] == ["reply"]


def test_a_turn_that_cannot_end_keeps_nothing_that_came_with_the_end(end: End) -> None:
    def lose_the_lease_after_a_step() -> None:
        with end.committing(Turn.Ending.REPLY):
            add_step(end)
            Turn.objects.update(lease_owner=uuid4())

    with pytest.raises(leases.LeaseLost):
        lose_the_lease_after_a_step()

    assert (Turn.objects.get().state, end.is_stored) == ("running", False)
    assert not Step.objects.exists()
    assert not TurnEvent.objects.exists()


def test_a_turn_ends_by_itself_where_no_step_came_with_the_end(end: End) -> None:
    add_step(end)

    end.store(Turn.Ending.LIMIT)

    assert (Turn.objects.get().ending, Step.objects.count()) == ("limit", 1)
