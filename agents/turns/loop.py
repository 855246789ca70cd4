"""The observation loop: ask the model, run its calls, look at what came back, repeat.

What comes next is chosen by `steps.next_step`; this module only does it.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from agents.answer import links
from agents.context import prompts, truncation
from agents.context.messages import Wire
from agents.contracts import CallRecord, Spent, StepRecord, ToolResult
from agents.journal import journal, whom
from agents.journal.guards import BROKEN, code_of, find_resting_tools
from agents.journal.leases import Lease
from agents.journal.steps import (
    ASK_USER,
    NOTHING,
    CallModel,
    Ending,
    Limits,
    Question,
    RunCalls,
    Stop,
    next_step,
)
from agents.tools import hooks, use_tool
from agents.tools.base import Arguments, Tool, ToolContext, parse
from agents.tools.dispatch import run_calls
from guardrails.decide.snapshot import PolicySnapshot
from integrations.database.pools import release_connections
from integrations.database.together import Read, run_together
from integrations.llm import llm, metering, profiles, telemetry
from integrations.llm.completions import (
    Completion,
    Listener,
    OutOfTime,
    Payer,
    RequestedCall,
)
from integrations.llm.deadline import Deadline
from integrations.llm.metering import Calls

TEXT_EVENT_SECONDS = 0.1  # text is passed on in pieces, not token by token


@dataclass(kw_only=True)
class Run:
    """One agent at work inside a turn: the turn's own agent, or a specialist below a call."""

    lease: Lease
    agent: str
    parent_call: UUID | None
    tools: Mapping[str, Tool[Arguments]]
    limits: Limits
    messages: Callable[[Sequence[StepRecord], int], Sequence[Wire]]  # in so many tokens
    context_for: Callable[[CallRecord], ToolContext]
    payer: Payer
    deadline: Deadline  # the turn's, for a specialist too
    model: str | None = None
    language: str = "en"  # of Remit's own lines
    stream: bool = False
    clean: Callable[[str], str] = links.deaden  # what people are given of what the model says
    around_reply: Callable[[], AbstractContextManager[object]] = (
        nullcontext  # its step is stored in it
    )
    steps: list[StepRecord] = field(default_factory=list)
    call_count: int = 0  # calls of the turn when its last step was asked for
    budgets: Sequence[metering.Budget] | None = None  # as they were read for the next call alone
    # Of the one account that all its actions are of, if it is so; and as it was read just now.
    read_policy: Callable[[], Read[PolicySnapshot]] | None = None
    policy: Read[PolicySnapshot] | None = None
    spent: "Room | None" = None  # where it came with the result of the last call


class Room(NamedTuple):
    """What a turn has used, and the budgets that it has to fit into, to be read."""

    spent: Read[Spent]
    budgets: Read[list[metering.Budget]]


def run_agent(run: Run) -> Ending:
    """Work until a reply, a question or a limit. What stood in the rows is not done again.

    Raises ModelError when the model does not answer, LeaseLost when another process has
    taken the turn over; both leave rows that a later run goes on from.
    """
    with telemetry.span(
        *("invoke_agent", run.agent),
        of=run.lease.turn_id,
        agent=run.agent,
        turn_id=str(run.lease.turn_id),
        model=run.model,
    ) as note:
        ending = _work(run)
        note(ending=type(ending).__name__.lower())
        return ending


def _work(run: Run) -> Ending:
    while True:
        match next_step(
            steps=run.steps,
            deadline=run.deadline,
            limits=run.limits,
            spent=_spent(run),
        ):
            case CallModel():
                try:
                    run.steps.append(_ask_whom(run) or _ask(run))
                except OutOfTime:
                    return Stop(limit="seconds")
            case RunCalls(calls=calls):
                run.spent = _room(run)
                _run_calls(run, calls, then=run.spent)
            case Question(call=call) if call.name not in run.tools:
                _run_calls(run, [call])  # only an agent that speaks to the user can ask
            case Question(call=call) as question:
                problem = parse(call, run.tools[call.name])
                if not isinstance(problem, ToolResult):
                    return question
                done = journal.finish_call(run.lease, call, problem, latency_ms=0)
                _observe(run, {call.id: done})
            case ending:
                return ending


def _spent(run: Run) -> Spent:
    """Asked of the rows only where a model may be asked next, and something was spent before."""
    if not run.steps:
        if run.parent_call:
            return _noted(run)
        return Spent(stopped=not run.lease.is_new and journal.stop_asked(run.lease))
    calls = run.steps[-1].calls
    is_asked_next = bool(calls) and all(call.result is not None for call in calls)
    return _noted(run) if is_asked_next else NOTHING


def _noted(run: Run) -> Spent:
    room, run.spent = run.spent or _room(run), None
    if not room.spent.has_run:
        run_together(*room)
    spent, run.budgets = room.spent.found, room.budgets.found
    run.call_count = spent.tool_calls
    return spent


def _room(run: Run) -> Room:
    return Room(journal.read_spent(run.lease), metering.read_budgets(run.payer))


