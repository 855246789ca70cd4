"""Rows of a running turn: read once, then written step by step under its lease.

Every write renews the lease and fails with LeaseLost when another process has taken the
turn over, so that two processes never write one turn.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from django.db.models import Q
from django.utils import timezone

from agents.contracts import CallRecord, Spent, StepRecord, ToolResult
from agents.journal import statements
from agents.journal.leases import Lease, LeaseLost
from agents.journal.statements import to_storable
from agents.models import Step, ToolCall, Turn
from audit.ledger.ids import uuid7
from integrations.database.together import Read, Row
from integrations.llm.completions import Completion
from integrations.llm.metering import Calls

CONTEXT_TURNS = 500  # as many as a prompt can show


def load_steps(turn_ids: list[UUID]) -> dict[tuple[UUID, UUID | None], list[StepRecord]]:
    """The steps of turns by (turn, parent call), in order. Two queries at most."""
    steps = list(Step.objects.filter(turn_id__in=turn_ids).order_by("number"))
    if not steps:
        return {}
    calls: dict[int, list[CallRecord]] = {}
    for call in ToolCall.objects.filter(turn_id__in=turn_ids).order_by("step_id", "position"):
        calls.setdefault(call.step_id, []).append(_call(call))
    found: dict[tuple[UUID, UUID | None], list[StepRecord]] = {}
    for step in steps:
        found.setdefault((step.turn_id, step.parent_call_id), []).append(
            StepRecord(
                number=step.number,
                text=step.text,
                finish_reason=step.finish_reason,
                calls=tuple(calls.get(step.id, ())),
            )
        )
    return found


def _call(row: ToolCall) -> CallRecord:
    return CallRecord(
        id=row.id,
        name=row.name,
        arguments=row.arguments,
        action_id=row.action_id,
        result=row.result,
        at=row.finished_at or row.created_at,
    )


def add_step(
    lease: Lease,
    *,
    parent_call: UUID | None,
    agent: str,
    number: int,
    completion: Completion,
    latency_ms: int,
    model_calls: Calls | None = None,
    then: Sequence[Read[Any]] = (),
) -> StepRecord:
    """Store one answer of a model with its calls, all still open, and the `model_calls` that it
    took, for the caller to forget. One statement; what is to be read `then` comes with it. Raises
    LeaseLost: then nothing was stored."""
    now, usage = timezone.now(), completion.usage
    calls = tuple(
        CallRecord(
            id=uuid4(),
            name=to_storable(call.name)[:100],
            arguments=to_storable(call.arguments),
            action_id=uuid7(),
            result=None,
            at=now,
            is_new=True,
        )
        for call in completion.calls
    )
    text, finish_reason = to_storable(completion.text), completion.finish_reason[:32]
    stored = statements.run(
        statements.ADD_STEP,
        lease,
        now=now,
        events=[
            ("tool.started", {"call_id": str(call.id), "tool": call.name, "agent": agent})
            for call in calls
        ],
        parent_call=parent_call,
        agent=agent,
        number=number,
        text=text,
        model=completion.model[:100],
        finish_reason=finish_reason,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.answer_tokens,
        cost=usage.cost,
        latency_ms=latency_ms,
        calls=json.dumps(
            [
                {
                    "id": str(call.id),
                    "position": position,
                    "name": call.name,
                    "arguments": call.arguments,
                    "action_id": str(call.action_id),
                }
                for position, call in enumerate(calls)
            ]
        ),
        **(model_calls or Calls()).values(),
        then=then,
    )
    if not stored:
        raise LeaseLost
    return StepRecord(number=number, text=text, finish_reason=finish_reason, calls=calls)


def finish_call(
    lease: Lease,
    call: CallRecord,
    result: ToolResult,
    *,
    latency_ms: int,
    cost: Decimal = Decimal(0),
    actions: Sequence[Mapping[str, Any]] = (),
    then: Sequence[Read[Any]] = (),
) -> CallRecord:
    """Store the one result of a call, with what models cost for it in US dollars, and what its
    actions came to, for the answer to the user. A result that is there already stays, and is what
    is returned; the one that came too late is an event. What is known of an action stays, too.
    What is to be read `then` comes with it."""
    wire, now = to_storable(result.wire()), timezone.now()
    said = {
        "call_id": str(call.id),
        "tool": call.name,
        "success": result.success,
        "code": result.code,
        "latency_ms": latency_ms,
        "cost": f"{cost:f}",
    }
    stored = statements.run(
        statements.FINISH_CALL,
        lease,
        now=now,
        events=[*(("action", action) for action in actions), ("tool.finished", said)],
        added=json.dumps(to_storable(list(actions))),
        call=call.id,
        result=json.dumps(wire),
        latency_ms=latency_ms,
        cost=cost,
        then=then,
    )
    if stored is None:
        raise LeaseLost
    if not stored:
        return _call(ToolCall.objects.get(id=call.id))
    return replace(call, result=wire, at=now, is_new=False)


_SPENT = """
SELECT (SELECT count(*) FROM agents_toolcall WHERE turn_id = turn.id),
    turn.stop_asked_at IS NOT NULL,
    used.tokens, used.cost
