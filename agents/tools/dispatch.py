"""Run the open calls of one step: every call gets exactly one result, whatever happens."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from functools import cache
from uuid import UUID

from django.conf import settings
from django.db import close_old_connections, connections
from django.utils import timezone

from agents import journal
from agents.contracts import CallRecord, ErrorCode, StepRecord, ToolResult, failure
from agents.journal import LeaseLost
from agents.tools import acting, hooks
from agents.tools.base import Arguments, Tool, ToolContext, parse
from integrations.exceptions import ProviderError
from integrations.llm import BudgetExhausted, ModelError

log = logging.getLogger(__name__)
POOL_SIZE = 64


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=POOL_SIZE, thread_name_prefix="tools")


def run_calls(
    calls: Sequence[CallRecord],
    *,
    tools: Mapping[str, Tool[Arguments]],
    context_for: Callable[[CallRecord], ToolContext],
    steps: Sequence[StepRecord],
) -> dict[UUID, CallRecord]:
    """Each call with its result, by id. `calls` are open ones of the last of the run's `steps`.
    Calls that only read run side by side; calls that act run in the order the model gave them.
    One that fails, or that a hook refuses, does not lose the others. Nobody waits for a call that
    reads longer than its time; one that acts is never left half-way: what it waits for has a
    time-out of its own.

    Raises LeaseLost when another process has taken the turn over.
    """
    refused = hooks.refusals(calls, steps=steps, tools=tools, now=timezone.now())
    reading = [call for call in calls if not _acts(call, tools)]
    writing = [call for call in calls if _acts(call, tools)]

    def one(call: CallRecord) -> CallRecord:
        started = time.monotonic()
        context = context_for(call)
        if call.id in refused:
            result = refused[call.id]
            if _acts(call, tools) or call.name not in tools:
                acting.record_refused(context)
        else:
            result = answer(call, tools=tools, context=hooks.prepared(context, steps))
        elapsed = int((time.monotonic() - started) * 1000)
        result = hooks.finished(call, result)
        return journal.finish_call(context.lease, call, result, latency_ms=elapsed)

    started = time.monotonic()
    futures = [(call, _pool().submit(_in_thread, one, call)) for call in reading]
    done: dict[UUID, CallRecord] = {}
    for call, future in futures:
        tool = tools.get(call.name)
        seconds = (tool and tool.timeout_seconds) or settings.TOOL_TIMEOUT_SECONDS
        done[call.id] = _wait(future, call, context_for(call), seconds=seconds, started=started)
    for call in writing:
        done[call.id] = one(call)
    return done


def _acts(call: CallRecord, tools: Mapping[str, Tool[Arguments]]) -> bool:
    return call.name in tools and tools[call.name].acts


def _in_thread(one: Callable[[CallRecord], CallRecord], call: CallRecord) -> CallRecord:
    close_old_connections()
    try:
        return one(call)
    finally:
        connections.close_all()


def _wait(
    future: Future[CallRecord],
    call: CallRecord,
    context: ToolContext,
    *,
    seconds: float,
    started: float,
) -> CallRecord:
    """What the call came to within `seconds` from the start. A late result is noted as late and
    changes nothing (`journal.finish_call`)."""
    try:
        return future.result(timeout=max(0.0, started + seconds - time.monotonic()))
    except FutureTimeout:
        slow = failure("TIMEOUT", "The tool took too long.", recoverable=True)
        return journal.finish_call(context.lease, call, slow, latency_ms=int(seconds * 1000))


def answer(
    call: CallRecord, *, tools: Mapping[str, Tool[Arguments]], context: ToolContext
) -> ToolResult:
    """The result of one call. What goes wrong becomes a short typed result; the exception's
    text stays in the log."""
    tool = tools.get(call.name)
    try:
        if tool is None:
            acting.record_refused(context)
            return _no_such_tool(tools)
        arguments = parse(call, tool)
        if isinstance(arguments, ToolResult):
            if tool.acts:
                acting.record_refused(context)
            return arguments
        return tool.run(context, arguments)
    except LeaseLost:
        raise
    except BudgetExhausted as error:
        return failure("RATE_LIMIT", error.sentence)
    except ModelError as error:
        return failure("EXECUTION_FAILED", "The model did not answer.", recoverable=error.retryable)
    except ProviderError as error:
        code: ErrorCode = "NETWORK_ERROR" if error.retryable else "EXECUTION_FAILED"
        return failure(code, "The provider did not answer as asked.", recoverable=error.retryable)
    except Exception:
        log.exception("tool.failed", extra={"tool": call.name, "call": str(call.id)})
        return failure("EXECUTION_FAILED", "The tool broke. It is in the log.")


def _no_such_tool(tools: Mapping[str, Tool[Arguments]]) -> ToolResult:
    return failure(
        "NOT_FOUND",
        "There is no such tool.",
        recoverable=True,
        suggested_action=f"Use one of: {', '.join(sorted(tools))}.",
    )
