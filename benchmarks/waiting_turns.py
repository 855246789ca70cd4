"""A thousand chat turns wait for a slow model in one process of the product.

    make bench NAME=waiting_turns        (TURNS=200 for fewer, SECONDS=60 for a slower model)

Web server, `manage.py run_turns` and the model are processes of their own on a database of their
own. The turns are queued in one transaction and ask a model that streams its answer after 5
seconds (SECONDS). Meanwhile the web server is asked for its health, and users begin turns on a
model that answers at once: how long the request takes, and how long until the first event. The
last line is JSON; times in seconds; the exit code is 1 if not all turns finished.
"""

import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.database import own_database  # after the path
from config.local.ports import answers

PROJECT = Path(__file__).resolve().parent.parent
TURNS = int(os.environ.get("TURNS", "1000"))
ROOM = 50  # threads for the turns that users begin meanwhile
SLOW_SECONDS = int(os.environ.get("SECONDS", "5"))
QUICK = "Answer at once."
PATIENCE_SECONDS = 300


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def until(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"Waited too long for {what}.")
        time.sleep(0.05)


@contextmanager
def program(log: Path, *command: str, **variables: str) -> Iterator["subprocess.Popen[bytes]"]:
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=PROJECT,
            env=os.environ | variables,
            stdout=output,
            stderr=output,
        )
        try:
            yield process
        finally:
            process.terminate()
            process.wait()


class Watch:
    """What the process of the turns held at most, by the operating system and PostgreSQL."""

    def __init__(self, pid: int) -> None:
        self.pid, self.threads, self.connections = pid, 0, 0

    def status(self, name: str) -> int:
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith(f"{name}:")).split()[1])

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def look(self) -> None:
        from django.db import connection

        self.threads = max(self.threads, self.status("Threads"))
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'remit turns'"
            )
            self.connections = max(self.connections, cursor.fetchone()[0])


class Probe:
    """Asks again and again, in a thread, until it is stopped."""

    def __init__(self, ask: Callable[[], None]) -> None:
        self._stop, self._ask = threading.Event(), ask
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> "Probe":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(0.1):
            self._ask()


class Users:
    """Those who use the product meanwhile."""

    def __init__(self, origin: str, token: str) -> None:
        import httpx

        self.client = httpx.Client(base_url=origin, timeout=PATIENCE_SECONDS)
        self.headers = {"Authorization": f"Bearer {token}"}
        self.health: list[float] = []
        self.started: list[float] = []
        self.first_event: list[float] = []

    def ask_health(self) -> None:
        begun = time.perf_counter()
        self.client.get("/health").raise_for_status()
        self.health.append(time.perf_counter() - begun)

    def chat(self) -> None:
        begun = time.perf_counter()
        body = {"user_id": "maya", "message": QUICK}
        answer = self.client.post("/api/v1/chat/stream", json=body, headers=self.headers)
        answer.raise_for_status()
        self.started.append(time.perf_counter() - begun)
        with self.client.stream("GET", answer.json()["stream_url"]) as events:
            if any(line.startswith("event:") for line in events.iter_lines()):
                self.first_event.append(time.perf_counter() - begun)


def spread(times: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(times, n=20, method="inclusive")
    return {"n": len(times), "p50": cuts[9], "p95": cuts[18], "max": max(times)}


def queue(organisation_id: UUID, count: int) -> None:
    """So many turns, each in a conversation of its own, that begin to wait at one moment."""
    from django.db import transaction

    from agents.turns import opening

    with transaction.atomic():
        for number in range(count):
            opening.start_turn(
                organisation_id=organisation_id,
                external_user_id="maya",
                conversation_id=None,
                message=f"Hello {number}",
                decisions=(),
                principal="benchmark",
                queued=True,
            )


def waited_at_once(model: str) -> int:
    """How many requests the model was thinking about at one moment, at most."""
    import httpx

    return int(httpx.get(f"{model}/thinking").json()["most"])


def measure(origin: str, model: str, turns: "subprocess.Popen[bytes]") -> dict[str, Any]:
    from agents.models import Turn
    from integrations.models import Account, Organisation, ServiceToken

    organisation, _ = Organisation.objects.get_or_create(slug="bench", name="Bench")
    Account.objects.create(organisation=organisation, external_user_id="maya", source="gmail")
    token = ServiceToken.issue(organisation=organisation, name="bench", scopes=["chat"])[1]
    watch, users = Watch(turns.pid), Users(origin, token)
    for _ in range(5):
        users.chat()
    alone = [users.started, users.first_event]
    users.started, users.first_event = [], []
    idle, cpu = watch.status("VmRSS"), watch.cpu_seconds()
    waiting = Turn.objects.filter(conversation__title__startswith="Hello")
    queue(organisation.id, TURNS)
    begun = time.perf_counter()
    with Probe(users.ask_health), Probe(users.chat):

        def done() -> bool:
            watch.look()
            return not waiting.filter(state__in=["queued", "running"]).exists()

        until(done, "the turns")
        seconds = time.perf_counter() - begun
    ended = waiting.filter(state="finished", ending="reply").count()
    return {
        "turns": TURNS,
        "finished": ended,
        "waited_at_once": waited_at_once(model),
        "seconds": seconds,
        "least_possible_seconds": SLOW_SECONDS,
        "cpu_seconds": watch.cpu_seconds() - cpu,
        "memory_idle_mib": idle / 1024,
        "memory_peak_mib": watch.status("VmHWM") / 1024,
        "threads": watch.threads,
        "database_connections": watch.connections,
        "health": spread(users.health),
        "chat_started": spread(users.started),
        "chat_first_event": spread(users.first_event),
        "chat_started_alone": spread(alone[0]),
        "chat_first_event_alone": spread(alone[1]),
    }


def main() -> int:
    model_port, web_port = free_port(), free_port()
    os.environ |= {
        "OPENAI_BASE_URL": f"http://127.0.0.1:{model_port}/v1",
        "OPENAI_API_KEY": "bench",
        "CHAT_MODEL": f"reply-after-{SLOW_SECONDS}",
        "TURN_THREADS": str(TURNS + ROOM),
        "MODEL_TIMEOUT_SECONDS": str(SLOW_SECONDS + 60),
        "TOKEN_RATE": "1000000/min",
        # One machine plays all callers, and more of them than ever should wait.
        **dict.fromkeys(("ADDRESS_RATE", "ADDRESS_BURST", "TURNS_WAITING_MOST"), "1000000"),
        **dict.fromkeys(("WEB_CONNECTIONS", "WEB_CONNECTIONS_OF_ADDRESS"), "5000"),
        "LOG_LEVEL": "WARNING",
    }
    web = ("-m", "config.serve", "--port", str(web_port))
    with own_database() as folder:
        log = folder / "log"
        try:
            with (
                program(log, "benchmarks/quick_model.py", str(model_port)),
                program(log, *web, REMIT_PROCESS="web"),
                program(log, "manage.py", "run_turns", REMIT_PROCESS="turns") as turns,
            ):
                until(lambda: answers(model_port) and answers(web_port), "the servers")
                origin, model = (f"http://127.0.0.1:{port}" for port in (web_port, model_port))
                found = measure(origin, model, turns)
        finally:
            print(log.read_text(errors="replace")[-4000:], file=sys.stderr)
    print(json.dumps(found))
    return 0 if found["finished"] == TURNS else 1


if __name__ == "__main__":
    sys.exit(main())
