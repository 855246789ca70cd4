"""OpenTelemetry spans of the whole way of a mail and of a chat, where TELEMETRY is set, and with
them metrics (`integrations.llm.telemetry_metrics`); else nothing is even imported. The names are
those of the GenAI conventions where these have one, which are not stable. Telemetry helps to run
Remit. It proves nothing: that is the ledger.

A trace is that of a delivery, a turn or an action. Its id follows from theirs, so whichever process
goes on with the work, after a queue, a crash or a person's word, goes on with the trace: nothing
has to be carried along, and no row keeps it.

What was asked and answered is left out unless TELEMETRY_CONTENT is set too. Nothing else that is
noted holds what people wrote, their names or addresses: it is ids of Remit's own, codes and counts.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from integrations.llm import telemetry_metrics

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import SpanProcessor, Tracer
    from opentelemetry.sdk.trace.id_generator import IdGenerator

P = ParamSpec("P")
T = TypeVar("T")
Named = Literal["invoke_agent", "chat", "embeddings", "execute_tool"]
# Of Remit's own: a webhook or a message taken in, a delivery worked through, an action.
Own = Literal["accept", "work", "execute_action", "decide", "call_provider"]
Operation = Named | Own
REACHES_OTHERS = frozenset({"chat", "embeddings", "call_provider"})
Note = Callable[..., None]  # by keyword, the names below

OPERATION = "gen_ai.operation.name"
NAMES: Mapping[str, str] = {
    "operation": OPERATION,
    "agent": "gen_ai.agent.name",
    "provider": "gen_ai.provider.name",
    "model": "gen_ai.request.model",
    "answered_by": "gen_ai.response.model",
    "finish_reasons": "gen_ai.response.finish_reasons",
    "prompt_tokens": "gen_ai.usage.input_tokens",
    "cached_tokens": "gen_ai.usage.cache_read.input_tokens",
    "answer_tokens": "gen_ai.usage.output_tokens",
    "tool": "gen_ai.tool.name",
    "tool_type": "gen_ai.tool.type",
    "call_id": "gen_ai.tool.call.id",
    "error": "error.type",
    "turn_id": "remit.turn.id",
    "purpose": "remit.purpose",
    "ending": "remit.ending",
    "delivery_id": "remit.delivery.id",
    "attempts": "remit.delivery.attempts",
    "action_id": "remit.action.id",
    "action": "remit.action.type",
    "source": "remit.source",
    "reason": "remit.reason",
}
CONTENT: Mapping[str, str] = {
    "asked": "gen_ai.input.messages",
    "answered": "gen_ai.output.messages",
    "arguments": "gen_ai.tool.call.arguments",
    "result": "gen_ai.tool.call.result",
}


@contextmanager
def span(
    operation: Operation, name: str, *, of: object = "", begins: bool = False, **known: Any
) -> Iterator[Note]:
    """A span around the block. What is given, or noted with what is yielded, becomes its
    attributes; None is left out. An error in the block is its type, never its text.

    `of` is the id whose trace this belongs to where it runs in none; `begins`: as its first span.
    """
    if not settings.TELEMETRY:
        yield _nothing
        return
    from opentelemetry.context import Context  # noqa: PLC0415  # only where on
    from opentelemetry.trace import SpanKind  # noqa: PLC0415

    beginning = _beginning.set(str(of) if begins else "")
    with (
        _tracer().start_as_current_span(
            f"{operation} {name}",
            context=Context() if begins else _trace_of(str(of)),
            kind=SpanKind.CLIENT if operation in REACHES_OTHERS else SpanKind.INTERNAL,
            attributes={OPERATION: operation},
            record_exception=False,
            set_status_on_exception=False,
        ),
        telemetry_metrics.measured(operation, NAMES),
    ):
        _beginning.reset(beginning)
        note(**known)
        try:
            yield note
        except BaseException as error:
            note(error=str(getattr(error, "code", "") or type(error).__name__))
            raise


def note(**found: Any) -> None:
    """Attributes of the span that this runs in, by the names above."""
    if not settings.TELEMETRY:
        return
    from opentelemetry.trace import Status, StatusCode, get_current_span  # noqa: PLC0415  # only where on

    telemetry_metrics.note(found)
    current = get_current_span()
    current.set_attributes(_attributes(found))
    if found.get("error"):
        current.set_status(Status(StatusCode.ERROR))


def trace_id() -> str:
    """The trace that this runs in, in hex; empty where there is none."""
    if not settings.TELEMETRY:
        return ""
    from opentelemetry.trace import format_trace_id, get_current_span  # noqa: PLC0415  # only where on

    found = get_current_span().get_span_context()
    return format_trace_id(found.trace_id) if found.is_valid else ""


def written(value: Any) -> str:
    """Content as text; empty, and not even written, where content is off."""
    if not (settings.TELEMETRY and settings.TELEMETRY_CONTENT):
        return ""
    return json.dumps(value, ensure_ascii=False, default=str)


def carried(function: Callable[P, T]) -> Callable[P, T]:
    """`function` for another thread, with its spans below the present one."""
    if not settings.TELEMETRY:
        return function
    from opentelemetry import context  # noqa: PLC0415  # only where on

    present = context.get_current()

    def below(*args: P.args, **kwargs: P.kwargs) -> T:
        token = context.attach(present)
        try:
            return function(*args, **kwargs)
        finally:
            context.detach(token)

    return below


def _nothing(**_: Any) -> None:
    """Telemetry is off."""


def _attributes(found: Mapping[str, Any]) -> dict[str, Any]:
    names = {**NAMES, **CONTENT}
    return {
        names[key]: value
        for key, value in found.items()
        if value not in (None, "") and (key in NAMES or settings.TELEMETRY_CONTENT)
    }


# Whose trace the next span is the first of.
_beginning: ContextVar[str] = ContextVar("beginning", default="")


def _ids(of: str) -> tuple[int, int]:
    """The ids of the trace of `of` and of its first span: as good as drawn, as samplers ask."""
    digest = hashlib.sha256(of.encode()).digest()
    return int.from_bytes(digest[:16]), int.from_bytes(digest[16:24])


def _trace_of(of: str) -> "Context | None":
    """None where a span is open already, or where there is no id. Whether the trace is sampled
    is found anew, by its id alone as the first span did."""
    from opentelemetry import trace  # noqa: PLC0415  # only where on
    from opentelemetry.sdk.trace.sampling import Decision  # noqa: PLC0415

    if not of or trace.get_current_span().get_span_context().is_valid:
        return None
    trace_id, span_id = _ids(of)
    decision: Decision = _tracer().sampler.should_sample(None, trace_id, "").decision
    sampled = decision is Decision.RECORD_AND_SAMPLE
    flags = trace.TraceFlags(trace.TraceFlags.SAMPLED if sampled else trace.TraceFlags.DEFAULT)
    first = trace.SpanContext(trace_id, span_id, is_remote=True, trace_flags=flags)
    return trace.set_span_in_context(trace.NonRecordingSpan(first))


def _id_generator() -> "IdGenerator":
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator  # noqa: PLC0415  # only where on

    class Ids(RandomIdGenerator):
        """Drawn, but for the first span of a trace."""

        def generate_trace_id(self) -> int:
            of = _beginning.get()
            return _ids(of)[0] if of else super().generate_trace_id()

        def generate_span_id(self) -> int:
            of = _beginning.get()
            return _ids(of)[1] if of else super().generate_span_id()

    return Ids()


@cache
def _tracer() -> "Tracer":
    from opentelemetry.sdk.trace import Tracer, TracerProvider  # noqa: PLC0415  # only where on

    provider = TracerProvider(resource=telemetry_metrics.resource(), id_generator=_id_generator())
    provider.add_span_processor(_processor())
    tracer = provider.get_tracer("remit")
    if not isinstance(tracer, Tracer):  # OTEL_SDK_DISABLED
        raise ImproperlyConfigured("Unset OTEL_SDK_DISABLED, or TELEMETRY.")
    return tracer


def _processor() -> "SpanProcessor":
    """Sends spans to OTEL_EXPORTER_OTLP_ENDPOINT, in batches, from a thread of its own."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415
        OTLPSpanExporter,
    )
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    return BatchSpanProcessor(OTLPSpanExporter())
