"""What a thousand event streams cost the web process that holds them, while nothing happens.

    make bench NAME=streams              (STREAMS=200 for fewer)

A web process on a database of its own. Each stream is of a turn of its own, which nobody works on,
and is open until each got two heartbeats. Meanwhile the process is asked for its health. The last
line is JSON; the exit code is 1 if a stream ended.
"""

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.database import own_database  # after the path
from benchmarks.waiting_turns import Watch, free_port, program, queue, spread, until
from config.local.ports import answers

STREAMS = int(os.environ.get("STREAMS", "1000"))
FIRST = 20  # are opened and closed before, so that what is loaded once is loaded
BEATS = 2


async def follow(port: int, path: str, open_ones: asyncio.Semaphore, *, beats: int) -> bool:
    """Whether the stream was still open after so many heartbeats."""
    async with open_ones:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200 "):
        raise SystemExit(head.decode())
    while beats and (line := await reader.readline()):
        beats -= line.startswith(b":")
    writer.close()
    return not beats


async def follow_all(port: int, paths: list[str], *, beats: int) -> int:
    """How many of these streams stayed open."""
    open_ones = asyncio.Semaphore(50)
    return sum(await asyncio.gather(*(follow(port, p, open_ones, beats=beats) for p in paths)))


async def ask_health(port: int, took: list[float]) -> None:
    import httpx

    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        while True:
            begun = time.perf_counter()
            (await client.get("/health")).raise_for_status()
            took.append(time.perf_counter() - begun)
            await asyncio.sleep(0.1)


async def keep_open(port: int, paths: list[str], watch: Watch) -> dict[str, Any]:
    await follow_all(port, paths[:FIRST], beats=0)
    before, cpu, begun = watch.status("VmRSS"), watch.cpu_seconds(), time.perf_counter()
    took: list[float] = []
    asking = asyncio.create_task(ask_health(port, took))
    kept = await follow_all(port, paths, beats=BEATS)
    asking.cancel()
    at_most = watch.status("VmHWM")
    return {
        "streams": len(paths),
        "kept_open": kept,
        "seconds": time.perf_counter() - begun,
        "cpu_seconds": watch.cpu_seconds() - cpu,
        "memory_before_mib": before / 1024,
        "memory_at_most_mib": at_most / 1024,
        "kib_each": (at_most - before) / len(paths),
        "threads": watch.status("Threads"),
        "health": spread(took),
    }


def main() -> int:
    port = free_port()
    os.environ |= {
        **dict.fromkeys(("ADDRESS_RATE", "ADDRESS_BURST", "TURNS_WAITING_MOST"), "1000000"),
        **dict.fromkeys(("WEB_CONNECTIONS", "WEB_CONNECTIONS_OF_ADDRESS"), "5000"),
        "LOG_LEVEL": "WARNING",
    }
    with own_database() as folder:
        from django.core import signing

        from agents.models import Turn
        from agents.turns.streams import SALT
        from integrations.models import Account, Organisation

        organisation = Organisation.objects.create(slug="bench", name="Bench")
        Account.objects.create(organisation=organisation, external_user_id="maya", source="gmail")
        queue(organisation.pk, STREAMS)
        paths = [
            f"/api/v1/turns/{id}/events?token={signing.dumps([str(id), 'token:1'], salt=SALT)}"
            for id in Turn.objects.values_list("pk", flat=True)
        ]
        log = folder / "log"
        with program(
            log, "-m", "config.serve", "--port", str(port), REMIT_PROCESS="web"
        ) as process:
            until(lambda: answers(port), "the web process")
            found = asyncio.run(keep_open(port, paths, Watch(process.pid)))
    print(json.dumps(found))
    return 0 if found["kept_open"] == STREAMS else 1


if __name__ == "__main__":
    sys.exit(main())
