"""Mail handled by one machine, by two, and by two that lose each other (docs/scaling.md).

    make bench NAME=nodes          (MAILS=120, SECONDS=1; needs Linux and root)

The second machine is a network of its own (benchmarks/second_node.py) with a task cluster; web
process, database, data service and a cluster are here. A model's answer takes SECONDS, as a real
one's does, so a machine is full when it has TASK_WORKERS * DELIVERY_THREADS mails at work and not
when its CPU is: both machines share the CPU of this one.

Three times MAILS mails of the folder of real data come as signed webhooks: to one cluster, to
both, and to both while the cable is pulled for longer than a lease. The last line is JSON:
`per_second` of each, `times_faster`, the bytes that a mail adds to the database with all that came
of it, how many were taken up a second time, and what is wrong, which must be nothing.
"""

import asyncio
import json
import os
import sys
import threading
import time
from itertools import islice
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import corpus  # after the path
from benchmarks.daily_faults import CUT_SECONDS, Office
from benchmarks.database import own_database
from benchmarks.day import findings
from benchmarks.faults import configure, until
from benchmarks.goals import tell
from benchmarks.inbound import ask, handle, prepare
from benchmarks.second_node import cut, second_node
from config.local.ports import answers

MAILS = int(os.environ.get("MAILS", "120"))
SECONDS = float(os.environ.get("SECONDS", "1"))
WARM = 8
ROOM = {"TASK_WORKERS": "2", "DELIVERY_THREADS": "2"}


class Machines(Office):
    """Two machines of which each has a cluster, and a model that takes its time."""

    def begin(self, name: str) -> None:
        model = ("-m", "benchmarks.nodes", str(self.ports["model"]))
        if name == "model":
            self.servers[name] = self.start(*model)
        elif name == "model there":
            self.servers[name] = self.start_there(*model)
        else:
            super().begin(name)

    def __enter__(self) -> "Machines":
        for name in self.names:
            if name != "cluster there":
                self.begin(name)
        return self


def serve_model(port: int) -> None:
    """The offline model, which waits before each answer of a chat."""
    import uvicorn

    from sandbox.offline_model.app import build_app

    app = build_app()

    async def wait(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"].endswith("/chat/completions"):
            await asyncio.sleep(SECONDS)
        await app(scope, receive, send)

    uvicorn.run(
        wait, host="127.0.0.1", port=port, log_level="warning", access_log=False, lifespan="off"
    )


def size() -> int:
    """Bytes of the database on its disk."""
    return int(ask("SELECT pg_database_size(current_database())")[0][0])


def sessions() -> int:
    """How many sessions of task clusters the database has."""
    found = ask("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'remit cluster'")
    return int(found[0][0])


def while_cut(office: Office, mails: list[Any]) -> float:
    """The cable is pulled as soon as something has come, while both are at work."""
    from integrations.models import Delivery

    before = Delivery.objects.count()

    def pull() -> None:
        from django.db import connections

        try:
            until(lambda: Delivery.objects.count() > before + 5, "mail to come")
        finally:
            connections.close_all()
        with cut():
            time.sleep(CUT_SECONDS)

    pulling = threading.Thread(target=pull)
    pulling.start()
    try:
        return handle(office, prepare(mails))
    finally:
        pulling.join()


def measure(office: Machines) -> tuple[dict[str, Any], dict[str, Any]]:
    from django.core.management import call_command

    from integrations.mail.files import RawMail, read_mail
    from integrations.models import Delivery

    call_command("load_demo", verbosity=0)
    found = (one for one in read_mail(corpus.CORPUS / "mail.jsonl.gz") if isinstance(one, RawMail))
    mails = list(islice(found, 2 * WARM + 3 * MAILS))
    take = iter(mails)
    handle(office, prepare(list(islice(take, WARM))))
    ask("VACUUM")
    before = size()
    alone = MAILS / handle(office, prepare(list(islice(take, MAILS))))
    bytes_each = (size() - before) / MAILS
    here = sessions()
    office.begin("cluster there")
    until(lambda: sessions() >= here + 2, "the second machine")
    handle(office, prepare(list(islice(take, WARM))))
    both = MAILS / handle(office, prepare(list(islice(take, MAILS))))
    lost = while_cut(office, list(islice(take, MAILS)))
    arrived = Delivery.objects.filter(kind="created").values_list("source_id", flat=True)
    said = {
        "mails": MAILS,
        "model_seconds": SECONDS,
        "per_second": {
            "one": round(alone, 2),
            "two": round(both, 2),
            "two, cut": round(MAILS / lost, 2),
        },
        "times_faster": round(both / alone, 2),
        "bytes_a_mail": round(bytes_each),
        "taken_up_again": Delivery.objects.filter(attempts__gt=1).count(),
    }
    return said, findings(office, list(arrived))


def main() -> int:
    corpus.require()
    ports = configure()
    os.environ |= {"OPERATOR_PASSWORD": "of the benchmark", "TASK_TIMEOUT_SECONDS": "240"}
    os.environ |= {"DATA_SERVICE_TIMEOUT_SECONDS": "10", "SECONDS": str(SECONDS)} | ROOM
    with second_node() as there, own_database() as folder:
        office = Machines(folder, ports, mount=None, there=there)
        try:
            with office:
                for port in ports.values():
                    until(lambda port=port: answers(port), "a server")  # type: ignore[misc]
                said, wrong = measure(office)
        except BaseException:
            print((folder / "faults.log").read_text(errors="replace")[-4000:], file=sys.stderr)
            raise
    said["goals"] = tell({"two machines are 1.7 times as fast": said["times_faster"] >= 1.7})
    print(json.dumps(said | {"wrong": wrong}))
    return 1 if any(wrong.values()) else 0


if __name__ == "__main__":
    if len(sys.argv) > 1:
        serve_model(int(sys.argv[1]))
    else:
        sys.exit(main())
