"""Programs that have to stop (SIGTERM) in the middle of their work end in time, and what they were
at goes on elsewhere. How turns are handed on is tried in tests/agents/turns/test_runner.py,
and a kill, which is what a stop that takes too long becomes, in test_kills.py."""

import json
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import settings as configured
from django.core import signing

from agents.models import Turn
from agents.turns.streams import SALT
from config.local.ports import pick
from integrations.models import Delivery
from tests.agents.turns.test_runner import running
from tests.agents.waiting import ORCHESTRATOR, turn_of
from tests.model_server import Paused, calls
from tests.office import Office, until
from tests.program import program
from tests.stories.steps import scripted

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
]
STOP_SECONDS = 30  # what deploy/compose.yaml and the systemd units wait
INGEST = "You summarise an item and list its entities."


@contextmanager
def web(log: Path) -> Iterator[tuple["subprocess.Popen[bytes]", str]]:
    port = pick()
    with program("-m", "config.serve", "--port", str(port), log=log, REMIT_RUN="1") as process:
        origin = f"http://127.0.0.1:{port}"

        def answers() -> bool:
            try:
                return httpx.get(f"{origin}/health").is_success
            except httpx.TransportError:
                return False

        until(answers, seconds=120)
        yield process, origin


def follow(origin: str, turn_id: Any, *, after: int = 0) -> Iterator[tuple[int, str, Any]]:
    """The events of a turn until the stream ends, by whichever side."""
    token = signing.dumps([str(turn_id), "token:1"], salt=SALT)
    url = f"{origin}/api/v1/turns/{turn_id}/events?token={token}"
    headers = {"Last-Event-ID": str(after)} if after else {}
    event: dict[str, str] = {}
    try:
        with httpx.stream("GET", url, headers=headers, timeout=60) as response:
            for line in response.iter_lines():
                name, _, value = line.partition(": ")
                event |= {name: value} if name else {}
                if not line and "id" in event:
                    yield int(event["id"]), event["event"], json.loads(event["data"])
                    event = {}
    except httpx.RemoteProtocolError:
        return


def test_a_stream_of_a_web_process_that_stops_goes_on_at_another_where_it_was(
    office: Office, tmp_path: Path
) -> None:
    turn_id, go_on, log = turn_of(office.organisation), threading.Event(), tmp_path / "web.log"
    first: list[tuple[int, str, Any]] = []
    look = calls(("retrieve_context", {"query": "agenda"}))
    with (
        scripted({ORCHESTRATOR: [look, Paused("Half of it.", go_on)]}),
        web(log) as (process, origin),
        web(tmp_path / "other.log") as (_, other),
        running(),  # when both are up: a model is waited for only so long
    ):
        try:
            for event in follow(origin, turn_id):
                first.append(event)
                process.send_signal(signal.SIGTERM)  # while the stream is open
            assert process.wait(STOP_SECONDS) == -signal.SIGTERM, log.read_text()
        finally:
            go_on.set()
        rest = list(follow(other, turn_id, after=first[-1][0]))

    assert "turn.finished" not in {type for _, type, _ in first}
    assert [number for number, _, _ in [*first, *rest]] == list(range(1, len(first + rest) + 1))
    assert rest[-1][1] == "turn.finished"
    assert rest[-1][2]["answer"]["response"] == "Half of it."


def test_a_cluster_that_stops_finishes_what_it_is_at_and_takes_nothing_more(
    office: Office, tmp_path: Path
) -> None:
    """Deliveries that it does not take stay in the queue, for others."""
    at_work, go_on, log = threading.Semaphore(0), threading.Event(), tmp_path / "cluster.log"

    def slow(_: dict[str, Any]) -> dict[str, Any]:
        at_work.release()
        go_on.wait()
        return {"summary": "A mail.", "entities": []}

    for _ in range(4):
        office.deliver("newsletter")
    with scripted({INGEST: slow}):
        variables = {
            "REMIT_PROCESS": "cluster",
            "TASK_WORKERS": "1",
            "DELIVERY_THREADS": "2",
            "OPENAI_BASE_URL": configured.OPENAI_BASE_URL,
            "OPENAI_API_KEY": "scripted",
            "DATA_SERVICES": f"default={office.sandbox.url}",
            "DATA_SERVICE_KEYS": f"default={office.sandbox.key}",
            "LEDGER_STOP_MINUTES": str(configured.LEDGER_STOP_MINUTES),
        }
        try:
            with program("manage.py", "qcluster", log=log, **variables) as process:
                for _ in range(2):
                    assert at_work.acquire(timeout=120), log.read_text()
                said = log.read_text().count('"place": "cluster:')
                process.send_signal(signal.SIGTERM)
                # It says that it stops, and then its workers can see it and say so, too.
                until(lambda: log.read_text().count('"place": "cluster:') >= said + 2)
                go_on.set()
                assert process.wait(STOP_SECONDS) == 0, log.read_text()
        finally:
            go_on.set()

    states = Delivery.objects.filter(kind="created").values_list("state", flat=True)
    assert sorted(states) == ["processed", "processed", "queued", "queued"]
    assert list(Turn.objects.values_list("state", flat=True)) == ["finished"] * 2
    office.drain()
    assert set(states.all()) == {"processed"}
    effects = [call for call in office.calls() if call["performed"] and not call["replayed"]]
    assert len(effects) == len({call["idempotency_key"] for call in effects}) == 8
