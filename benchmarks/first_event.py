"""What a chat costs until its first event, its first text and its end, beside a bare view.

    make bench NAME=first_event          (CHATS=50 for fewer in each round)

The model answers at once and streams, so what is measured is all that is not the model. Ours: web
process and `manage.py run_turns` on a database of their own. The caller begins a turn
(`POST /api/v1/chat/stream`) and follows it (GET of its `stream_url`), which holds a token, limits
on who asks how much, instructions and tools of an agent, the user's rights and history, budgets,
the turn durable in rows before the model is asked, its answer durable before it ends, and numbered
events that any process can go on with. The bare view (benchmarks/bare_stream.py) has one request
and nothing of this: same interpreter, server and `openai` package, the user's message alone, no
database.

Rounds of both alternate, with 1, 8 and 32 chats side by side; each of these has one connection and
begins its next chat when it has the answer. Times in milliseconds from sending the first request.
`cpu_ms` is CPU of a chat, model and caller (who share the machine) not included. `machine_ms` is
the CPU of a fixed piece of work on all cores, `load` the load of the machine, both at the start and
at the end. The last line is JSON; the exit code is 1 if a chat had another answer than the model's.
"""

import asyncio
import json
import os
import statistics
import sys
import time
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.bare_stream import PATH  # after the path
from benchmarks.database import own_database
from benchmarks.inbound import Database, cpu_of, machine_ms
from benchmarks.waiting_turns import free_port, program, until
from config.local.ports import answers

CHATS = int(os.environ.get("CHATS", "200"))  # in each round
SIDE_BY_SIDE = (1, 8, 32)
ROUNDS, WARM = 3, 40
SAID = "All done."


class Took(NamedTuple):
    """Seconds since the first request was sent."""

    first_event: float
    first_text: float
    end: float


