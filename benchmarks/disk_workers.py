"""A disk without room under the database while mail is worked on (docs/operating.md).

    make bench NAME=disk_workers

The database is on a small disk of its own, as in `make bench NAME=disk`; web process, task cluster,
data service and model are processes beside it. MAILS (20) arrive, and the disk is full as soon as
the first of them is handled, for FULL_SECONDS (30), in which as many come. Nobody helps: the data
service sends again what was not taken, and workers go on by themselves. The last line is JSON: how
many were handled, dead or done twice, and how long after there was room all of it was done.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.database import own_database  # after the path
from benchmarks.disk import disk, fill, watched
from benchmarks.faults import World, configure

MAILS, FULL_SECONDS = (
    int(os.environ.get("MAILS", "20")),
    float(os.environ.get("FULL_SECONDS", "30")),
)
PATIENCE_SECONDS = 900


def handled() -> int:
    """How many mails are finished, where the database says so."""
    from django.db import DatabaseError, connections

    from integrations.models import Delivery

    try:
        return Delivery.objects.filter(kind="created", finished_at__isnull=False).count()
    except DatabaseError:
        connections.close_all()
        return 0


def wait_for(count: int) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while handled() < count:
        if time.monotonic() > until:
            raise TimeoutError(f"{handled()} of {count} are handled")
        time.sleep(0.5)


def arrive(world: World) -> None:
    for _ in range(MAILS):
        world.control("POST", "/users/maya/deliver/fyi")


def measure(world: World, mount: Path) -> dict[str, Any]:
    from django.core.management import call_command

    from agents.models import Turn
    from integrations.models import Delivery

    call_command("load_demo", verbosity=0)
    arrive(world)
    wait_for(1)
    ballast = fill(mount)
    arrive(world)
    time.sleep(FULL_SECONDS)
    meanwhile = handled()
    ballast.unlink()
    began = time.monotonic()
    wait_for(2 * MAILS)
    done = world.performed()
    created = Delivery.objects.filter(kind="created")
    return {
        "mails": 2 * MAILS,
        "handled_before_there_was_room": meanwhile,
        "handled": created.filter(state="processed").count(),
        "recovered_after_s": round(time.monotonic() - began, 1),
        "dead": Delivery.objects.filter(state="dead").count(),
        "turns": Turn.objects.filter(state="finished").count(),
        "done": len(done),
        "done_twice": [path for path, count in done.items() if count > 1],
    }


def main() -> int:
    ports = configure()
    os.environ["OPERATOR_PASSWORD"] = "of the benchmark"
    with disk() as mount, own_database() as folder:
        world = World(folder, ports)
        try:
            with watched(folder) as said, world.running():
                found = measure(world, mount) | {"said": said}
        except BaseException:
            print((folder / "faults.log").read_text(errors="replace")[-4000:], file=sys.stderr)
            raise
    print(json.dumps(found))
    return 1 if found["dead"] or found["done_twice"] or found["handled"] != found["mails"] else 0


if __name__ == "__main__":
    sys.exit(main())
