"""What slow senders and a burst of webhooks change for others (docs/operating.md).

    make bench NAME=door

A web process on a database of its own. `others` read a list with a token, one request after
another, alone, and while 300 connections send heads byte by byte and 200 MB of bodies come from
callers who are nobody, and while 5,000 signed webhooks come 64 at a time. A webhook that hears to
come later comes then. One line of JSON.
"""

import asyncio
import base64
import json
import os
import secrets
import socket
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.corpus import PROJECT  # after the path
from benchmarks.database import own_database

SLOW, BODIES, BODY_BYTES = 300, 200, 1_000_000
BURST, AT_ONCE = int(os.environ.get("BURST", "5000")), 64
ALONE = 200  # requests of others
SECRET = "whsec_" + base64.b64encode(b"benchmark-benchmark-benchmark-32").decode()
# A process of its own: the burst's work in this one must not count as waiting.
OTHERS = """
import json, select, sys, time, httpx
url, token, most = sys.argv[1], sys.argv[2], int(sys.argv[3])
took, wrong = [], 0

def may_go_on():
    return len(took) < most if most else not select.select([sys.stdin], [], [], 0)[0]

with httpx.Client(headers={"Authorization": f"Bearer {token}"}, timeout=60) as client:
    print("ready", flush=True)
    while may_go_on():
        started = time.perf_counter()
        try:
            wrong += client.get(url).status_code != 200
        except httpx.HTTPError:
            wrong += 1
        took.append((time.perf_counter() - started) * 1000)
        time.sleep(0.02)
print(json.dumps([took, wrong]))
"""


class Others:
    """Callers who do nothing unusual, `most` times or until they are asked how long they waited."""

    def __init__(self, url: str, token: str, *, most: int = 0) -> None:
        command = [sys.executable, "-c", OTHERS, url, token, str(most)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout
        assert self._process.stdout.readline() == "ready\n"

    def figures(self) -> dict[str, float]:
        took, wrong = json.loads(self._process.communicate("enough\n")[0])
        return {
            "requests": len(took),
            "not_200": wrong,
            "p50_ms": round(statistics.median(took), 1),
            "p99_ms": round(statistics.quantiles(took, n=100)[98], 1),
        }


def furnish() -> Any:
    """An organisation with the account that the webhooks are about."""
    from integrations.models import Account, Organisation

    organisation = Organisation.objects.create(slug="default", name="Benchmark")
    Account.objects.create(
        organisation=organisation,
        external_user_id="maya",
        source="gmail",
        address="maya@company.example",
    )
    return organisation


def main() -> int:
    with own_database() as folder:
        from integrations.models import Delivery, ServiceToken

        organisation = furnish()
        token = ServiceToken.issue(organisation=organisation, name="bench", scopes=["chat"])[1]
        with serving(folder) as (port, process):
            url = f"http://127.0.0.1:{port}/api/v1/conversations?user_id=maya"
            Others(url, token, most=20).figures()  # what the first requests load
            found: dict[str, Any] = {"alone": Others(url, token, most=ALONE).figures()}
            found["slow"] = besiege(port, process.pid, Others(url, token))
            found["burst"] = burst(port, Others(url, token))
            found["burst"]["stored"] = Delivery.objects.count()
    print(json.dumps(found))
    return 0


@contextmanager
def serving(folder: Path) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
        environment = {
            "REMIT_PROCESS": "web",
            "WEBHOOK_SECRETS": f"default={SECRET}",
            "TOKEN_RATE": "1000000/min",
            "LOG_LEVEL": "WARNING",
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "config.serve", "--fd", str(listener.fileno())],
            cwd=PROJECT,
            env=os.environ | environment,
            pass_fds=(listener.fileno(),),
        )
        try:
            yield listener.getsockname()[1], process
        finally:
            process.terminate()
            process.wait()


