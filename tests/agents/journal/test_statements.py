"""What a turn writes at every step: one statement each, also where agents work side by side."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.db import connections
from django.utils import timezone

from agents.contracts import Spent, StepRecord, ToolResult, failure
from agents.journal import journal, leases
from agents.models import Message, Step, ToolCall, Turn, TurnEvent
from agents.turns.turns import finish_turn
from integrations.database.together import Read
from integrations.llm import metering
from integrations.llm.completions import Completion, Payer, RequestedCall, Usage
from integrations.llm.metering import Calls
from integrations.models import Organisation
from tests.agents.waiting import turn_of

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
ACTION = {"id": "1", "action_id": "1", "type": "archive"}


@pytest.fixture
def lease(organisation: Organisation) -> leases.Lease:
    found = leases.claim(turn_of(organisation))
    assert found is not None
    return found


def add_step(
    lease: leases.Lease,
    *names: str,
    model_calls: Calls | None = None,
    then: Sequence[Read[Any]] = (),
) -> StepRecord:
    return journal.add_step(
        lease,
        parent_call=None,
        agent="a",
        number=1,
        completion=Completion(
            text="said\x00",
            calls=tuple(RequestedCall(id=name, name=name, arguments="{}") for name in names),
            model="m",
            finish_reason="tool_calls",
            usage=Usage(prompt_tokens=20, answer_tokens=3),
        ),
        latency_ms=5,
        model_calls=model_calls,
        then=then,
    )


def list_events(lease: leases.Lease) -> list[tuple[int, str]]:
    rows = TurnEvent.objects.filter(turn=lease.turn_id).order_by("sequence")
    return list(rows.values_list("sequence", "type"))


def test_a_step_with_its_calls_and_events_is_one_statement(
    lease: leases.Lease, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(1):
        step = add_step(lease, "look", "find")

    turn, row = Turn.objects.get(), Step.objects.get()
    assert (turn.prompt_tokens, turn.completion_tokens) == (20, 3)
    assert (row.text, row.number, row.agent, row.latency_ms) == ("said", 1, "a", 5)
    assert journal.load_steps([turn.id]) == {(turn.id, None): [step]}
    assert [call.name for call in step.calls] == ["look", "find"]
    assert list_events(lease) == [(1, "tool.started"), (2, "tool.started")]


def test_a_step_is_one_statement_with_the_calls_of_models_that_it_took(
    lease: leases.Lease, organisation: Organisation, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(1), metering.gathered() as calls:
        spend(lease, organisation)
        spend(lease, organisation)
        step = add_step(lease, "look", model_calls=calls)
        calls.forget()

    assert journal.load_steps([lease.turn_id]) == {(lease.turn_id, None): [step]}
    assert journal.count_spent(lease) == Spent(tool_calls=1, tokens=30, cost=Decimal("0.4"))


def test_what_is_read_with_a_step_and_with_a_result_is_read_in_their_transactions(
    lease: leases.Lease,
) -> None:
    def read() -> Read[tuple[bool, int]]:
        return Read(
            "SELECT pg_current_xact_id_if_assigned() IS NOT NULL, "
            "(SELECT count(*) FROM agents_toolcall WHERE result IS NULL)",
            [],
            lambda rows: (rows[0][0], rows[0][1]),
        )

    with_step, with_result, alone = read(), read(), read()

    [call] = add_step(lease, "look", then=[with_step]).calls
    journal.finish_call(lease, call, ToolResult(success=True), latency_ms=1, then=[with_result])

    assert (with_step.found, with_result.found) == ((True, 1), (True, 0))
    assert alone.run() == (False, 0)


def test_who_lost_the_lease_has_paid_all_the_same(
    lease: leases.Lease, organisation: Organisation
) -> None:
    Turn.objects.update(lease_owner=uuid4())

    with metering.gathered() as calls:
        spend(lease, organisation)
        with pytest.raises(leases.LeaseLost):
            add_step(lease, "look", model_calls=calls)

    assert not Step.objects.exists()
    assert journal.count_spent(lease) == Spent(tokens=15, cost=Decimal("0.2"))


def spend(lease: leases.Lease, organisation: Organisation) -> None:
    payer = Payer(organisation_id=organisation.id, external_user_id="maya", run_id=lease.turn_id)
    used = Usage(prompt_tokens=10, answer_tokens=5, cost=Decimal("0.2"))
    metering.record(payer, used, model="m", purpose="a", latency_ms=5)


def test_a_result_an_event_an_action_and_the_end_are_one_statement_each(
    lease: leases.Lease, django_assert_num_queries: Any
) -> None:
    [call] = add_step(lease, "look").calls

    with django_assert_num_queries(1):
        journal.finish_call(lease, call, ToolResult(success=True, data={"n": 1}), latency_ms=7)
    with django_assert_num_queries(1):
        journal.emit(lease, "text.delta", {"text": "so"})
    with django_assert_num_queries(1):
        journal.add_action(lease, ACTION)
    with django_assert_num_queries(1):
        finish_turn(lease, text="Done.", ending=Turn.Ending.REPLY)

    turn, row = Turn.objects.get(), ToolCall.objects.get()
    assert row.result is not None
    assert (row.result["data"], row.latency_ms) == ({"n": 1}, 7)
    assert (turn.actions, turn.state, turn.ending) == ([ACTION], "finished", "reply")
    assert (turn.lease_owner, turn.lease_expires_at) == (None, None)
    assert [one.content for one in Message.objects.filter(role="assistant")] == ["Done."]
    assert list_events(lease) == [
        (1, "tool.started"),
        (2, "tool.finished"),
        (3, "text.delta"),
        (4, "action"),
        (5, "turn.finished"),
    ]


def test_a_second_result_changes_nothing_and_an_action_is_kept_once(lease: leases.Lease) -> None:
    [call] = add_step(lease, "look").calls
    first = journal.finish_call(lease, call, ToolResult(success=True), latency_ms=1)

    late = journal.finish_call(lease, call, failure("TIMEOUT", "Too late."), latency_ms=9)
    journal.add_action(lease, ACTION)
    journal.add_action(lease, ACTION)

    assert late.result == first.result
    assert Turn.objects.get().actions == [ACTION]
    types = [type for _, type in list_events(lease)]
    assert types == ["tool.started", "tool.finished", "tool.late", "action"]


WRITES: dict[str, Callable[[leases.Lease], object]] = {
    "event": lambda lease: journal.emit(lease, "text.delta", {}),
    "step": lambda lease: add_step(lease, "look"),
    "action": lambda lease: journal.add_action(lease, ACTION),
    "end": lambda lease: finish_turn(lease, text="", ending=Turn.Ending.REPLY),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_who_lost_the_lease_writes_nothing(
    lease: leases.Lease, write: Callable[[leases.Lease], object]
) -> None:
    Turn.objects.update(lease_owner=uuid4(), lease_expires_at=timezone.now())

    with pytest.raises(leases.LeaseLost):
        write(lease)

    turn = Turn.objects.get()
    assert (turn.state, turn.actions, turn.last_event) == ("running", [], 0)
    assert not Step.objects.exists()
    assert not TurnEvent.objects.exists()


def test_a_result_is_not_stored_by_who_lost_the_lease(lease: leases.Lease) -> None:
    [call] = add_step(lease, "look").calls
    Turn.objects.update(lease_owner=uuid4())

    with pytest.raises(leases.LeaseLost):
        journal.finish_call(lease, call, ToolResult(success=True), latency_ms=1)

    assert ToolCall.objects.get().result is None


def test_agents_side_by_side_number_their_events_without_a_gap(lease: leases.Lease) -> None:
    def emit(_: int) -> None:
        try:
            journal.emit(lease, "text.delta", {})
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(emit, range(40)))

    assert [number for number, _ in list_events(lease)] == list(range(1, 41))
