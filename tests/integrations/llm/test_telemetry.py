"""Spans of a turn over real HTTP: their names, their tree, and what is not in them."""

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from opentelemetry.sdk.metrics.export import HistogramDataPoint, InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agents.journal import leases
from agents.models import Turn
from agents.turns import turns
from audit.models import ExecutedAgentAction
from config.logs import LineFormatter
from integrations.llm import telemetry, telemetry_metrics
from integrations.models import Delivery
from tests.agents.pages import mailbox
from tests.agents.waiting import turn_of
from tests.model_server import Failure, Reply, Script, calls, scripted_model
from tests.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
ORCHESTRATOR = "You are Remit's orchestrator."
WORK: Sequence[Reply] = (
    calls(("retrieve_context", {"query": "the-secret-plan"}), ("nonsense", {})),
    "Nothing there.",
)


@pytest.fixture
def spans(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    settings.TELEMETRY = True
    kept = InMemorySpanExporter()
    monkeypatch.setattr(telemetry, "_processor", lambda: SimpleSpanProcessor(kept))
    telemetry._tracer.cache_clear()
    yield kept
    telemetry._tracer.cache_clear()


@pytest.fixture(autouse=True)
def metrics(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemoryMetricReader]:
    reader = InMemoryMetricReader()
    monkeypatch.setattr(telemetry_metrics, "_reader", lambda: reader)
    telemetry_metrics._histograms.cache_clear()
    yield reader
    telemetry_metrics._histograms.cache_clear()


def points(
    reader: InMemoryMetricReader, name: str
) -> list[tuple[dict[str, Any], HistogramDataPoint]]:
    """Of a metric, each series with its attributes."""
    read = reader.get_metrics_data()
    return [
        (dict(point.attributes or {}), point)
        for resource in (read.resource_metrics if read else ())
        for scope in resource.scope_metrics
        for metric in scope.metrics
        if metric.name == name
        for point in metric.data.data_points
        if isinstance(point, HistogramDataPoint)
    ]


def work(settings: Any, *replies: Reply, also: Script | None = None) -> str:
    turn_id = turn_of(mailbox().organisation, message="Find the-secret-plan", queued=False)
    with scripted_model(settings, {ORCHESTRATOR: replies, **(also or {})}):
        turns.run_turn(turn_id)
    return str(turn_id)


def told(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def test_a_run_is_a_tree_of_agent_chat_and_tools(
    settings: Any, spans: InMemorySpanExporter
) -> None:
    turn_id = work(settings, *WORK)

    found = {span.name: span for span in spans.get_finished_spans()}
    assert sorted(span.name for span in spans.get_finished_spans()) == [
        "accept message",
        "chat offline-rules",
        "chat offline-rules",
        "decide action",
        f"embeddings {settings.EMBEDDING_MODEL}",
        "execute_action of a turn",
        "execute_tool nonsense",
        "execute_tool retrieve_context",
        "invoke_agent orchestrator",
    ]
    root = found["invoke_agent orchestrator"]
    below = {name for name, span in found.items() if span.parent == root.context}
    assert below == {
        "chat offline-rules",
        "execute_tool nonsense",
        "execute_tool retrieve_context",
    }
    assert told(root) == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "orchestrator",
        "remit.turn.id": turn_id,
        "remit.ending": "reply",
    }
    chat = told(found["chat offline-rules"])
    assert chat | {"gen_ai.response.finish_reasons": ()} == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "offline-rules",
        "gen_ai.response.model": "offline-rules",
        "gen_ai.response.finish_reasons": (),
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.cache_read.input_tokens": 0,
        "gen_ai.usage.output_tokens": 5,
        "remit.purpose": "orchestrator",
        "remit.turn.id": turn_id,
    }
    assert told(found["execute_tool nonsense"])["error.type"] == "NOT_FOUND"
    assert not found["execute_tool nonsense"].status.is_ok
    (refused,) = ExecutedAgentAction.objects.filter(run_id=turn_id)
    assert root.context is not None
    assert refused.trace_id == format(root.context.trace_id, "032x")


