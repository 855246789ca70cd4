"""What comes next in a turn: a pure choice from a closed set, apart from doing it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agents.contracts import CallRecord, StepRecord
from agents.guards import REFUSED

ASK_USER = "ask_user"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Each ends the turn with an answer, never with an exception."""

    max_steps: int
    max_tool_calls: int
    max_seconds: float


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
class Stop:
    limit: Literal["steps", "tool_calls", "seconds", "asks", "loop"]


Ending = Reply | Question | Stop
Next = CallModel | RunCalls | Ending


def next_step(*, steps: Sequence[StepRecord], elapsed_seconds: float, limits: Limits) -> Next:
    """The next thing to do after `steps`, in this order: finish what is open, end, go on.

    Open calls are always run, whatever the limits say, because a call without a result
    makes the conversation unusable for every model.
    """
    if not steps:
        return CallModel() if elapsed_seconds < limits.max_seconds else Stop(limit="seconds")
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
    if any(call.result and call.result.get("suspends") for call in last.calls):
        return Stop(limit="asks")
    if len(steps) > 1 and all(_circles(step) for step in steps[-2:]):
        return Stop(limit="loop")
    if sum(len(step.calls) for step in steps) >= limits.max_tool_calls:
        return Stop(limit="tool_calls")
    if len(steps) >= limits.max_steps:
        return Stop(limit="steps")
    if elapsed_seconds >= limits.max_seconds:
        return Stop(limit="seconds")
    return CallModel()


def _circles(step: StepRecord) -> bool:
    """Every call of the step was refused by a guard: the model was told and goes on alike."""
    codes = [((call.result or {}).get("error") or {}).get("code") for call in step.calls]
    return bool(codes) and REFUSED.issuperset(codes)
