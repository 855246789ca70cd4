"""How fast an account is read, against what the models' own time allows.

    make bench NAME=sync

The model answers a chat in 200 ms and embeddings in 50 ms, however many ask, in a process of
its own that also lists the mails. Reported, all from the same run:

- items per second of a first sync with 32 side by side, against the bound 32 / 0.25 s, and
  against 32 threads that only ask the model, which is what this machine allows
- against the same items one by one, as a plain loop over the list would read them
- seconds of processor per item: of the sync's own process (it has one interpreter lock, so one
  core at most), of PostgreSQL, and of the other side, which is no part of Remit
- resident memory at each size, and a second sync of unchanged data with its model calls

SIZES="1000 4000" names other sizes. The last line is JSON. A database of its own is made, and
removed at the end.
"""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.database import own_database  # after the path

SIZES = (1000, 2000, 4000)
SIDE_BY_SIDE = 32
CHAT_SECONDS, EMBEDDING_SECONDS = 0.2, 0.05
ONE_BY_ONE = 40
BOUND = SIDE_BY_SIDE / (CHAT_SECONDS + EMBEDDING_SECONDS)
OTHER_SIDE = Path(__file__).with_name("slow_model.py")


def resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def processor_seconds(pid: int) -> float:
    """Of a process with all the children that it has or has waited for."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:  # it has just ended
        return 0.0
    own = sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")
    return own + sum(processor_seconds(int(child)) for child in children)


def database_process() -> int:
    """The server's first process, which all of its others are children of."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SHOW data_directory")
        folder = cursor.fetchone()[0]
    return int((Path(folder) / "postmaster.pid").read_text().split()[0])


def model_calls(origin: str) -> int:
    import httpx

    return int(httpx.get(f"{origin}/calls").json()["calls"])


def account(size: int) -> Any:
    """A mailbox of this many mails; the name of its user says how many."""
    from integrations.models import Account, Organisation

    organisation, _ = Organisation.objects.get_or_create(slug="bench", name="Bench")
    return Account.objects.create(
        organisation=organisation, external_user_id=f"mails-{size}", source="gmail"
    ).ref()


def read(owner: Any, others: Mapping[str, int]) -> dict[str, Any]:
    """One whole sync of an account, here and now; `others` are process ids by name."""
    from django.utils import timezone

    from knowledge.models import SyncSource
    from knowledge.sync import runs as sync_runs, sync

    requested = sync_runs.request_sync(
        organisation_id=owner.organisation_id,
        external_user_id=owner.external_user_id,
        now=timezone.now(),
    )
    assert requested is not None
    before = {name: processor_seconds(pid) for name, pid in others.items()}
    begun, used = time.perf_counter(), time.process_time()
    while sync.advance(requested.queued[0], clock=timezone.now) == "more":
        pass
    seconds, cpu = time.perf_counter() - begun, time.process_time() - used
    row = SyncSource.objects.get(pk=requested.queued[0])
    assert row.state == "done", (row.state, row.error, row.reasons)
    return {
        "received": row.received,
        "processed": row.processed,
        "skipped": row.skipped,
        "items_per_second": row.received / seconds,
        "cpu_ms_per_item": cpu / row.received * 1000,
        **{
            f"{name}_cpu_ms_per_item": (processor_seconds(pid) - before[name]) / row.received * 1000
            for name, pid in others.items()
        },
    }


def one_by_one(count: int) -> float:
    """Items per second of a loop over one page."""
    from django.utils import timezone

    from integrations.accounts.reads import reader
    from knowledge.ingest.ingest import ingest

    owner = account(count)
    since = datetime.now(UTC) - timedelta(days=30)
    items = reader(owner).items(since=since, cursor=None, limit=count).items
    begun = time.perf_counter()
    for item in items:
        ingest(account=owner, source_id=item.id, item=item, now=timezone.now())
    return len(items) / (time.perf_counter() - begun)


def model_alone(count: int) -> float:
    """Items per second of as many threads that only ask the model."""
    from integrations.llm import llm
    from integrations.llm.completions import Payer
    from integrations.models import Organisation

    organisation, _ = Organisation.objects.get_or_create(slug="bench", name="Bench")
    payer = Payer(organisation_id=organisation.id, external_user_id="nobody")

    def ask(number: int) -> None:
        llm.complete_json(
            system="Summarise.", user=f"Mail {number}", payer=payer, purpose="benchmark"
        )
        llm.embed([f"Mail {number}"], payer=None)

    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        list(pool.map(ask, range(SIDE_BY_SIDE)))  # connections are made
        begun = time.perf_counter()
        list(pool.map(ask, range(count)))
        return count / (time.perf_counter() - begun)


def measure(origin: str, sizes: list[int], others: Mapping[str, int]) -> dict[str, Any]:
    read(account(SIDE_BY_SIDE * 2), others)  # everything is imported and every plan is made
    alone = model_alone(SIDE_BY_SIDE * 20)
    plain = one_by_one(ONE_BY_ONE)
    found: dict[str, Any] = {
        "bound_items_per_second": BOUND,
        "model_alone_items_per_second": alone,
        "one_by_one_items_per_second": plain,
        "sizes": {},
    }
    owner = None
    for size in sizes:
        owner = account(size)
        first = read(owner, others)
        found["sizes"][size] = {
            **first,
            "of_bound": first["items_per_second"] / BOUND,
            "of_model_alone": first["items_per_second"] / alone,
            "of_one_by_one": first["items_per_second"] / plain,
            "resident_mib": resident_mib(),
        }
    before = model_calls(origin)
    again = read(owner, others)
    found["again"] = {
        **again,
        "model_calls": model_calls(origin) - before,
        "of_first": again["items_per_second"] / first["items_per_second"],
    }
    return found


def main() -> int:
    sizes = [int(size) for size in os.environ.get("SIZES", "").split()] or list(SIZES)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    origin = f"http://127.0.0.1:{port}"
    os.environ |= {
        "OPENAI_API_KEY": "bench",
        "OPENAI_BASE_URL": f"{origin}/v1",
        "DATA_SERVICES": f"bench={origin}/v1/data",
        "DATA_SERVICE_KEYS": "bench=key",
        "SYNC_SIDE_BY_SIDE": str(SIDE_BY_SIDE),
        "LOG_LEVEL": "ERROR",
    }
    print(f"load average at the start: {os.getloadavg()[0]:.1f}", flush=True)
    other_side = subprocess.Popen([sys.executable, str(OTHER_SIDE), str(port)])
    try:
        with own_database():
            others = {"postgresql": database_process(), "other_side": other_side.pid}
            found = measure(origin, sizes, others)
    finally:
        other_side.terminate()
        other_side.wait()
    print(f"load average at the end: {os.getloadavg()[0]:.1f}")
    for size, row in found["sizes"].items():
        print(
            f"{size:>6} items  {row['items_per_second']:6.1f}/s  {row['of_bound']:.2f} of the "
            f"bound  {row['of_one_by_one']:.1f} times one by one  {row['resident_mib']:.0f} MiB  "
            f"{row['cpu_ms_per_item']:.1f} ms of a core, PostgreSQL "
            f"{row['postgresql_cpu_ms_per_item']:.1f} ms"
        )
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