FROM agents_turn turn, LATERAL (
    SELECT coalesce(sum(prompt_tokens + answer_tokens), 0) AS tokens, coalesce(sum(cost), 0) AS cost
    FROM integrations_modelcall WHERE run_id = turn.id
) used
WHERE turn.id = %s
"""


def count_spent(lease: Lease) -> Spent:
    """What the turn has used so far, its specialists included. One query."""
    return read_spent(lease).run()


def read_spent(lease: Lease) -> Read[Spent]:
    """The same, to be run with others."""

    def load(rows: Sequence[Row]) -> Spent:
        [(calls, stopped, tokens, cost)] = rows
        return Spent(tool_calls=calls, tokens=tokens, cost=cost, stopped=stopped)

    return Read(_SPENT, [lease.turn_id], load)


def stop_asked(lease: Lease) -> bool:
    """Whether a person wants the turn to end."""
    return Turn.objects.filter(id=lease.turn_id, stop_asked_at__isnull=False).exists()


def add_server_call(
    lease: Lease,
    step: StepRecord,
    *,
    parent_call: UUID | None,
    name: str,
    arguments: str,
    result: Mapping[str, Any],
) -> StepRecord:
    """The step with one more call that the server made itself, finished with this result: the
    model sees it as its own and goes on from there. What it had said is taken back."""
    with lease.held():
        row = Step.objects.get(
            turn_id=lease.turn_id, parent_call_id=parent_call, number=step.number
        )
        call = ToolCall.objects.create(
            turn_id=lease.turn_id,
            step=row,
            position=len(step.calls),
            name=name,
            arguments=arguments,
            result=to_storable(result),
            finished_at=timezone.now(),
        )
        emit(lease, "text.restarted", {})
    return replace(step, calls=(*step.calls, _call(call)))


def emit(lease: Lease, type: str, data: Mapping[str, Any]) -> None:
    """Store one event for those who follow the turn, and wake them. One statement, in the
    transaction that is open, if one is."""
    if not statements.run(statements.EMIT, lease, events=[(type, data)]):
        raise LeaseLost


def add_context(lease: Lease, items: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Number what a model is shown: the same item keeps its number through the conversation."""
    with lease.held():
        numbers = {entry["id"]: entry["n"] for entry in load_context(lease.turn_id)}
        last = max(numbers.values(), default=0)
        entries = list(Turn.objects.values_list("context", flat=True).get(id=lease.turn_id))
        listed = {entry["id"] for entry in entries}
        for item in items:
            if item["id"] not in numbers:
                last += 1
                numbers[item["id"]] = last
            if item["id"] not in listed:
                listed.add(item["id"])
                entries.append(to_storable({"n": numbers[item["id"]], **item}))
        Turn.objects.filter(id=lease.turn_id).update(context=entries)
    return [{"n": numbers[item["id"]], **item} for item in items]


def load_context(turn_id: UUID) -> list[dict[str, Any]]:
    """What models were shown so far in the turn's conversation, numbered, oldest turn first.
    Two queries."""
    turn = Turn.objects.only("conversation_id").get(id=turn_id)
    same = Q(id=turn_id) if turn.conversation_id is None else Q(conversation=turn.conversation_id)
    contexts = Turn.objects.filter(same).exclude(context=[]).order_by("-created_at", "-id")
    newest = list(contexts.values_list("context", flat=True)[:CONTEXT_TURNS])
    return [entry for context in reversed(newest) for entry in context]


def add_action(lease: Lease, action: Mapping[str, Any]) -> None:
    """Keep what an action came to, for the answer to the user. Once per action id."""
    is_new = statements.run(
        statements.ADD_ACTION,
        lease,
        events=[("action", action)],
        added=json.dumps([to_storable(action)]),
        known=json.dumps([{"action_id": to_storable(action["action_id"])}]),
    )
    if not is_new:
        with lease.held():
            pass  # it is known already, or the lease is lost


def finish_turn(
    lease: Lease, *, state: str, ending: str, code: str, text: str, metadata: Mapping[str, Any]
) -> None:
    """End the turn, with its one assistant message where it is of a conversation. One statement."""
    ended = statements.run(
        statements.FINISH_TURN,
        lease,
        events=[("turn.finished", {"ending": ending, "code": code})],
        state=str(state),
        ending=str(ending),
        code=code,
        message=uuid4(),
        text=to_storable(text),
        metadata=json.dumps(to_storable(metadata)),
    )
    if not ended:
        raise LeaseLost