@pytest.mark.parametrize("ratio", ["0.0", "1.0"])
def test_each_operation_is_measured_whether_its_trace_is_sampled_or_not(
    settings: Any,
    spans: InMemorySpanExporter,
    metrics: InMemoryMetricReader,
    monkeypatch: pytest.MonkeyPatch,
    ratio: str,
) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", ratio)
    work(settings, *WORK)

    chat = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "offline-rules",
        "remit.purpose": "orchestrator",
    }
    asked = [
        (known, point.count) for known, point in points(metrics, "gen_ai.client.operation.duration")
    ]
    assert (chat, 2) in asked
    done = {
        (known["gen_ai.operation.name"], known.get("error.type", "")): point.count
        for known, point in points(metrics, "remit.operation.duration")
    }
    assert done == {
        ("accept", ""): 1,
        ("decide", ""): 1,
        ("execute_action", ""): 1,
        ("execute_tool", ""): 1,
        ("execute_tool", "NOT_FOUND"): 1,
        ("invoke_agent", ""): 1,
    }
    tokens = {
        known["gen_ai.token.type"]: point.sum
        for known, point in points(metrics, "gen_ai.client.token.usage")
        if known["gen_ai.operation.name"] == "chat"
    }
    assert tokens == {"input": 20, "output": 10}


def test_what_a_model_or_a_stranger_names_makes_no_series(
    settings: Any, spans: InMemorySpanExporter, metrics: InMemoryMetricReader
) -> None:
    settings.TELEMETRY_CONTENT = True
    work(settings, *WORK)

    read = metrics.get_metrics_data()
    assert read is not None
    assert "execute_tool" in read.to_json()
    assert not [word for word in ("nonsense", "the-secret-plan") if word in read.to_json()]


def test_agents_that_work_side_by_side_are_in_their_turns_tree(
    settings: Any, spans: InMemorySpanExporter
) -> None:
    asked = [{"specialist": name, "task": "Look."} for name in ("email", "document")]
    also: Script = {f"You are Remit's {one['specialist']} specialist.": ["None."] for one in asked}
    work(settings, calls(*(("delegate_to_specialist", one) for one in asked)), "None.", also=also)

    found = spans.get_finished_spans()
    root = next(span for span in found if span.name == "invoke_agent orchestrator")
    tools = [span for span in found if span.name == "execute_tool delegate_to_specialist"]
    assert [span.parent for span in tools] == [root.context] * 2
    below = {span.name: span.parent for span in found if span.parent in [t.context for t in tools]}
    assert sorted(below) == ["invoke_agent document", "invoke_agent email"]
    assert below["invoke_agent document"] != below["invoke_agent email"]


def test_what_was_said_is_in_no_span_unless_that_is_wanted(
    settings: Any, spans: InMemorySpanExporter
) -> None:
    work(settings, *WORK)
    assert "the-secret-plan" not in "".join(s.to_json() for s in spans.get_finished_spans())

    settings.TELEMETRY_CONTENT = True
    work(settings, *WORK)
    tool = next(
        told(span)
        for span in reversed(spans.get_finished_spans())
        if span.name == "execute_tool retrieve_context"
    )
    assert json.loads(json.loads(tool["gen_ai.tool.call.arguments"])) == {
        "query": "the-secret-plan"
    }


def test_an_error_is_its_code_and_never_its_text(
    settings: Any, spans: InMemorySpanExporter
) -> None:
    work(settings, Failure(400))

    (_, chat, agent) = spans.get_finished_spans()
    assert told(chat)["error.type"] == "status_400"
    assert told(agent)["error.type"] == "status_400"
    assert (chat.events, agent.events) == ((), ())
    assert chat.status.description is None


