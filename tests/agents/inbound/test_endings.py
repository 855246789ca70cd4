"""The end of an item's turn and what comes with it are one commit."""

from uuid import uuid4

import pytest
from django.db import connection

from agents.inbound.endings import End
from agents.journal import journal, leases
from agents.models import Step, Turn, TurnEvent
from integrations.exceptions import NotFound, ProviderError, Unavailable
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

    end.close = lambda: Organisation.objects.update(name="It has ended")
    with pytest.raises(leases.LeaseLost):
        lose_the_lease_after_a_step()

    assert (Turn.objects.get().state, end.is_stored, end.is_closed) == ("running", False, False)
    assert not Organisation.objects.filter(name="It has ended").exists()
    assert not Step.objects.exists()
    assert not TurnEvent.objects.exists()


def test_a_turn_ends_by_itself_where_no_step_came_with_the_end(end: End) -> None:
    add_step(end)

    end.store(Turn.Ending.LIMIT)

    assert (Turn.objects.get().ending, Step.objects.count()) == ("limit", 1)


def test_all_is_settled_outside_of_the_transaction_in_which_the_rest_ends(end: End) -> None:
    seen: list[tuple[str, bool]] = []
    end.settle = lambda left: seen.append(("settle", connection.in_atomic_block))
    end.close = lambda: seen.append(("close", connection.in_atomic_block))

    with end.committing(Turn.Ending.REPLY):
        seen.append(("step", connection.in_atomic_block))
    end.store(Turn.Ending.REPLY)

    assert seen == [("settle", False), ("step", True), ("close", True)]
    assert (end.is_stored, end.is_closed) == (True, True)


def test_what_is_untidy_is_seen_with_the_end_and_tidied_outside_of_it(end: End) -> None:
    seen: list[tuple[str, bool]] = []

    def is_untidy() -> bool:
        seen.append(("look", connection.in_atomic_block))
        return True

    end.is_untidy = is_untidy
    end.tidy = lambda left: seen.append(("tidy", connection.in_atomic_block))
    with end.committing(Turn.Ending.REPLY):
        seen.append(("step", connection.in_atomic_block))
        add_step(end)

    assert seen == [("look", True), ("tidy", False), ("step", True)]
    assert (Turn.objects.get().state, end.is_closed) == ("finished", True)


def test_what_is_tidy_is_looked_at_in_the_transaction_of_the_end(end: End) -> None:
    looks: list[bool] = []

    def is_untidy() -> bool:
        looks.append(connection.in_atomic_block)
        return False

    end.is_untidy, end.tidy = is_untidy, lambda left: pytest.fail("it was tidied")
    end.store(Turn.Ending.REPLY)

    assert (looks, end.is_closed) == ([True], True)


@pytest.mark.parametrize("error", [Unavailable("away"), NotFound("gone")])
def test_a_turn_ends_alone_where_the_provider_cannot_be_asked(
    end: End, error: ProviderError
) -> None:
    def settle(left: object) -> None:
        raise error

    end.settle, end.close = settle, pytest.fail
    with end.committing(Turn.Ending.REPLY):
        add_step(end)

    assert (Turn.objects.get().state, Step.objects.count()) == ("finished", 1)
    assert (end.is_stored, end.is_closed) == (True, False)
