"""How many webhooks a web process takes in, beside a bare Django view with one INSERT.

    make bench NAME=intake

Signed webhooks of new mail (2 kB) come over AT_ONCE kept connections to each in turns, ROUNDS
times, from a process of its own; both are stored in the same database. Ours checks signature, age
and shape, finds organisation, user and account, and tells an own action from news; it goes through
all the door's limits, which are set out of reach. benchmarks/bare_view.py only stores.

`of_bare` is ours of the bare view's by the second, `of_bare_cpu` by the CPU of web process and
database together. Behind the webhooks nobody works, so what is measured is the door alone. What is
beyond its limits is benchmarks/door.py. The last line is JSON.
"""

import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.bare_view import TABLE  # after the path
from benchmarks.corpus import PROJECT
from benchmarks.database import own_database
from benchmarks.door import SECRET, furnish, signed
from benchmarks.goals import tell
from benchmarks.inbound import cpu_of

WEBHOOKS, ROUNDS, AT_ONCE, WARM = 1000, 7, 16, 300
OUT_OF_REACH = "1000000000"
GOAL = 0.7


@contextmanager
def serving(*command: str) -> Iterator[tuple[int, int]]:
    """The port of a web process, and its id."""
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
        environment = {
            "REMIT_PROCESS": "web",
            "WEBHOOK_SECRETS": f"default={SECRET}",
            "LOG_LEVEL": "WARNING",
            **dict.fromkeys(("ADDRESS_RATE", "ADDRESS_BURST"), OUT_OF_REACH),
            "DELIVERIES_WAITING_MOST": OUT_OF_REACH,
        }
        process = subprocess.Popen(
            [sys.executable, *command, str(listener.fileno())],
            cwd=PROJECT,
            env=os.environ | environment,
            pass_fds=(listener.fileno(),),
        )
        try:
            yield listener.getsockname()[1], process.pid
        finally:
            process.terminate()
            process.wait()


def requests(port: int, numbers: range) -> list[bytes]:
    found = []
    for number in numbers:
        body, headers = signed(number)
        head = {"host": f"127.0.0.1:{port}", "content-length": str(len(body)), **headers}
        lines = [f"{name}: {value}" for name, value in head.items()]
        start = "POST /webhooks/item-created HTTP/1.1"
        found.append("\r\n".join([start, *lines, "", ""]).encode() + body)
    return found


def send(port: int, wanted: Sequence[bytes]) -> float:
    """The seconds that it takes until each was answered with 202."""
    return asyncio.run(_send(port, wanted))


async def _send(port: int, wanted: Sequence[bytes]) -> float:
    waiting = iter(wanted)

    async def work() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for one in waiting:
            writer.write(one)
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 202 "), head
            if b"transfer-encoding: chunked" in head.lower():
                await reader.readuntil(b"0\r\n\r\n")
            elif length := head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]:
                await reader.readexactly(int(length))
        writer.close()

    began = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    return time.perf_counter() - began


def main() -> int:
    with own_database() as folder:
        from django.db import connection

        from integrations.models import Delivery

        furnish()
        with connection.cursor() as cursor:
            cursor.execute(TABLE)
            cursor.execute("SHOW data_directory")
            [data] = cursor.fetchone() or [folder]
        database = int((Path(data) / "postmaster.pid").read_text().split()[0])
        per_second: dict[str, list[float]] = {"ours": [], "bare": []}
        cpu_ms: dict[str, list[float]] = {"ours": [], "bare": []}
        sent = 0
        with (
            ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
            serving("-m", "config.serve", "--fd") as ours,
            serving("benchmarks/bare_view.py") as bare,
        ):
            for turn in range(ROUNDS + 1):
                for name, (port, process) in {"ours": ours, "bare": bare}.items():
                    many = WEBHOOKS if turn else WARM
                    wanted = requests(port, range(sent, sent + many))
                    sent += many
                    before = cpu_of(process) + cpu_of(database)
                    seconds = pool.submit(send, port, wanted).result()
                    used = cpu_of(process) + cpu_of(database) - before
                    if turn:
                        per_second[name].append(many / seconds)
                        cpu_ms[name].append(used * 1000 / many)
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM bare_delivery")
            [stored] = cursor.fetchone() or [0]
        expected = WARM + ROUNDS * WEBHOOKS
        assert (stored, Delivery.objects.count()) == (expected, expected)
    rates = {name: statistics.median(each) for name, each in per_second.items()}
    used_ms = {name: statistics.median(each) for name, each in cpu_ms.items()}
    of_bare = rates["ours"] / rates["bare"]
    goals = tell({f"at least {GOAL} of the bare view": of_bare >= GOAL})
    print(
        json.dumps(
            {
                "per_second": {name: round(each, 1) for name, each in rates.items()},
                "cpu_ms": {name: round(each, 2) for name, each in used_ms.items()},
                "of_bare": round(of_bare, 3),
                "of_bare_cpu": round(used_ms["bare"] / used_ms["ours"], 3),
                "goals": goals,
            }
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
