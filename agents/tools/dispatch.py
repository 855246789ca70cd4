"""Run the open calls of one step: every call gets exactly one result, whatever happens."""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import replace
from decimal import Decimal
from functools import cache, partial
from itertools import chain, groupby
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import close_old_connections, connections
from django.utils import timezone

from agents.contracts import CallRecord, ErrorCode, StepRecord, ToolResult, failure
from agents.journal import journal
from agents.journal.leases import LeaseLost
from agents.tools import acting, forms, hooks
from agents.tools.base import Arguments, Tool, ToolContext, parse
from audit.contracts import LedgerError
from guardrails.decide.snapshot import PolicySnapshot
from integrations.database.pools import release_connections
from integrations.database.together import Read
from integrations.exceptions import ProviderError
from integrations.llm import json_protocol, metering, telemetry
from integrations.llm.completions import UNREADABLE, ModelError, OutOfTime
from integrations.llm.llm import BudgetExhausted

log = logging.getLogger(__name__)
LEAST_THREADS = 64
AGENTS_AT_ONCE = 4  # of one step
BROKE = "The tool broke. It is in the log."
TOO_SLOW = failure("TIMEOUT", "The tool took too long.", recoverable=True)
UNRECORDED = "The ledger cannot be written now, and nothing is done that it does not record."
# Of errors whose code says more than whether they may pass.
MODEL_CODES: Mapping[str, ErrorCode] = {
    "timeout": "TIMEOUT",
    "unreachable": "NETWORK_ERROR",
    "status_429": "RATE_LIMIT",
}
PROVIDER_CODES: Mapping[str, ErrorCode] = {
    "not_found": "NOT_FOUND",
    "not_permitted": "PERMISSION_DENIED",
    "sign_in_needed": "PERMISSION_DENIED",
    "rejected": "INVALID_INPUT",
    "rate_limited": "RATE_LIMIT",
    "too_slow": "TIMEOUT",
}


class Done(NamedTuple):
    """A call's result, how long it took, and what it cost in US dollars."""

    result: ToolResult
    latency_ms: int
    cost: Decimal = Decimal(0)


@cache
def _pool() -> ThreadPoolExecutor:
    # Its threads start when they are needed. A call's time runs while it waits for one.
    most = max(LEAST_THREADS, settings.TURN_THREADS)
    return ThreadPoolExecutor(max_workers=most, thread_name_prefix="tools")