def test_nothing_is_imported_where_it_is_off(settings: Any) -> None:
    code = (
        "import django; django.setup()\n"
        "from integrations.llm import telemetry\n"
        "with telemetry.span('chat', 'm', model='m') as note: note(error='x')\n"
        "assert telemetry.carried(len) is len\n"
        "import sys\n"
        "assert not [name for name in sys.modules if name.startswith('opentelemetry')]\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "SECRET_KEY": settings.SECRET_KEY, "LEDGER_KEY": settings.LEDGER_KEY},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def tree(spans: Sequence[ReadableSpan]) -> dict[str, str]:
    """Each span's name with that of the span it is below, as far as there is one."""
    names = {span.context.span_id: span.name for span in spans if span.context}
    return {span.name: names[span.parent.span_id] if span.parent else "" for span in spans}


def test_the_way_of_a_mail_is_one_trace_from_its_webhook_to_the_call_of_its_provider(
    office: Office, spans: InMemorySpanExporter
) -> None:
    mail = office.deliver("question")
    office.drain()
    office.settle_webhooks()
    office.drain()

    delivery = Delivery.objects.get(source_id=mail["id"], kind="created")
    traces: dict[int, list[ReadableSpan]] = {}
    for span in spans.get_finished_spans():
        assert span.context is not None
        traces.setdefault(span.context.trace_id, []).append(span)
    [way] = [
        trace
        for trace in traces.values()
        if told(trace[0]).get("remit.delivery.id") == str(delivery.id)
    ]
    found = tree(way)
    assert found.pop("chat offline-rules")
    assert {name: found[name] for name in found if not name.startswith("e")} == {
        "accept delivery": "",
        "work delivery": "accept delivery",
        "invoke_agent mail_reader": "work delivery",
        "decide action": "execute_action of a turn",
        "call_provider data_service": "execute_action of a turn",
    }
    done = [told(span) for span in way if span.name.startswith("call_provider")]
    assert [one["remit.action.type"] for one in done] == ["classify", "draft"]
    # Word of its own actions comes back as deliveries with traces of their own.
    own = [told(trace[0]) for trace in traces.values() if trace is not way]
    assert {one.get("remit.reason") for one in own} & {"own_action", "turn_at_work"}
    # Every row of the ledger names the trace, and nothing in it what a person wrote.
    assert way[0].context is not None
    turn = Turn.objects.get(delivery=delivery)
    rows = ExecutedAgentAction.objects.filter(run_id=str(turn.id))
    assert set(rows.values_list("trace_id", flat=True)) == {format(way[0].context.trace_id, "032x")}
    text = "".join(span.to_json() for trace in traces.values() for span in trace)
    for private in (mail["id"], mail["from"], mail["subject"], "maya"):
        assert private not in text


def test_a_chat_goes_on_in_its_trace_in_whichever_process_works_on_it(
    settings: Any, spans: InMemorySpanExporter
) -> None:
    turn_id = turn_of(mailbox().organisation, message="Hello", queued=True)
    telemetry._tracer.cache_clear()  # as in another process
    with scripted_model(settings, {ORCHESTRATOR: ["Hello."]}):
        [lease] = leases.claim_waiting(1)
        turns.work(lease, stream=False)

    assert tree(spans.get_finished_spans()) == {
        "accept message": "",
        "invoke_agent orchestrator": "accept message",
        "chat offline-rules": "invoke_agent orchestrator",
    }
    assert len({s.context.trace_id for s in spans.get_finished_spans() if s.context}) == 1
    assert {told(span)["remit.turn.id"] for span in spans.get_finished_spans()} == {str(turn_id)}


@pytest.mark.parametrize("ratio", ["0.0", "1.0"])
def test_a_trace_is_sampled_as_a_whole_or_not_at_all(
    settings: Any, spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch, ratio: str
) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", ratio)

    work(settings, *WORK)

    assert bool(spans.get_finished_spans()) == (ratio == "1.0")


def test_log_lines_name_the_trace_that_they_are_of(
    settings: Any, spans: InMemorySpanExporter
) -> None:
    def line() -> dict[str, Any]:
        record = logging.makeLogRecord({"name": "agents.tried", "msg": "tried.line"})
        found: dict[str, Any] = json.loads(LineFormatter().format(record))
        return found

    with telemetry.span("work", "delivery", of="a delivery"):
        inside = line()["trace_id"]
    with telemetry.span("work", "delivery", of="a delivery"):
        again = line()["trace_id"]

    [first, _] = spans.get_finished_spans()
    assert first.context is not None
    assert inside == again == format(first.context.trace_id, "032x")
    assert "trace_id" not in line()
    settings.TELEMETRY = False
    assert "trace_id" not in line()
