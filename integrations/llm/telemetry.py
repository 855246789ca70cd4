"""OpenTelemetry spans of agents, models and tools, where TELEMETRY is set; else nothing is even
imported. The names are those of the GenAI conventions, which are not stable: they stand here
alone. Telemetry helps to run Remit. It proves nothing: that is the ledger.

What was asked and answered is left out unless TELEMETRY_CONTENT is set too.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

from django.conf import settings

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor
    from opentelemetry.trace import Tracer

P = ParamSpec("P")
T = TypeVar("T")
Operation = Literal["invoke_agent", "chat", "embeddings", "execute_tool"]
Note = Callable[..., None]  # by keyword, the names below

OPERATION = "gen_ai.operation.name"
NAMES: Mapping[str, str] = {
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
}
CONTENT: Mapping[str, str] = {
    "asked": "gen_ai.input.messages",
    "answered": "gen_ai.output.messages",
    "arguments": "gen_ai.tool.call.arguments",
    "result": "gen_ai.tool.call.result",
}


@contextmanager
def span(operation: Operation, name: str, **known: Any) -> Iterator[Note]:
    """A span around the block. What is given, or noted with what is yielded, becomes its
    attributes; None is left out. An error in the block is its type, never its text."""
    if not settings.TELEMETRY:
        yield _nothing
        return
    from opentelemetry.trace import SpanKind, Status, StatusCode  # noqa: PLC0415  # only where on

    kind = SpanKind.CLIENT if operation in ("chat", "embeddings") else SpanKind.INTERNAL
    with _tracer().start_as_current_span(
        f"{operation} {name}",
        kind=kind,
        attributes={OPERATION: operation},
        record_exception=False,
        set_status_on_exception=False,
    ) as current:

        def note(**found: Any) -> None:
            current.set_attributes(_attributes(found))
            if found.get("error"):
                current.set_status(Status(StatusCode.ERROR))

        note(**known)
        try:
            yield note
        except BaseException as error:
            note(error=str(getattr(error, "code", "") or type(error).__name__))
            raise


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


@cache
def _tracer() -> "Tracer":
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415  # only where on
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415

    provider = TracerProvider(resource=Resource.create({"service.name": "remit"}))
    provider.add_span_processor(_processor())
    return provider.get_tracer("remit")


def _processor() -> "SpanProcessor":
    """Sends spans to OTEL_EXPORTER_OTLP_ENDPOINT, in batches, from a thread of its own."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415
        OTLPSpanExporter,
    )
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    return BatchSpanProcessor(OTLPSpanExporter())
