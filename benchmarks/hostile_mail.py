"""How long other mail waits while hostile mail comes in.

    make bench NAME=hostile_mail

MAILS (20) ordinary mails arrive, one a second, alone, and then while HOSTILE (100) mails of SIZE
(900,000) bytes come in, each made of a piece that some parser once could not take in linear time;
with 190,000 they are just small enough for the lane of small mail. All run through a web process
and a task cluster of their own. The last line is JSON: how long an ordinary mail waited from being
accepted to being handled, what became of the hostile ones, and the most memory that the cluster
and its children had.
"""

import json
import os
import statistics
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.database import own_database  # after the path
from benchmarks.faults import World, configure, until

MAILS, HOSTILE = int(os.environ.get("MAILS", "20")), int(os.environ.get("HOSTILE", "100"))
SIZE = int(os.environ.get("SIZE", "900000"))
PIECES = (
    *("\n", "On 1 May 2026 at 10:01 ", "> ", ">> a\n", "-----Original Message-----\n"),
    *("From: a\nSent: a\nTo: b\n", "a@b.c,", "<div>", "<table><tr><td>", "<!--", "http://a/"),
    *("=?utf-8?q?", "10:01 2026 ", "4111 1111 ", "[x](", "a\u0301", "&#", "a ", "--\n", "On a, "),
)


def hostile(number: int) -> dict[str, Any]:
    piece = PIECES[number % len(PIECES)]
    body = ("word" + piece * (SIZE // len(piece.encode())))[:SIZE]
    while len(json.dumps(body)) > SIZE:  # as it is sent
        body = body[: len(body) * SIZE // len(json.dumps(body)) - 10]
    fields = {"body_html": body} if piece.startswith(("<", "&")) else {"body_text": body}
    return {
        "id": f"hostile-{number}",
        "thread_id": f"hostile-{number}",
        "message_id": f"<hostile-{number}@evil.example>",
        "from": "eve@evil.example",
        "from_name": "Eve",
        "to": ["maya@company.com"],
        "subject": f"Hostile {number}",
        "date": "2026-11-20T10:00:00Z",
        "labels": ["INBOX"],
        **fields,
    }


def ordinary() -> Any:
    from integrations.models import Delivery

    return Delivery.objects.filter(kind="created").exclude(source_id__startswith="hostile-")


def finished(deliveries: Any) -> int:
    """How many are. The sweep runs on the way, as the schedule's would: where the data service was
    too slow for a while, what came waits for that."""
    from agents.tasks import sweep

    sweep()
    return int(deliveries.filter(finished_at__isnull=False).count())


def arrive(world: World) -> dict[str, float]:
    """How long ordinary mail waits now."""
    before = set(ordinary().values_list("id", flat=True))
    for _ in range(MAILS):
        world.control("POST", "/users/maya/deliver/fyi")
        time.sleep(1)
    mine = ordinary().exclude(id__in=before)
    until(lambda: finished(mine) == MAILS, "ordinary mail")
    waited = [(one.finished_at - one.received_at).total_seconds() for one in mine]
    return {"p50_s": round(statistics.median(waited), 2), "most_s": round(max(waited), 2)}


def memory(process: int) -> float:
    """Megabytes that it and all under it have in memory."""
    own = int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return own / 1e6 + sum(memory(int(child)) for child in children)


def measure(world: World) -> dict[str, Any]:
    from django.core.management import call_command

    from integrations.models import Delivery

    call_command("load_demo", verbosity=0)
    arrive(world)  # what the first ones load
    found: dict[str, Any] = {"alone": arrive(world)}
    began = time.monotonic()
    for number in range(HOSTILE):
        world.control("POST", "/users/maya/emails", {"items": [hostile(number)], "notify": True})
    found["beside_hostile"] = arrive(world)
    hostile_ones = Delivery.objects.filter(source_id__startswith="hostile-", kind="created")
    until(lambda: finished(hostile_ones) == HOSTILE, "hostile mail")
    found["hostile"] = Counter(
        f"{state} {reason}".strip() for state, reason in hostile_ones.values_list("state", "reason")
    )
    found["tries_most"] = max(hostile_ones.values_list("attempts", flat=True))
    found["hostile_handled_after_s"] = round(time.monotonic() - began, 1)
    assert world.cluster
    found["cluster_memory_mb"] = round(memory(world.cluster.pid))
    return found


def main() -> int:
    ports = configure()
    # The data service has as long as it usually has: nothing is wrong with it here.
    usual = {"DATA_SERVICE_TIMEOUT_SECONDS": "10", "TASK_TIMEOUT_SECONDS": "300"}
    os.environ |= {"OPERATOR_PASSWORD": "of the benchmark", **usual}
    with own_database() as folder:
        world = World(folder, ports)
        try:
            with world.running():
                found = measure(world)
        except BaseException:
            print((folder / "faults.log").read_text(errors="replace")[-4000:], file=sys.stderr)
            raise
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