class Caller:
    """One connection, that is used again for the next request."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def send(self, method: str, path: str, *, token: str = "", body: Any = None) -> int:
        """Sends a request. The length of what comes after the answer's head, 0 for a stream."""
        content = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(content)}\r\n"
        if content:
            head += "Content-Type: application/json\r\n"
        if token:
            head += f"Authorization: Bearer {token}\r\n"
        self._writer.write(f"{head}\r\n".encode() + content)
        status, *lines = (await self._reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        length = dict(line.lower().split(": ", 1) for line in lines if line).get("content-length")
        if status.split()[1] not in ("200", "202"):
            raise SystemExit(f"{status} {await self._reader.read(2000)!r}")
        return int(length or 0)

    async def read(self, length: int) -> Any:
        return json.loads(await self._reader.readexactly(length))

    async def follow(self, begun: float) -> Took:
        """The times of a stream, which is read to its end."""
        first_event = first_text = end = 0.0
        type, said = "", ""
        while (line := await self._reader.readline()) != b"0\r\n":
            if not line:
                raise SystemExit("A stream broke off.")
            if line.startswith(b"event: "):
                type = line[7:].decode().strip()
                first_event = first_event or time.perf_counter() - begun
            elif line.startswith(b"data: ") and type == "text.delta":
                first_text = first_text or time.perf_counter() - begun
                said += json.loads(line[6:])["text"]
            elif line.startswith(b"data: ") and type == "turn.finished":
                end = time.perf_counter() - begun
        await self._reader.readline()
        if said != SAID or not end:
            raise SystemExit(f"A chat ended with “{said}”.")
        return Took(first_event, first_text, end)

    def close(self) -> None:
        self._writer.close()


class Side:
    """One of the two, with what its chats took by how many went on side by side."""

    def __init__(self, port: int, token: str, processes: Mapping[str, int]) -> None:
        self.port, self.token, self.processes = port, token, processes
        self.took: dict[int, list[Took]] = {}
        self.seconds: dict[int, float] = dict.fromkeys(SIDE_BY_SIDE, 0.0)
        self.cpu: dict[int, dict[str, float]] = {}

    async def chat(self, caller: Caller) -> Took:
        begun = time.perf_counter()
        if self.token:
            body = {"user_id": "maya", "message": "Hello"}
            length = await caller.send("POST", "/api/v1/chat/stream", token=self.token, body=body)
            await caller.send("GET", (await caller.read(length))["stream_url"])
        else:
            await caller.send("POST", PATH, body={"message": "Hello"})
        return await caller.follow(begun)

    async def run(self, count: int, side_by_side: int) -> list[Took]:
        left = iter(range(count))

        async def go_on() -> list[Took]:
            caller = Caller(*await asyncio.open_connection("127.0.0.1", self.port))
            took = [await self.chat(caller) for _ in left]
            caller.close()
            return took

        return list(chain(*await asyncio.gather(*(go_on() for _ in range(side_by_side)))))

    def measure(self, side_by_side: int) -> None:
        before, begun = self._used(), time.perf_counter()
        took = asyncio.run(self.run(CHATS, side_by_side))
        self.seconds[side_by_side] += time.perf_counter() - begun
        self.took.setdefault(side_by_side, []).extend(took)
        cpu = self.cpu.setdefault(side_by_side, dict.fromkeys(self.processes, 0.0))
        for name, used in self._used().items():
            cpu[name] += used - before[name]

    def _used(self) -> dict[str, float]:
        return {name: cpu_of(process) for name, process in self.processes.items()}

    def found(self, side_by_side: int) -> dict[str, Any]:
        took = self.took[side_by_side]
        cpu = {name: used / len(took) * 1000 for name, used in self.cpu[side_by_side].items()}
        return {
            **{name: spread(getattr(one, name) for one in took) for name in Took._fields},
            "chats_a_second": round(len(took) / self.seconds[side_by_side], 1),
            "cpu_ms": {name: round(used, 1) for name, used in cpu.items()},
            "cpu_ms_in_all": round(sum(cpu.values()), 1),
        }


def spread(times: Iterable[float]) -> dict[str, float]:
    cuts = statistics.quantiles(times, n=20, method="inclusive")
    return {"p50": round(cuts[9] * 1000, 1), "p95": round(cuts[18] * 1000, 1)}


def ratios(ours: dict[str, Any], bare: dict[str, Any]) -> dict[str, float]:
    found = {name: ours[name]["p50"] / bare[name]["p50"] for name in Took._fields}
    for name in ("chats_a_second", "cpu_ms_in_all"):
        found[name] = ours[name] / bare[name]
    return {name: round(value, 2) for name, value in found.items()}


def token_of() -> str:
    from integrations.models import Account, Organisation, ServiceToken

    organisation = Organisation.objects.create(slug="bench", name="Bench")
    Account.objects.create(organisation=organisation, external_user_id="maya", source="gmail")
    return ServiceToken.issue(organisation=organisation, name="bench", scopes=["chat"])[1]


def compare(ours: Side, bare: Side) -> dict[str, Any]:
    for side in (ours, bare):
        asyncio.run(side.run(WARM, max(SIDE_BY_SIDE)))
    for side_by_side in SIDE_BY_SIDE:
        for _ in range(ROUNDS):
            for side in (ours, bare):
                side.measure(side_by_side)
    found = {}
    for count in SIDE_BY_SIDE:
        both = ours.found(count), bare.found(count)
        found[str(count)] = {"ours": both[0], "bare": both[1], "ours_of_bare": ratios(*both)}
    return found


def main() -> None:
    model_port, web_port, bare_port = free_port(), free_port(), free_port()
    os.environ |= {
        "OPENAI_BASE_URL": f"http://127.0.0.1:{model_port}/v1",
        "OPENAI_API_KEY": "bench",
        "CHAT_MODEL": "reply-after-0",
        "TOKEN_RATE": "1000000/min",
        # One machine plays all callers.
        **dict.fromkeys(("ADDRESS_RATE", "ADDRESS_BURST"), "1000000"),
        "LOG_LEVEL": "WARNING",
    }
    machine, load = [machine_ms()], [os.getloadavg()[0]]
    with own_database() as folder:
        log = folder / "log"
        serve = ("-m", "config.serve", "--port", str(web_port))
        try:
            with (
                program(log, "benchmarks/quick_model.py", str(model_port)),
                program(log, *serve, REMIT_PROCESS="web") as web,
                program(log, "manage.py", "run_turns", REMIT_PROCESS="turns") as turns,
                program(log, "benchmarks/bare_stream.py", str(bare_port)) as view,
            ):
                until(lambda: all(map(answers, (model_port, web_port, bare_port))), "the servers")
                database = Database().process
                processes = {"web": web.pid, "turns": turns.pid, "database": database}
                found = compare(
                    Side(web_port, token_of(), processes), Side(bare_port, "", {"web": view.pid})
                )
        finally:
            print(log.read_text(errors="replace")[-4000:], file=sys.stderr)
    machine.append(machine_ms())
    load.append(os.getloadavg()[0])
    found["machine_ms"], found["load"] = [round(one) for one in machine], load
    print(json.dumps(found))


if __name__ == "__main__":
    main()
