"""A day without the data service, without the model, and without the database, in turn, while mail
arrives. Then all of it must be handled, each once, with no dead letter and without a hand.

    make bench NAME=outage

MAILS (20) arrive before each outage, and as many during it where they can. Everything runs as
processes of its own, over HTTP; what is away is killed. The day passes in steps: the times in the
database are moved back, and the sweep that the schedule runs every minute runs after each. The
last line is JSON: for each outage, how often anything was tried in that day, and how long after
its end, by the compressed clock and by the real one, the last mail was handled.
"""

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.database import own_database  # after the path
from benchmarks.faults import World, configure, until
from config.local.ports import answers

MAILS = int(os.environ.get("MAILS", "20"))
DAY, STEP = timedelta(hours=23), timedelta(minutes=30)


def pass_time(by: timedelta) -> None:
    """Move every time back that something waits for."""
    from django.db.models import F

    from agents.models import Turn
    from integrations.models import Delivery, Outage, Upstream

    Delivery.objects.update(
        received_at=F("received_at") - by,
        lease_expires_at=F("lease_expires_at") - by,
        waiting_since=F("waiting_since") - by,
    )
    Turn.objects.update(lease_expires_at=F("lease_expires_at") - by)
    Outage.objects.update(since=F("since") - by, due_at=F("due_at") - by)
    Upstream.objects.update(
        opened_until=F("opened_until") - by, blocked_until=F("blocked_until") - by
    )


def is_quiet() -> bool:
    """Whether the cluster has nothing at work and nothing queued."""
    from django_q.models import OrmQ

    from integrations.models import Delivery

    running = Delivery.objects.filter(state=Delivery.State.RUNNING)
    waiting = Delivery.objects.waiting()
    return not (running.exists() or waiting.exists() or OrmQ.objects.exists())


def step(by: timedelta) -> None:
    from agents.tasks import sweep

    pass_time(by)
    sweep()
    until(is_quiet, "the cluster")


def arrive(world: World, count: int) -> None:
    for _ in range(count):
        world.control("POST", "/users/maya/deliver/fyi")


@contextmanager
def without(world: World, what: str) -> Iterator[None]:
    """A day without it."""
    from config.local import embedded

    if what == "database":
        from django.db import connections

        connections.close_all()
        embedded.stop(world.folder)
        arrive(world, MAILS)
        time.sleep(10)  # for processes to meet it
        assert embedded.start(world.folder) == os.environ["DATABASE_URL"]
        pass_time(DAY)
        yield
        return
    world.end(what)
    if what == "model":
        arrive(world, MAILS)
    for _ in range(DAY // STEP):
        step(STEP)
    yield
    world.begin(what)
    until(lambda: answers(world.ports[what]), what)


def lose(world: World, what: str) -> dict[str, Any]:
    from django.db.models import Sum

    from integrations.models import Delivery

    arrived = Delivery.objects.filter(kind="created")
    before = arrived.count()
    expected = before + MAILS * (1 if what == "sandbox" else 2)
    tried = arrived.aggregate(sum=Sum("attempts"))["sum"] or 0
    arrive(world, MAILS)
    with without(world, what):
        waiting = arrived.filter(finished_at=None).count()
    began, passed = time.monotonic(), timedelta()
    while arrived.filter(finished_at__isnull=False).count() < expected:
        step(timedelta(minutes=1))
        passed += timedelta(minutes=1)
        time.sleep(0.5)
    return {
        "mails": expected - before,
        "waited": waiting,
        "tries": (arrived.aggregate(sum=Sum("attempts"))["sum"] or 0) - tried,
        "recovered_after_minutes": passed // timedelta(minutes=1),
        "recovered_after_seconds": round(time.monotonic() - began, 1),
    }


def measure(world: World) -> dict[str, Any]:
    from django.core.management import call_command

    from agents.models import Turn
    from integrations.models import Delivery

    call_command("load_demo", verbosity=0)
    found: dict[str, Any] = {}
    for what in ("sandbox", "model", "database"):
        found[what] = lose(world, what)
        print(what, found[what], flush=True)
    done = world.performed()
    created = Delivery.objects.filter(kind="created")
    return found | {
        "handled": created.filter(state="processed").count(),
        "turns": Turn.objects.filter(state="finished").count(),
        "dead": Delivery.objects.filter(state="dead").count(),
        "done_twice": [path for path, count in done.items() if count > 1],
        "done": len(done),
    }


def main() -> int:
    ports = configure()
    os.environ["OPERATOR_PASSWORD"] = "of the benchmark"
    with own_database() as folder:
        world = World(folder, ports)
        try:
            with world.running():
                found = measure(world)
        except BaseException:
            print((folder / "faults.log").read_text(errors="replace")[-4000:], file=sys.stderr)
            raise
    print(json.dumps(found))
    return 1 if found["dead"] or found["done_twice"] or found["handled"] != found["turns"] else 0


if __name__ == "__main__":
    sys.exit(main())
