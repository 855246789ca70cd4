"""Turns as the messages that a model is shown, cut to what fits.

A system message holds Remit's own words and what operators wrote. What quotes models and
strangers is data, in messages that begin with MARK: neither an order nor a word of the user's.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agents.context import results, truncation
from agents.contracts import CallRecord, StepRecord, TurnRecord, failure
from integrations.llm.json_protocol import MARK

Wire = dict[str, Any]
UNMARKED = "(remit)"  # where a user typed it
OF_RECORD = frozenset({"id", "digest", "said_in"})  # of a decision: no matter to a model
INTERRUPTED = failure("INTERRUPTED", "This call was interrupted and has no result.").wire()


def build_messages(
    *, system: str, turns: Sequence[TurnRecord], max_tokens: int, before: Sequence[Wire] = ()
) -> tuple[Wire, ...]:
    """The message list for a model: the system prompt, `before`, then what fits of the turns.

    `turns` is oldest first and ends with the present one, which is always kept. Every tool
    call has exactly one result, also one that was interrupted (`agents.context.truncation`).
    """
    first: list[Wire] = [{"role": "system", "content": system}, *before]
    room = max_tokens - truncation.count_tokens(first)
    return (*first, *truncation.fit_chains([*map(to_wire, split_chains(turns))], max_tokens=room))


def render_data(*lines: str) -> Wire:
    """A message of data; each line is Remit's own or fenced (`results.fence`)."""
    return {"role": "user", "content": " ".join([MARK, "\n".join(lines)])}


def build_run_messages(
    *, system: str, request: str, steps: Sequence[StepRecord], max_tokens: int
) -> tuple[Wire, ...]:
    """The message list of a run of its own (a specialist, an inbound item)."""
    record = TurnRecord(user_text=request, decisions=(), steps=tuple(steps), reply=None)
    return build_messages(system=system, turns=(record,), max_tokens=max_tokens)


def split_chains(turns: Sequence[TurnRecord]) -> list[list[TurnRecord]]:
    """Turns that belong together: an answer stands with the turn that asked."""
    found: list[list[TurnRecord]] = []
    for turn in turns:
        if turn.user_text is None and found:
            found[-1].append(turn)
        else:
            found.append([turn])
    return found


def to_wire(turns: Iterable[TurnRecord]) -> list[Wire]:
    return [message for turn in turns for message in _turn(turn)]


def _turn(turn: TurnRecord) -> Iterable[Wire]:
    if turn.user_text is not None:
        yield {"role": "user", "content": turn.user_text.replace(MARK, UNMARKED)}
    if turn.decisions:
        decided = results.fence([_decided(one) for one in turn.decisions])
        yield render_data(f"[decisions] {decided}")
    for step in turn.steps:
        yield _assistant(step)
        yield from (_result(call) for call in step.calls)
    if turn.reply is not None:
        yield {"role": "assistant", "content": turn.reply}
    if turn.person:
        said = results.fence(turn.person)
        yield render_data(f"[a person answered the user] {said}")


def _decided(decision: Mapping[str, Any]) -> dict[str, Any]:
    """A decision of the user and what came of it. What was proposed stands in the call above; where
    the user changed it, both are named."""
    left_out = OF_RECORD if decision.get("proposed") else OF_RECORD | {"params"}
    sentence = str(decision.get("sentence", "")).replace("A person ", "The user ", 1)
    said = {**decision, "sentence": "" if decision.get("status") == "succeeded" else sentence}
    return {
        name: value
        for name, value in said.items()
        if name not in left_out and value not in (None, "", [], {})
    }


def _assistant(step: StepRecord) -> Wire:
    message: Wire = {"role": "assistant", "content": step.text or None}
    if not step.calls:
        return {"role": "assistant", "content": step.text}
    message["tool_calls"] = [
        {
            "id": wire_id(call),
            "type": "function",
            "function": {"name": _wire_name(call.name), "arguments": _wire_arguments(call)},
        }
        for call in step.calls
    ]
    return message


def _result(call: CallRecord) -> Wire:
    result = call.result if call.result is not None else INTERRUPTED
    return {"role": "tool", "tool_call_id": wire_id(call), "content": results.render_result(result)}


def _wire_name(name: str) -> str:
    """What a model called a tool, in the form that every endpoint takes back."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "unnamed"


def _wire_arguments(call: CallRecord) -> str:
    """Endpoints read the arguments of earlier calls: what is no JSON object stands inside one."""
    try:
        readable = isinstance(json.loads(call.arguments), dict)
    except (ValueError, RecursionError):
        readable = False
    return call.arguments if readable else results.fence({"unreadable": call.arguments})


def wire_id(call: CallRecord) -> str:
    """Our own id of the call: the model's may repeat, ours are unique for ever."""
    return f"call_{call.id.hex}"
