"""What one mail costs, from its webhook until all that it led to is done (docs/operating.md).

    make bench NAME=inbound

MAILS (600) mails of the folder of real data come as signed webhooks to the replay user; the
webhooks that their actions cause count too. Web process, task cluster, sandbox and offline model
are processes of their own, over HTTP, on a database of its own.

`statements` and `commits` are the whole database's, reads and the queue's own included; `writing`
are the commits that wrote something, by the server's own count of transactions. Statements are
those of COUNTED mails before the others, for which the server writes each down (STATEMENTS=1 prints
them). `requests` are those to the data service; its pace (DATA_SERVICE_RATE, 100 a second) is out
of the way, because it is for who serves others: it alone would keep eight requests a mail to 12
mails a second. `cpu_ms` is the CPU of a mail by process, `own_cpu_ms` without sandbox and model; of
the first mails it is higher, because each of 16 sessions plans a statement anew the first times:
WARM mails come before all that is counted.
`of_floor` is how many a second were handled, beside benchmarks/mail_floor.py in the same run. The
mails are read and put into the mailbox before the clock starts, on both sides.
`turn_cpu_ms` is a turn of three calls of a model with all its rows, the server's part included.

The same machine takes up to twice as long for the same work from one hour to the next. `machine_ms`
is the CPU of a fixed piece of work on all cores at once, at the start and at the end; `of_others`
is own CPU as a multiple of that of sandbox and model, who do the same for each mail. Compare these
before figures of different hours. The last line is JSON.
"""

import hmac
import json
import os
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import corpus  # after the path
from benchmarks.database import own_database
from benchmarks.faults import World, configure, until
from benchmarks.goals import tell

MAILS = int(os.environ.get("MAILS", "600"))
COUNTED, WARM, TURNS = 30, 150, 40
TICKS = os.sysconf("SC_CLK_TCK")
STATEMENT = re.compile(r"LOG:  (?:statement|execute [^:]*): ?(?:\n\s+)?(.*)")
VALUE = re.compile(r"E?'[^']*'?|\"s\d+_x\d+\"|\b\d+\b")


def cpu_of(process: int) -> float:
    """Seconds that this process and all below it have been on a CPU, with those that ended."""
    seconds = 0.0
    waiting = [process]
    while waiting:
        each = Path(f"/proc/{waiting.pop()}")
        try:
            fields = (each / "stat").read_text().rpartition(")")[2].split()
            children = [task.read_text().split() for task in each.glob("task/*/children")]
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended since, and is counted with who began it
        seconds += sum(map(int, fields[11:15])) / TICKS
        waiting += [int(child) for listed in children for child in listed]
    return seconds


class Database:
    """What the server says of itself."""

    def __init__(self) -> None:
        [(folder,)] = ask("SHOW data_directory")
        self.process = int((Path(folder) / "postmaster.pid").read_text().split()[0])
        self.log = Path(folder).parent / "server.log"

    def commits(self) -> int:
        ask("SELECT pg_stat_force_next_flush()")
        time.sleep(11)  # a session that has nothing to do passes on what it counted within ten
        [(count,)] = ask(
            "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
        )
        return int(count)

    def writing(self) -> int:
        """The number of the next transaction that writes: one that only reads gets none."""
        [(number,)] = ask("SELECT pg_snapshot_xmax(pg_current_snapshot())::text")
        return int(number)

    @contextmanager
    def counting(self, into: Counter[str]) -> Iterator[None]:
        """Each statement that any process sends meanwhile, by its beginning."""
        start = self.log.stat().st_size
        self.write_down("all")
        yield
        self.write_down("none")
        with self.log.open(errors="replace") as lines:
            lines.seek(start)
            found = STATEMENT.findall(lines.read())
        into.update(VALUE.sub("?", text)[:90] for text in found)

    def write_down(self, which: str) -> None:
        ask(f"ALTER SYSTEM SET log_statement = '{which}'")
        ask("SELECT pg_reload_conf()")
        time.sleep(0.5)


def ask(statement: str) -> list[Any]:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall() if cursor.description else []


def fixed_work(_: int = 0) -> float:
    """Milliseconds of CPU of what never changes: text is encoded, decoded and signed."""
    row = {"rows": [{"id": number, "text": "a mail " * 20} for number in range(20)]}
    before = time.process_time()
    for _ in range(2_000):
        hmac.digest(b"key", json.dumps(json.loads(json.dumps(row))).encode(), "sha256")
    return (time.process_time() - before) * 1000


def machine_ms() -> float:
    """The mean of `fixed_work` on every core at once."""
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        return statistics.mean(pool.map(fixed_work, range(os.cpu_count() or 1)))


def prepare(mails: list[Any]) -> list[Any]:
    """Their webhooks; the mails are in the mailbox then."""
    from agents.office import replay
    from agents.office.replay_report import Report

    return list(replay.prepare(iter(mails), account=replay_user(), report=Report()))


def replay_user() -> Any:
    from integrations.models import Account

    return Account.objects.select_related("organisation").get(external_user_id="replay").ref()


def handle(world: World, ready: list[Any]) -> float:
    """How long it took from the first webhook until nothing was left to be done, in seconds."""
    from django.db.models import Max, Min

    from agents.office import replay
    from agents.office.replay_report import Report
    from integrations.models import Delivery

    before = set(Delivery.objects.values_list("id", flat=True))
    url = f"http://127.0.0.1:{world.ports['web']}"
    report = replay.deliver(
        ready,
        account=replay_user(),
        url=url,
        patience=300,
        say=lambda _: None,
        report=Report(),
    )
    assert report.complete, report
    until(
        lambda: (
            not world.control("GET", "/webhooks")["pending"]
            and not Delivery.objects.filter(finished_at=None).exists()
        ),
        "all that came of them",
    )
    new = Delivery.objects.exclude(id__in=before)
    times = new.aggregate(first=Min("received_at"), last=Max("finished_at"))
    return float((times["last"] - times["first"]).total_seconds())


