"""Memory over time: what each program holds while mail, chats and pages keep coming.

    make bench NAME=soak

Web process, task cluster, `run_turns` and sealer work for MINUTES (10) on what the demo office
sends: mails, chats and pages, each one thing after another with PAUSE (0.2) seconds between, a mail
a second later still. Every EVERY seconds each program is asked how much
memory it and its children hold (PSS: what they share is counted once). The last line is JSON: for
each program the megabytes after a fifth of the time, at the end and at most, and by how many a line
through all of them grows an hour; and how much was handled meanwhile.
"""

import json
import os
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any, Self

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.database import own_database  # after the path
from benchmarks.faults import World, configure, kill

MINUTES = float(os.environ.get("MINUTES", "10"))
PAUSE = float(os.environ.get("PAUSE", "0.2"))
EVERY = 10.0
SIGNING_KEY = "YSBzaWduaW5nIGtleSBmb3IgYmVuY2htYXJrcywgMzI="
MAILS = cycle(("fyi", "newsletter", "question"))
CHATS = cycle(("What did John propose?", "What is on my calendar tomorrow?", "Who is Ines?"))


def memory(process: int) -> float:
    """Megabytes of it and all under it."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:  # a child that has just ended
        return 0.0
    own = next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
    return own / 1000 + sum(memory(int(child)) for child in children)


class Visitors:
    """They send mail, chat and look, each one thing after another, while the block lasts."""

    steps: tuple[str, ...] = ("mail", "chat", "look")

    def __init__(self, world: World, token: str) -> None:
        self.world, self.over = world, threading.Event()
        self.origin = f"http://127.0.0.1:{world.ports['web']}"
        self.headers = {"Authorization": f"Bearer {token}"}
        self.counts: Counter[str] = Counter()
        steps = (getattr(self, name) for name in self.steps)
        self.threads = [threading.Thread(target=self.repeat, args=(step,)) for step in steps]

    def __enter__(self) -> Self:
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        for thread in self.threads:
            thread.join()

    def repeat(self, step: Callable[[Any], None]) -> None:
        import httpx

        with httpx.Client(base_url=self.origin, headers=self.headers, timeout=120) as client:
            while not self.over.wait(PAUSE):
                try:
                    step(client)
                except httpx.HTTPError:
                    self.counts["not answered"] += 1

    def mail(self, client: Any) -> None:
        self.world.control("POST", f"/users/maya/deliver/{next(MAILS)}")
        self.counts["mails"] += 1
        self.over.wait(1)

    def chat(self, client: Any) -> None:
        asked = {"user_id": "maya", "message": next(CHATS)}
        self.counts[f"chat {client.post('/api/v1/chat', json=asked).status_code}"] += 1

    def look(self, client: Any) -> None:
        for page in ("/accounts/login/", "/api/v1/conversations?user_id=maya", "/ready"):
            self.counts[f"page {client.get(page).status_code}"] += 1
        asked = {"user_id": "maya", "query": "proposal"}
        self.counts[f"search {client.post('/api/v1/search', json=asked).status_code}"] += 1


def described(measured: list[tuple[float, float]]) -> dict[str, float]:
    """Of seconds and megabytes, without the first fifth: what is loaded then is no growth."""
    steady = measured[len(measured) // 5 :]
    line = statistics.linear_regression(*zip(*steady, strict=True))
    return {
        "from_mb": round(steady[0][1]),
        "to_mb": round(steady[-1][1]),
        "most_mb": round(max(size for _, size in steady)),
        "mb_an_hour": round(line.slope * 3600),
    }


def measure(world: World, programs: dict[str, int]) -> dict[str, Any]:
    from django.core.management import call_command

    from integrations.models import Delivery, Organisation, ServiceToken

    call_command("load_demo", verbosity=0)
    call_command("first_sync", verbosity=0)
    organisation = Organisation.objects.get(slug="default")
    token = ServiceToken.issue(organisation=organisation, name="soak", scopes=["chat"])[1]
    measured: dict[str, list[tuple[float, float]]] = {name: [] for name in programs}
    began = time.monotonic()
    with Visitors(world, token) as visitors:
        while (passed := time.monotonic() - began) < MINUTES * 60:
            for name, process in programs.items():
                measured[name].append((passed, memory(process)))
            time.sleep(EVERY)
    return {
        "minutes": MINUTES,
        **{name: described(found) for name, found in measured.items()},
        "handled": Delivery.objects.filter(finished_at__isnull=False).count(),
        "dead": Delivery.objects.filter(state="dead").count(),
        **visitors.counts,
    }


def main() -> int:
    ports = configure()
    os.environ |= {"OPERATOR_PASSWORD": "of the benchmark", "TASK_TIMEOUT_SECONDS": "300"}
    with own_database() as folder:
        world = World(folder, ports)
        try:
            with world.running():
                others = {
                    "turns": world.start("manage.py", "run_turns", REMIT_PROCESS="turns"),
                    "sealer": world.start(
                        *("manage.py", "seal_ledger"),
                        REMIT_PROCESS="sealer",
                        LEDGER_SIGNING_KEY=SIGNING_KEY,
                    ),
                }
                assert world.cluster
                programs = {"web": world.servers["web"].pid, "cluster": world.cluster.pid}
                try:
                    found = measure(
                        world, programs | {name: one.pid for name, one in others.items()}
                    )
                finally:
                    for one in others.values():
                        kill(one)
        except BaseException:
            print((folder / "faults.log").read_text(errors="replace")[-4000:], file=sys.stderr)
            raise
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