def run_calls(
    calls: Sequence[CallRecord],
    *,
    tools: Mapping[str, Tool[Arguments]],
    context_for: Callable[[CallRecord], ToolContext],
    steps: Sequence[StepRecord],
    most: int | None = None,
    policy: Read[PolicySnapshot] | None = None,
    read_policy: Callable[[], Read[PolicySnapshot]] | None = None,
    then: Sequence[Read[Any]] = (),
) -> dict[UUID, CallRecord]:
    """Each call with its result, by id. `calls` are open ones of the last of the run's `steps`;
    at most so many are run.
    Calls that only read run side by side; calls that act run in the order the model gave them, and
    those next to each other that hand work to agents run side by side, AGENTS_AT_ONCE of them.
    One that fails, or that a hook refuses, does not lose the others. Nobody waits for a call that
    reads longer than its time or than the turn's; one that acts is never left half-way: what it
    waits for has a time-out of its own.

    Where all of them act in one account, its policy is read with the result before each that acts
    (`read_policy`), and with the step itself (`policy`): nothing is waited for in between. What is
    to be read `then` comes with the last result.

    Raises LeaseLost when another process has taken the turn over.
    """
    refused = hooks.refusals(calls, steps=steps, tools=tools, now=timezone.now(), most=most)
    contexts = {call.id: context_for(call) for call in calls}
    reading = [call for call in calls if not _acts(call, tools)]
    writing = [call for call in calls if _acts(call, tools)]
    for call in reading:
        context = contexts[call.id]
        until = context.deadline.within(_seconds(call, tools))
        contexts[call.id] = replace(context, deadline=until)

    def one(call: CallRecord) -> Done:
        started = time.monotonic()
        context = contexts[call.id]
        with (
            metering.meter() as meter,
            telemetry.span(
                "execute_tool",
                call.name[:100],
                tool=call.name[:100],
                tool_type="function",
                call_id=str(call.id),
                arguments=telemetry.written(call.arguments),
            ) as note,
        ):
            if call.id in refused:
                result = refused[call.id]
                if _acts(call, tools) or call.name not in tools:
                    acting.record_refused(context)
            else:
                result = answer(call, tools=tools, context=hooks.prepare(context, steps))
            note(error=result.code, result=telemetry.written(result.wire()))
        latency_ms = int((time.monotonic() - started) * 1000)
        return Done(hooks.finish(call, result), latency_ms, meter.cost)

    def finish(call: CallRecord, done: Done) -> None:
        metering.add(done.cost)  # for the call that this run is below, if it is below one
        now_done = len(finished) + 1
        following = writing[max(0, now_done - len(reading)) :] if now_done >= len(reading) else []
        fresh = read_policy() if read_policy and following else None
        reads = then if now_done == len(calls) else [fresh] if fresh else []
        finished[call.id] = _finish(contexts[call.id], call, done, then=reads)
        prepare(following, fresh)

    def prepare(following: Sequence[CallRecord], read: Read[PolicySnapshot] | None) -> None:
        if following and read and read.has_run:
            first = following[0].id
            contexts[first] = replace(contexts[first], policy=read.found)

    finished: dict[UUID, CallRecord] = {}
    if not reading:
        prepare(writing, policy)
    side_by_side = _side_by_side(reading, telemetry.carried(one), contexts)
    for call, done in chain(side_by_side, _in_order(writing, one, tools)):
        finish(call, done)
    return finished


def _finish(
    context: ToolContext, call: CallRecord, done: Done, *, then: Sequence[Read[Any]] = ()
) -> CallRecord:
    return journal.finish_call(
        context.lease,
        call,
        done.result,
        latency_ms=done.latency_ms,
        cost=done.cost,
        actions=context.acted,
        then=then,
    )


def _side_by_side(
    calls: Sequence[CallRecord],
    one: Callable[[CallRecord], Done],
    contexts: Mapping[UUID, ToolContext],
) -> Iterator[tuple[CallRecord, Done]]:
    """Each call's result as it comes. Rows are written by the thread of the turn, so that tools
    which need no database take no connection of it."""
    started = time.monotonic()
    ended: SimpleQueue[Future[Done]] = SimpleQueue()
    waiting = {_pool().submit(_in_thread, one, call): call for call in calls}
    for future in waiting:
        future.add_done_callback(ended.put)
    while waiting:
        release_connections()  # the threads need them more than who waits for them
        until = {future: contexts[call.id].deadline for future, call in waiting.items()}
        try:
            future = ended.get(timeout=min(until.values()).seconds_left)
        except Empty:
            slowest = [future for future in waiting if until[future].has_passed()]
        else:
            if future in waiting:  # else it was given up
                yield waiting.pop(future), future.result()
            continue
        for future in slowest:
            call = waiting.pop(future)
            yield call, Done(TOO_SLOW, int((time.monotonic() - started) * 1000))
            if not future.cancel():
                future.add_done_callback(partial(_note_late, contexts[call.id], call))


def _in_order(
    calls: Sequence[CallRecord],
    one: Callable[[CallRecord], Done],
    tools: Mapping[str, Tool[Arguments]],
) -> Iterator[tuple[CallRecord, Done]]:
    """Results of calls that act, one after another; of agents next to each other as they come."""
    for delegates, group in groupby(calls, key=lambda call: tools[call.name].delegates):
        together = list(group)
        if delegates and len(together) > 1:
            yield from _by_agents(together, telemetry.carried(one))
        else:
            yield from ((call, one(call)) for call in together)