def besiege(port: int, web: int, others: Others) -> dict[str, Any]:
    """Slow heads and large bodies from eight addresses, until all that were slow are ended."""
    before = memory(web)
    slow = [connect(port, number) for number in range(SLOW)]
    for sender in slow:
        sender.sendall(b"POST /api/v1/chat HTTP/1.1\r\nHost: localhost\r\nX: ")
    with ThreadPoolExecutor(8) as pool:
        answers = Counter(pool.map(lambda number: send_body(port, number), range(BODIES)))
    most_memory = memory(web)
    started = time.monotonic()
    while slow:
        for sender in list(slow):
            try:
                sender.send(b"x")
            except OSError:
                slow.remove(sender)
                sender.close()
        time.sleep(1)
    return {
        "connections": SLOW,
        "ended_after_s": round(time.monotonic() - started, 1),
        "answers_to_bodies": {str(code): count for code, count in answers.items()},
        "memory_mb": round((most_memory - before) / 1e6, 1),
        "others": others.figures(),
    }


def connect(port: int, number: int) -> socket.socket:
    address = f"127.0.0.{2 + number % 8}"
    return socket.create_connection(("127.0.0.1", port), source_address=(address, 0), timeout=60)


def send_body(port: int, number: int) -> int:
    """The status of a large body of nobody; 0 where the connection was ended under it."""
    head = f"POST /api/v1/chat HTTP/1.1\r\nHost: localhost\r\nContent-Length: {BODY_BYTES}\r\n\r\n"
    with closing(connect(port, number)) as sender:
        with suppress(OSError):
            sender.sendall(head.encode())
            sender.sendall(b" " * BODY_BYTES)
        try:
            return int(sender.recv(1000).split()[1])
        except (OSError, IndexError):
            return 0


def memory(process: int) -> int:
    """Bytes that it has in memory."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def burst(port: int, others: Others) -> dict[str, Any]:
    started = time.monotonic()
    took, answers = asyncio.run(send_all(f"http://127.0.0.1:{port}/webhooks/item-created"))
    seconds = time.monotonic() - started
    return {
        "webhooks": BURST,
        "at_once": AT_ONCE,
        "seconds": round(seconds, 1),
        "answers": {str(code): count for code, count in sorted(answers.items())},
        "p50_ms": round(statistics.median(took), 1),
        "p99_ms": round(statistics.quantiles(took, n=100)[98], 1),
        "others": others.figures(),
    }


async def send_all(url: str) -> tuple[list[float], Counter[int]]:
    """How long each answer of 202 took, and how often each status was the answer; 0 where the
    connection was ended, as one that was idle too long is. Then it comes again under its id."""
    import httpx

    took: list[float] = []
    answers: Counter[int] = Counter()
    numbers = iter(range(BURST))

    async def work(client: "httpx.AsyncClient") -> None:
        for number in numbers:
            status = 0
            while status != 202:
                body, headers = signed(number, id=f"msg_{number}")
                started = time.perf_counter()
                try:
                    answer = await client.post(url, content=body, headers=headers)
                except httpx.TransportError:
                    answers[0] += 1
                    continue
                status = answer.status_code
                answers[status] += 1
                if status in (429, 503):
                    await asyncio.sleep(int(answer.headers["Retry-After"]))
                elif status == 202:
                    took.append((time.perf_counter() - started) * 1000)
                else:
                    raise AssertionError(answer.text)

    async with httpx.AsyncClient(timeout=120, limits=httpx.Limits(max_connections=None)) as client:
        await asyncio.gather(*(work(client) for _ in range(AT_ONCE)))
    return took, answers


def signed(number: int, *, id: str = "", text: str = "x" * 2000) -> tuple[bytes, dict[str, str]]:
    """A new mail's webhook; `id` is its own, else a new one."""
    from standardwebhooks.webhooks import Webhook

    at = datetime.now(UTC)
    body = json.dumps(
        {
            "user_id": "maya",
            "source": "gmail",
            "source_id": f"m{number}",
            "content_type": "email",
            "data": {"id": f"m{number}", "date": "2026-11-20T10:00:00Z", "body_text": text},
            "timestamp": "2026-11-20T10:00:00Z",
        }
    )
    id = id or f"msg_{number}_{secrets.token_hex(4)}"
    return body.encode(), {
        "webhook-id": id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(SECRET).sign(id, at, body),
        "content-type": "application/json",
    }


if __name__ == "__main__":
    sys.exit(main())
