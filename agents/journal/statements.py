"""What a turn writes at every step, each as one statement and so one commit: it proves the lease,
renewed where that is due, writes, numbers its events, and wakes those who follow the turn.

Composed by Django these were a third of what a turn costs.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils import timezone

from agents.journal.leases import RENEWED, Lease, renewal
from integrations.database.together import Read, Row, run_together
from integrations.llm import metering

CHANNEL = "turn_events"
Event = tuple[str, Mapping[str, Any]]
_RENEWED = f"lease_expires_at = {RENEWED}"

# The row of the turn counts its events: who waited for it sees the number as it is by then.
_HELD = """
WITH held AS (
    UPDATE agents_turn SET {changes}, last_event = last_event + %(events)s
    WHERE id = %(turn)s AND lease_owner = %(owner)s AND state = 'running' {condition}
    RETURNING id, conversation_id, last_event - %(events)s AS last_event
),"""
_EVENTS = """
events AS (
    INSERT INTO agents_turnevent (turn_id, sequence, type, data, created_at)
    SELECT held.id, held.last_event + given.number, {type}, given.data, %(now)s
    FROM held,
        unnest(%(types)s::text[], %(data)s::jsonb[]) WITH ORDINALITY given (type, data, number)
)
SELECT {answer}, CASE WHEN %(events)s > 0 THEN pg_notify(%(channel)s, held.id::text) END FROM held
"""


def _statement(
    *,
    changes: str = _RENEWED,
    condition: str = "",
    writes: str = "",
    type: str = "given.type",
    answer: str = "TRUE",
) -> str:
    held = _HELD.format(changes=changes, condition=condition)
    return held + writes + _EVENTS.format(type=type, answer=answer)


EMIT = _statement()
ADD_STEP = _statement(
    changes=f"{_RENEWED}, prompt_tokens = prompt_tokens + %(prompt_tokens)s, "
    "completion_tokens = completion_tokens + %(completion_tokens)s",
    writes=f"""
model_calls AS ({metering.RECORD} WHERE EXISTS (SELECT FROM held)),
step AS (
    INSERT INTO agents_step (turn_id, parent_call_id, agent, number, text, model, finish_reason,
                             prompt_tokens, completion_tokens, cost, latency_ms, created_at)
    SELECT held.id, %(parent_call)s, %(agent)s, %(number)s, %(text)s, %(model)s,
        %(finish_reason)s, %(prompt_tokens)s, %(completion_tokens)s, %(cost)s, %(latency_ms)s,
        %(now)s
    FROM held
    RETURNING id
),
calls AS (
    INSERT INTO agents_toolcall (id, turn_id, step_id, position, name, arguments, action_id,
                                 latency_ms, cost, created_at)
    SELECT given.id, held.id, step.id, given.position, given.name, given.arguments,
        given.action_id, 0, 0, %(now)s
    FROM held, step, jsonb_to_recordset(%(calls)s::jsonb)
        given (id uuid, position integer, name text, arguments text, action_id uuid)
),""",  # noqa: S608  # only constants
)
# A result that is there already stays.
FINISH_CALL = _statement(
    changes=f"""{_RENEWED}, actions = actions || coalesce((
        SELECT jsonb_agg(given.action ORDER BY given.number)
        FROM jsonb_array_elements(%(added)s::jsonb) WITH ORDINALITY given (action, number)
        WHERE NOT actions @> jsonb_build_array(
            jsonb_build_object('action_id', given.action -> 'action_id'))
    ), '[]')""",  # noqa: S608  # only constants
    writes="""
stored AS (
    UPDATE agents_toolcall call
    SET result = %(result)s::jsonb, latency_ms = %(latency_ms)s, cost = %(cost)s,
        finished_at = %(now)s
    FROM held WHERE call.id = %(call)s AND call.turn_id = held.id AND call.result IS NULL
    RETURNING call.id
),""",
    type="CASE WHEN given.type = 'action' OR EXISTS (SELECT FROM stored) "
    "THEN given.type ELSE 'tool.late' END",
    answer="EXISTS (SELECT FROM stored)",
)
ADD_ACTION = _statement(
    changes=f"{_RENEWED}, actions = actions || %(added)s::jsonb",
    condition="AND NOT actions @> %(known)s::jsonb",
)
FINISH_TURN = _statement(
    changes="lease_expires_at = NULL, lease_owner = NULL, state = %(state)s, "
    "ending = %(ending)s, error_code = %(code)s, finished_at = %(now)s",
    writes="""
message AS (
    INSERT INTO agents_message (id, conversation_id, turn_id, role, content, metadata, created_at)
    SELECT %(message)s, held.conversation_id, held.id, 'assistant', %(text)s,
        %(metadata)s::jsonb, %(now)s
    FROM held WHERE held.conversation_id IS NOT NULL
),""",
)


def run(
    statement: str,
    lease: Lease,
    *,
    events: Sequence[Event] = (),
    then: Sequence[Read[Any]] = (),
    **values: Any,
) -> bool | None:
    """What the statement answers. None where it wrote nothing: the lease is lost, or its condition
    does not hold. What is to be read `then` is run in its transaction."""
    given: dict[str, Any] = {
        "turn": lease.turn_id,
        "owner": lease.owner,
        **renewal(),
        "now": timezone.now(),
        "events": len(events),
        "types": [type for type, _ in events],
        "data": [json.dumps(to_storable(data)) for _, data in events],
        "channel": CHANNEL,
        **values,
    }
    written = Read(statement, given, _answer)
    if not then:
        return written.run()
    run_together(written, *then)
    return written.found


def _answer(rows: Sequence[Row]) -> bool | None:
    return rows[0][0] if rows else None


def to_storable(value: Any) -> Any:
    """`value` as JSON that PostgreSQL can store: no NUL, no lone surrogates, no foreign types."""
    if isinstance(value, str):
        return value.replace("\x00", "").encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {to_storable(str(key)): to_storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_storable(item) for item in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return to_storable(str(value))
