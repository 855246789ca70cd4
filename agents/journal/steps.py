"""What comes next in a turn: a pure choice from a closed set, apart from doing it."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from agents.contracts import CallRecord, Spent, StepRecord
from agents.journal.guards import REFUSED
from integrations.llm.completions import UNREADABLE
from integrations.llm.deadline import Deadline

ASK_USER = "ask_user"
ESCALATE = "escalate"
PARSE_RETRIES = 2  # of an answer that is no decision
NOTHING = Spent()


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Each ends the run with an answer, never with an exception. Steps are the run's own; the
    others are the whole turn's, shared with its specialists: those that work side by side may
    together go over by what each asks for in one step. `max_cost` is in US dollars; no tokens and
    no money (0) mean no such limit."""

    max_steps: int
    max_tool_calls: int
    max_tokens: int = 0
    max_cost: Decimal = Decimal(0)


@dataclass(frozen=True, kw_only=True)
class CallModel:
    """Ask the model for the next step."""


@dataclass(frozen=True, kw_only=True)
class RunCalls:
    """Run these open calls; each gets exactly one result before the model is asked again."""

    calls: tuple[CallRecord, ...]


@dataclass(frozen=True, kw_only=True)
class Reply:
    text: str


@dataclass(frozen=True, kw_only=True)
class Question:
    """Wait for the user: `call` stays open until the answer comes, on any day."""

    call: CallRecord
    text: str


@dataclass(frozen=True, kw_only=True)
class Escalated:
    """The conversation is handed to a person; `text` is what the model said with it."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Stop:
    limit: Literal[
        "steps", "tool_calls", "seconds", "asks", "loop", "tokens", "cost", "unreadable", "stopped"
    ]


Ending = Reply | Question | Escalated | Stop
Next = CallModel | RunCalls | Ending


def next_step(
    *,
    steps: Sequence[StepRecord],
    deadline: Deadline,
    limits: Limits,
    spent: Spent = NOTHING,
) -> Next:
    """The next thing to do after `steps`, in this order: finish what is open, end, go on.

    Open calls are always run, whatever the limits say, because a call without a result
    makes the conversation unusable for every model.
    """
    if not steps:
        return _within(limits, steps=steps, deadline=deadline, spent=spent)
    last = steps[-1]
    open_calls = tuple(call for call in last.calls if call.result is None)
    questions = tuple(call for call in open_calls if call.name == ASK_USER)
    runnable = tuple(call for call in open_calls if call not in questions[:1])
    if runnable:
        return RunCalls(calls=runnable)
    if questions:
        return Question(call=questions[0], text=last.text)
    if not last.calls:
        return Reply(text=last.text)
    if any(call.name == ESCALATE and _worked(call) for call in last.calls):
        return Escalated(text=last.text)
    if any(call.result and call.result.get("suspends") for call in last.calls):
        return Stop(limit="asks")
    tries = steps[-1 - PARSE_RETRIES :]
    if len(tries) > PARSE_RETRIES and all(_is_unreadable(step) for step in tries):
        return Stop(limit="unreadable")
    if len(steps) > 1 and all(_circles(step) for step in steps[-2:]):
        return Stop(limit="loop")
    return _within(limits, steps=steps, deadline=deadline, spent=spent)


def _within(
    limits: Limits, *, steps: Sequence[StepRecord], deadline: Deadline, spent: Spent
) -> CallModel | Stop:
    if spent.stopped:
        return Stop(limit="stopped")
    calls = max(spent.tool_calls, sum(len(step.calls) for step in steps))
    if steps and calls >= limits.max_tool_calls:
        return Stop(limit="tool_calls")
    if len(steps) >= limits.max_steps:
        return Stop(limit="steps")
    if deadline.has_passed():
        return Stop(limit="seconds")
    if limits.max_tokens and spent.tokens >= limits.max_tokens:
        return Stop(limit="tokens")
    if limits.max_cost and spent.cost >= limits.max_cost:
        return Stop(limit="cost")
    return CallModel()


def _circles(step: StepRecord) -> bool:
    """Every call of the step was refused by a guard, and the model goes on alike."""
    codes = [((call.result or {}).get("error") or {}).get("code") for call in step.calls]
    return bool(codes) and REFUSED.issuperset(codes)


def _is_unreadable(step: StepRecord) -> bool:
    return any(call.name == UNREADABLE for call in step.calls)


def _worked(call: CallRecord) -> bool:
    return bool(call.result and call.result.get("success"))