def _by_agents(
    calls: Sequence[CallRecord], one: Callable[[CallRecord], Done]
) -> Iterator[tuple[CallRecord, Done]]:
    """Each call's result as it comes; none is given up. Their threads are not those of the tools:
    an agent waits for tools of its own, and many agents would leave these no thread."""
    pool = ThreadPoolExecutor(min(len(calls), AGENTS_AT_ONCE), thread_name_prefix="agents")
    try:
        running = {pool.submit(_in_thread, one, call): call for call in calls}
        release_connections()
        for future in as_completed(running):
            yield running[future], future.result()
            release_connections()
    finally:
        pool.shutdown(cancel_futures=True)


def _seconds(call: CallRecord, tools: Mapping[str, Tool[Arguments]]) -> float:
    tool = tools.get(call.name)
    return float((tool and tool.timeout_seconds) or settings.TOOL_TIMEOUT_SECONDS)


def _note_late(context: ToolContext, call: CallRecord, future: Future[Done]) -> None:
    """What came too late changes nothing, and stands among the turn's events while it runs."""
    try:
        done = future.result()
        log.warning("tool.late", extra={"tool": call.name, "call": str(call.id)})
        _finish(context, call, done)
    except LeaseLost:
        pass  # the turn has gone on without it
    finally:
        connections.close_all()


def _acts(call: CallRecord, tools: Mapping[str, Tool[Arguments]]) -> bool:
    return call.name in tools and tools[call.name].acts


def _in_thread(one: Callable[[CallRecord], Done], call: CallRecord) -> Done:
    close_old_connections()
    try:
        return one(call)
    finally:
        connections.close_all()


def answer(
    call: CallRecord, *, tools: Mapping[str, Tool[Arguments]], context: ToolContext
) -> ToolResult:
    """The result of one call. What goes wrong becomes a short typed result; the exception's
    text stays in the log."""
    if call.name == UNREADABLE:
        return _unreadable(call)
    tool = tools.get(call.name)
    try:
        if tool is None:
            acting.record_refused(context)
            return _no_such_tool(call.name, tools)
        arguments = parse(call, tool)
        if isinstance(arguments, ToolResult):
            return arguments
        return tool.run(context, arguments)
    except LeaseLost:
        raise
    except BudgetExhausted as error:
        return failure("RATE_LIMIT", error.sentence)
    except OutOfTime:
        return TOO_SLOW
    except ModelError as error:
        code = MODEL_CODES.get(error.code, "EXECUTION_FAILED")
        return failure(code, "The model did not answer.", recoverable=error.retryable)
    except ProviderError as error:
        usual: ErrorCode = "NETWORK_ERROR" if error.retryable else "EXECUTION_FAILED"
        code = PROVIDER_CODES.get(error.code, usual)
        return failure(code, "The provider did not answer as asked.", recoverable=error.retryable)
    except Exception as error:
        log.exception("tool.failed", extra={"tool": call.name, "call": str(call.id)})
        return failure("EXECUTION_FAILED", UNRECORDED if isinstance(error, LedgerError) else BROKE)


def _unreadable(call: CallRecord) -> ToolResult:
    return failure(
        "INVALID_INPUT",
        json_protocol.problem(call.arguments),
        recoverable=True,
        suggested_action=f"Answer with {json_protocol.SHAPE} and nothing around it.",
    )


def _no_such_tool(name: str, tools: Mapping[str, Tool[Arguments]]) -> ToolResult:
    """What is meant may be an action that the model is not shown, because it is not permitted:
    called by its name it is refused with the reason, and the user can ask for it."""
    names = sorted(name for name, tool in tools.items() if tool.offered or tool.listed)
    return failure(
        "NOT_FOUND",
        f"There is no such tool.{forms.suggest(name, tools)}",
        recoverable=True,
        suggested_action=f"Use one of: {', '.join(names)}.",
    )
