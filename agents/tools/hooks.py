"""What happens around every tool call, in explicit tuples. They fail closed: a hook that breaks
turns that one call into a refusal.

To add a hook is one function and one line here.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from django.conf import settings

from agents.context import results
from agents.contracts import CallRecord, StepRecord, ToolResult, failure
from agents.journal import guards
from agents.journal.guards import PastCall
from agents.journal.statements import to_storable
from agents.tools.base import Arguments, Tool, ToolContext, parse
from integrations.llm.completions import UNREADABLE

log = logging.getLogger(__name__)
MESSAGE_CHARS = 1000
Toolbox = Mapping[str, Tool[Arguments]]
Guard = Callable[[PastCall, Sequence[PastCall], datetime], ToolResult | None]
Finish = Callable[[ToolResult], ToolResult]
Preparation = Callable[[ToolContext, Sequence[StepRecord]], ToolContext]


def show_new_items_only(context: ToolContext, steps: Sequence[StepRecord]) -> ToolContext:
    """Tools that look for items leave out those which this run has been shown."""
    return replace(context, observed=guards.list_items([c for step in steps for c in step.calls]))


def note_skill(context: ToolContext, steps: Sequence[StepRecord]) -> ToolContext:
    """What acts is recorded with the skill that its run had read."""
    return replace(context, skill=guards.find_skill([c for step in steps for c in step.calls]))


def bound_bytes(result: ToolResult) -> ToolResult:
    """No result takes more than RESULT_MAX_BYTES of a prompt, and what went wrong is said
    shortly."""
    data = to_storable(result.data)
    return replace(
        result,
        data=results.bound_result(data, max_bytes=settings.RESULT_MAX_BYTES),
        message=result.message[:MESSAGE_CHARS],
    )


GUARDS: tuple[Guard, ...] = (guards.find_duplicate, guards.find_resting, guards.find_circle)
PREPARATIONS: tuple[Preparation, ...] = (show_new_items_only, note_skill)
FINISHES: tuple[Finish, ...] = (bound_bytes,)


def refusals(
    calls: Sequence[CallRecord],
    *,
    steps: Sequence[StepRecord],
    tools: Toolbox,
    now: datetime,
    most: int | None = None,
) -> dict[UUID, ToolResult]:
    """Which of the last step's open `calls` are not to be run, and why. Decided for all of
    them before any is run, so that calls side by side are seen too. At most so many are run."""
    asked = {call.id for call in calls}
    try:
        before = list_calls(steps[:-1], tools, now=now)
        others = [call for call in steps[-1].calls if call.id not in asked]
        before += parse_call(others, len(steps), tools, now=now)
    except Exception:
        log.exception("hook.failed", extra={"hook": "history"})
        return {call.id: _broken() for call in calls}
    found, accepted = {}, 0
    for call in calls:
        if call.name == UNREADABLE:
            continue  # nothing was asked for: it is only reported
        try:
            (judged,) = parse_call([call], len(steps), tools, now=now)
            refused = _judge(judged, before, now)
        except Exception:
            log.exception("hook.failed", extra={"tool": call.name, "call": str(call.id)})
            refused = _broken()
        if refused is None and accepted == most:
            refused = guards.refuse_beyond_limit()
        if refused is not None:
            found[call.id] = refused
        else:
            accepted += 1
            before.append(judged)
    return found


def _judge(judged: PastCall, before: Sequence[PastCall], now: datetime) -> ToolResult | None:
    refusals = (guard(judged, before, now) for guard in GUARDS)
    return next((refused for refused in refusals if refused is not None), None)


def _broken() -> ToolResult:
    return failure("EXECUTION_FAILED", "A check before the tool broke, so it was not run.")


def prepare(context: ToolContext, steps: Sequence[StepRecord]) -> ToolContext:
    for prepare in PREPARATIONS:
        context = prepare(context, steps)
    return context


def finish(call: CallRecord, result: ToolResult) -> ToolResult:
    """The result as it is kept and shown. One that cannot be read is not shown: what the tool
    did stands all the same."""
    try:
        for finish in FINISHES:
            result = finish(result)
    except Exception:
        log.exception("hook.failed", extra={"tool": call.name, "call": str(call.id)})
        return failure("EXECUTION_FAILED", "The tool has run, but its result cannot be shown.")
    return result


def list_calls(steps: Sequence[StepRecord], tools: Toolbox, *, now: datetime) -> list[PastCall]:
    """The calls of these steps as the guards see them."""
    return [
        one
        for number, step in enumerate(steps, start=1)
        for one in parse_call(step.calls, number, tools, now=now)
    ]


def parse_call(
    calls: Sequence[CallRecord], round: int, tools: Toolbox, *, now: datetime
) -> list[PastCall]:
    found = []
    for call in calls:
        tool = tools.get(call.name)
        found.append(
            PastCall(
                tool=call.name,
                identity=_identity(call, tool),
                round=round,
                at=call.at or now,
                open=call.result is None,
                code=guards.code_of(call),
                acts=tool is not None and tool.acts,
                repeats=tool is not None and tool.repeats,
            )
        )
    return found


def _identity(call: CallRecord, tool: Tool[Arguments] | None) -> str:
    arguments = parse(call, tool) if tool else None
    if tool is None or not isinstance(arguments, Arguments):
        return f"unread {call.arguments}"
    said = arguments.model_dump(mode="json", exclude=set(tool.aside))
    return guards.canonical(said, fold=not tool.acts)