def written_by(world: World) -> list[dict[str, Any]]:
    """The requests that wrote to the replay user's mailbox, in their order."""
    found: list[dict[str, Any]] = []
    more = True
    while more:
        after = found[-1]["id"] if found else 0
        answer = world.control("GET", f"/calls?user=replay&after={after}")
        found += answer["items"]
        more = answer["has_more"]
    return [call for call in found if call["performed"]]


def turn_cpu(database: Database) -> float:
    """Milliseconds of CPU of one turn with all its rows, in this process and the server."""
    from django.conf import settings

    from benchmarks.floor import QUICK, model
    from benchmarks.runtime import claimed, ours, tool
    from integrations.llm import llm

    look = tool()

    def run() -> None:
        lease, person = claimed()
        ours([], look, lease=lease, person=person)

    with model() as url, mock.patch.multiple(settings, OPENAI_BASE_URL=url, CHAT_MODEL=QUICK):
        llm.forget_clients()
        for _ in range(5):
            run()
        before, server = time.process_time(), cpu_of(database.process)
        for _ in range(TURNS):
            run()
        return (time.process_time() - before + cpu_of(database.process) - server) / TURNS * 1000


def measure(world: World) -> dict[str, Any]:
    from django.core.management import call_command

    from benchmarks import mail_floor
    from integrations.mail.files import RawMail, read_mail
    from integrations.models import Delivery

    call_command("load_demo", verbosity=0)
    wanted = WARM + COUNTED + MAILS
    found = [one for one in read_mail(corpus.CORPUS / "mail.jsonl.gz") if isinstance(one, RawMail)]
    mails = list(islice(found, 0, None, max(1, len(found) // wanted)))[:wanted]
    handle(world, prepare(mails[:WARM]))
    database, count = Database(), Counter[str]()
    first = prepare(mails[WARM : WARM + COUNTED])
    with database.counting(count):
        handle(world, first)
    if os.environ.get("STATEMENTS"):
        for text, times in count.most_common():
            print(f"{times / COUNTED:6.2f} {text}")
    assert world.cluster
    processes = {
        "web": world.servers["web"].pid,
        "cluster": world.cluster.pid,
        "database": database.process,
        "sandbox": world.servers["sandbox"].pid,
        "model": world.servers["model"].pid,
    }
    ready = prepare(mails[WARM + COUNTED :])
    committed, wrote = database.commits(), database.writing()
    asked, written = world.control("GET", "/requests")["requests"], len(written_by(world))
    before = {name: cpu_of(process) for name, process in processes.items()}
    counted = set(Delivery.objects.values_list("id", flat=True))
    seconds = handle(world, ready)
    used = {
        name: (cpu_of(process) - before[name]) / MAILS * 1000 for name, process in processes.items()
    }
    asked = world.control("GET", "/requests")["requests"] - asked
    wrote = database.writing() - wrote
    committed = database.commits() - committed
    turn = turn_cpu(database)  # the rows of the floor would keep the garbage collector busy
    webhooks = Delivery.objects.count() - len(counted)
    calls = written_by(world)[written:]
    rows = mail_floor.load(counted, calls, reads=round((asked - len(calls)) / MAILS))
    floor = mail_floor.run(rows, world)
    per_second = len(rows) / floor["seconds"]
    own = sum(used[name] for name in ("web", "cluster", "database"))
    return {
        "mails": MAILS,
        "webhooks": webhooks,
        "statements": count.total() / COUNTED,
        "commits": committed / MAILS,
        "writing": wrote / MAILS,
        "requests": asked / MAILS,
        "cpu_ms": {name: round(value, 1) for name, value in used.items()},
        "own_cpu_ms": own,
        "of_others": own / (used["sandbox"] + used["model"]),
        "per_second": MAILS / seconds,
        "floor_per_second": per_second,
        "floor_webhooks": floor["webhooks"],
        "of_floor": MAILS / seconds / per_second,
        "turn_cpu_ms": turn,
    }


def main() -> None:
    corpus.require()
    ports = configure()
    os.environ["OPERATOR_PASSWORD"] = "of the benchmark"
    os.environ |= {"TASK_TIMEOUT_SECONDS": "240", "DATA_SERVICE_TIMEOUT_SECONDS": "10"}
    os.environ["TURN_LEASE_SECONDS"] = "60"
    os.environ |= {"DATA_SERVICE_RATE": "1000", "DATA_SERVICE_BURST": "1000"}
    with own_database() as folder:
        world = World(folder, ports)
        try:
            machine = [machine_ms()]
            with world.running():
                found = measure(world)
            machine.append(machine_ms())
        except BaseException:
            print((folder / "faults.log").read_text(errors="replace")[-4000:], file=sys.stderr)
            raise
    found["machine_ms"] = [round(one) for one in machine]
    found["goals"] = tell(
        {
            "50 statements": found["statements"] <= 50,
            "15 commits": found["commits"] <= 15,
            "60 ms of CPU": found["own_cpu_ms"] <= 60,
            "25 mails a second": found["per_second"] >= 25,
            "0.4 of the floor": found["of_floor"] >= 0.4,
            "15 ms of CPU a turn": found["turn_cpu_ms"] <= 15,
        }
    )
    print(json.dumps(found, default=lambda value: round(value, 3)))


if __name__ == "__main__":
    main()
