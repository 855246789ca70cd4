"""OpenTelemetry metrics of what `integrations.llm.telemetry` makes spans of, whether or not a trace
is sampled: how long each took, and the tokens that models took.

Series differ by words of Remit's own alone (operation, agent, action, code) and by the models
of the settings: what a model or a server calls a tool would make as many series as they like.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from django.conf import settings

if TYPE_CHECKING:
    from opentelemetry.metrics import Histogram
    from opentelemetry.sdk.metrics.export import MetricReader
    from opentelemetry.sdk.resources import Resource

NOTED = "remit.noted"
TOKENS = {"prompt_tokens": "input", "answer_tokens": "output"}
DIFFER_BY = ("agent", "provider", "model", "purpose", "error", "ending", "action", "source")
# Seconds and tokens, as the conventions want them.
DURATIONS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
SIZES = tuple(4**power for power in range(14))


@dataclass(frozen=True, kw_only=True)
class Histograms:
    of_models: "Histogram"
    of_remit: "Histogram"
    tokens: "Histogram"


@contextmanager
def measured(operation: str, names: Mapping[str, str]) -> Iterator[None]:
    """The block as one operation. `names` are those of attributes, by what is noted in it."""
    from opentelemetry import context  # noqa: PLC0415  # only where on

    noted: dict[str, Any] = {}
    token = context.attach(context.set_value(NOTED, noted))
    began = time.monotonic()
    try:
        yield
    finally:
        context.detach(token)
        seconds = time.monotonic() - began
        known = {names[one]: noted[one] for one in DIFFER_BY if noted.get(one)}
        attributes = {names["operation"]: operation, **known}
        found = _histograms()
        is_of_model = operation in ("chat", "embeddings")
        (found.of_models if is_of_model else found.of_remit).record(seconds, attributes)
        for name, kind in TOKENS.items():
            if noted.get(name):
                found.tokens.record(noted[name], {**attributes, "gen_ai.token.type": kind})


def note(found: Mapping[str, Any]) -> None:
    """What the series of the operation that this runs in may differ by."""
    from opentelemetry import context  # noqa: PLC0415  # only where on

    noted: Any = context.get_value(NOTED)
    if noted is not None:
        noted.update(found)


def resource() -> "Resource":
    """What this process is. Of several that do the same, each counts for itself."""
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415  # only where on

    return Resource.create(
        {
            "service.name": "remit",
            "service.instance.id": str(uuid4()),
            "remit.process": settings.PROCESS,
        }
    )


@cache
def _histograms() -> Histograms:
    from opentelemetry.sdk.metrics import MeterProvider  # noqa: PLC0415  # only where on

    meter = MeterProvider(resource=resource(), metric_readers=[_reader()]).get_meter("remit")

    def histogram(name: str, unit: str, about: str, bounds: tuple[float, ...]) -> "Histogram":
        return meter.create_histogram(
            name, unit=unit, description=about, explicit_bucket_boundaries_advisory=bounds
        )

    return Histograms(
        of_models=histogram("gen_ai.client.operation.duration", "s", "Asking a model", DURATIONS),
        of_remit=histogram("remit.operation.duration", "s", "What Remit does", DURATIONS),
        tokens=histogram("gen_ai.client.token.usage", "{token}", "Tokens of models", SIZES),
    )


def _reader() -> "MetricReader":
    """Sends them to OTEL_EXPORTER_OTLP_ENDPOINT once a minute (OTEL_METRIC_EXPORT_INTERVAL, in
    milliseconds), from a thread of its own."""
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import (  # noqa: PLC0415
        OTLPMetricExporter,
    )
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader  # noqa: PLC0415

    return PeriodicExportingMetricReader(OTLPMetricExporter())