def _ask_whom(run: Run) -> StepRecord | None:
    """Remit's own question, where a name in the user's words may mean several people."""
    asked = whom.ask(run.steps, language=run.language) if ASK_USER in run.tools else None
    return add_step(run, asked) if asked else None


def _ask(run: Run) -> StepRecord:
    started = time.monotonic()
    rested = _at_rest(run)
    tools = [tool for tool in run.tools.values() if tool.offered and tool.name not in rested]
    last = [prompts.render_resting(rested)] if rested else []
    room = profiles.room(run.model or settings.CHAT_MODEL) - truncation.count_tokens(last)
    messages = run.messages(run.steps, room - sum(tool.schema_tokens for tool in tools))
    speech = Speech(run.lease, run.clean) if run.stream else None
    budgets, run.budgets = run.budgets, None
    with metering.gathered() as calls:
        completion = llm.complete(
            messages=[*messages, *last],
            tools=[tool.schema for tool in tools],
            payer=run.payer,
            purpose=run.agent,
            model=run.model,
            listener=speech.listener if speech else None,
            deadline=run.deadline,
            budgets=budgets,
        )
        if speech:
            speech.flush()
        latency_ms = int((time.monotonic() - started) * 1000)
        with nullcontext() if completion.calls else run.around_reply():
            step = add_step(run, completion, latency_ms=latency_ms, model_calls=calls)
        calls.forget()  # they were stored with it
        return step


def add_step(
    run: Run, completion: Completion, *, latency_ms: int = 0, model_calls: Calls | None = None
) -> StepRecord:
    calls = use_tool.unwrap(completion.calls)
    acts_first = bool(calls) and all(_acts(run, call) for call in calls)
    run.policy = run.read_policy() if run.read_policy and acts_first else None
    return journal.add_step(
        run.lease,
        parent_call=run.parent_call,
        agent=run.agent,
        number=len(run.steps) + 1,
        completion=replace(completion, calls=calls),
        latency_ms=latency_ms,
        model_calls=model_calls,
        then=[run.policy] if run.policy else [],
    )


def _acts(run: Run, call: RequestedCall) -> bool:
    return call.name in run.tools and run.tools[call.name].acts


def finish_open_calls(run: Run) -> None:
    """Run what is still open of the last step, without asking a model afterwards."""
    calls = [call for call in run.steps[-1].calls if call.result is None]
    _run_calls(run, calls)


def _run_calls(run: Run, calls: Sequence[CallRecord], *, then: Sequence[Read[Any]] = ()) -> None:
    rested = _at_rest(run)
    policy, run.policy = run.policy, None
    call_count = max(run.call_count, sum(len(step.calls) for step in run.steps[:-1]))
    done = run_calls(
        calls,
        tools=run.tools,
        context_for=run.context_for,
        steps=run.steps,
        most=max(0, run.limits.max_tool_calls - call_count),
        policy=policy,
        read_policy=run.read_policy,
        then=then,
    )
    _observe(run, done)
    for tool in sorted(_at_rest(run) - rested):
        journal.emit(run.lease, "decision", {"decision": "tool_rests", "tool": tool})


def _at_rest(run: Run) -> frozenset[str]:
    if not any(code_of(call) in BROKEN for step in run.steps for call in step.calls):
        return frozenset()
    now = timezone.now()
    return find_resting_tools(hooks.list_calls(run.steps, run.tools, now=now), now)


def _observe(run: Run, done: Mapping[UUID, CallRecord]) -> None:
    last = run.steps[-1]
    calls = tuple(done.get(call.id, call) for call in last.calls)
    run.steps[-1] = StepRecord(
        number=last.number, text=last.text, finish_reason=last.finish_reason, calls=calls
    )


class Speech:
    """What a model says and thinks, passed on as `text.delta` and `reasoning.delta` events, several
    words at a time. A `text.restarted` event takes back what was passed on of this step."""

    def __init__(self, lease: Lease, clean: Callable[[str], str]) -> None:
        self._lease, self._clean = lease, clean
        self._waiting: list[str] = []
        self._type = ""
        self._last = time.monotonic()

    @property
    def listener(self) -> Listener:
        return Listener(
            on_text=lambda text: self._hear("text.delta", text),
            on_restart=self._restart,
            on_reasoning=lambda text: self._hear("reasoning.delta", text),
        )

    def flush(self) -> None:
        """Pass on what is left."""
        self._pass_on("".join(self._waiting), rest="")

    def _pass_on(self, text: str, *, rest: str) -> None:
        self._waiting = [rest] if rest else []
        if text:
            journal.emit(self._lease, self._type, {"text": self._clean(text)})

    def _hear(self, type: str, text: str) -> None:
        if type != self._type:
            self.flush()
        self._type = type
        self._waiting.append(text)
        if time.monotonic() - self._last >= TEXT_EVENT_SECONDS:
            ready, rest = links.split_ready("".join(self._waiting))
            self._pass_on(ready, rest=rest)
            release_connections()  # the rest of the answer is still to come
            self._last = time.monotonic()

    def _restart(self) -> None:
        self._waiting.clear()
        journal.emit(self._lease, "text.restarted", {})
