"""The trace of a mail over Remit's programs, sent by the real exporter to a real HTTP server."""

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from agents.models import Turn
from config.local import ports
from integrations.models import Delivery
from tests.office import SECRET, Office, until
from tests.otlp_receiver import Span, running_receiver
from tests.program import program
from tests.sandbox_server import running_sandbox

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
]


@contextmanager
def programs_of(office: Office, folder: Path, *, endpoint: str) -> Iterator[Office]:
    """Web and cluster, which send their spans to `endpoint`, with a copy of the office's sandbox
    that sends its webhooks to that web process."""
    rooms, port = folder / "copied.sqlite", ports.pick()
    with (
        closing(sqlite3.connect(folder / "sandbox.sqlite")) as before,
        closing(sqlite3.connect(rooms)) as copy,
    ):
        before.backup(copy)
    with ExitStack() as stack:
        origin = f"http://127.0.0.1:{port}"
        sandbox = stack.enter_context(
            running_sandbox(
                state=str(rooms), webhook_url=f"{origin}/webhooks", webhook_secret=SECRET
            )
        )
        found = replace(office, origin=origin, sandbox=sandbox)
        variables = found.environment() | {
            "TELEMETRY": "1",
            "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
            "OTEL_BSP_SCHEDULE_DELAY": "200",  # milliseconds
            "OTEL_METRIC_EXPORT_INTERVAL": "200",
        }
        for name, command in {
            "web": ("-m", "config.serve", "--port", str(port)),
            "cluster": ("manage.py", "qcluster"),
        }.items():
            log = folder / f"{name}.log"
            stack.enter_context(program(*command, log=log, **variables, REMIT_PROCESS=name))
        until(lambda: is_ready(origin), seconds=120)
        yield found


def is_ready(origin: str) -> bool:
    try:
        return httpx.get(f"{origin}/ready").status_code == 200
    except httpx.TransportError:
        return False


def is_done() -> bool:
    return not (
        Delivery.objects.filter(finished_at=None).exists()
        or Turn.objects.exclude(state="finished").exists()
    )


def tree(spans: list[Span]) -> set[tuple[str, str, str]]:
    """Of each span its process, its name, and the name of the one that it is below."""
    names = {span.span_id: span.name for span in spans} | {"": ""}
    return {(span.process, span.name, names[span.parent_id]) for span in spans}


def test_the_trace_of_a_mail_arrives_whole_from_web_and_cluster(
    office: Office, tmp_path: Path
) -> None:
    with (
        running_receiver() as receiver,
        programs_of(office, tmp_path, endpoint=receiver.endpoint) as running,
    ):
        mail = running.deliver("question")
        until(lambda: Delivery.objects.filter(source_id=mail["id"]).exists())
        until(is_done, seconds=120)
        delivery = Delivery.objects.get(source_id=mail["id"], kind="created")

        def way() -> list[Span]:
            found = list(receiver.spans)
            first = [
                span.trace_id
                for span in found
                if span.attributes.get("remit.delivery.id") == str(delivery.id)
            ]
            return [span for span in found if span.trace_id in first]

        until(lambda: {"accept delivery", "work delivery"} <= {span.name for span in way()})
        trace = way()
        own, models = "remit.operation.duration", "gen_ai.client.operation.duration"
        wanted = {
            ("web", own, "accept"),
            *(("cluster", own, one) for one in ("work", "invoke_agent", "execute_action")),
            *(("cluster", models, one) for one in ("chat", "embeddings")),
            *(("cluster", "gen_ai.client.token.usage", one) for one in ("chat", "embeddings")),
        }
        until(lambda: wanted <= {(one, *told) for one, _, *told in list(receiver.measured)})

    assert len({span.trace_id for span in trace}) == 1
    agent = "invoke_agent mail_reader"
    assert tree(trace) == {
        ("web", "accept delivery", ""),
        ("cluster", "work delivery", "accept delivery"),
        ("cluster", "chat offline-rules", "work delivery"),  # it is summed up
        ("cluster", "embeddings offline-hash-384", "work delivery"),
        ("cluster", agent, "work delivery"),
        ("cluster", "chat offline-rules", agent),
        *(("cluster", f"execute_tool {name}", agent) for name in ("classify", "draft")),
        ("cluster", "execute_action of a turn", "execute_tool classify"),
        ("cluster", "execute_action of a turn", "execute_tool draft"),
        ("cluster", "decide action", "execute_action of a turn"),
        ("cluster", "call_provider data_service", "execute_action of a turn"),
    }
    text = repr(receiver.spans)
    for private in (mail["id"], mail["from"], mail["subject"], "maya"):
        assert private not in text


@pytest.mark.parametrize("how", ["down", "hangs"])
def test_mails_are_worked_through_while_nobody_takes_the_spans(
    office: Office, tmp_path: Path, how: str
) -> None:
    """With the receiver away, and with one that takes every request and answers none."""
    with ExitStack() as stack:
        receiver = stack.enter_context(running_receiver())
        receiver.may_answer.clear()
        closed = f"http://127.0.0.1:{ports.pick()}"
        endpoint = receiver.endpoint if how == "hangs" else closed
        running = stack.enter_context(programs_of(office, tmp_path, endpoint=endpoint))
        mails = [running.deliver("newsletter")["id"] for _ in range(3)]
        until(is_done, seconds=120)
        until(lambda: receiver.requests >= 2 or how == "down")

        effects = [call for call in running.calls() if call["performed"]]
        assert receiver.spans == []

    created = Delivery.objects.filter(kind="created")
    assert sorted(created.values_list("source_id", "state")) == sorted(
        (id, "processed") for id in mails
    )
    assert len(effects) == len({call["idempotency_key"] for call in effects}) == 6
