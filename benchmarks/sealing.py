"""How far the sealer lags behind rows that come in at a steady rate, and how fast it seals rows
that wait.

    make bench NAME=sealing

The rows are copied by SQL, 100 a commit: no writers in Python reach 5,000 rows a second on two
cores, and what they need should not be measured here. The lag is that from a row's commit to the
signed checkpoint that covers it. CPU is that of the sealer's thread and of its database session.
The last line is JSON. A database of its own is made, and removed at the end.
"""

import json
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.database import on_cpu, own_database  # after the path
from benchmarks.goals import tell

RATES = (500, 5_000)  # rows a second
ROWS = 100  # a commit
SECONDS = 20
TENANTS = 20
BACKLOG = 100_000

LAG = """
SELECT percentile_cont(ARRAY[0.5, 0.99]) WITHIN GROUP (ORDER BY extract(epoch FROM (
    SELECT c.signed_at FROM audit_checkpoint c
    WHERE c.tenant_id = l.tenant_id AND c.size > l.leaf_index ORDER BY c.size LIMIT 1
) - a.recorded_at))::float[]
FROM audit_leaf l JOIN audit_action a ON a.id = l.row_id WHERE a.tenant_id = ANY(%s)
"""


def query(statement: str, values: list[Any] | None = None) -> list[Any]:
    from django.db import connections

    with connections["ledger"].cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall()) if cursor.description else []


def first_row() -> None:
    from audit.contracts import Entry
    from audit.ledger import ledger
    from audit.ledger.ids import uuid7

    ledger.append(
        Entry(
            tenant_id=uuid4(),
            action_id=uuid7(),
            phase="attempt",
            status="pending",
            action_type="archive",
            occurred_at=datetime.now(UTC),
            decision="allowed",
            resource_id="mail-1",
            payload={},
        )
    )


def copy(rows: int, tenant_id: UUID) -> None:
    from audit.models import SUPPLIED

    own = {"action_id": "uuidv7()", "tenant_id": f"'{tenant_id}'"}
    names = [f'"{name}"' for name in SUPPLIED]
    values = [own.get(name, f'"{name}"') for name in SUPPLIED]
    query(
        f"INSERT INTO audit_action ({', '.join(names)}) SELECT {', '.join(values)} FROM "
        f"(SELECT * FROM audit_action LIMIT 1) AS one, generate_series(1, {rows})"
    )


class Sealer(threading.Thread):
    """The product's own, and the CPU seconds that it and its database session used."""

    def __init__(self) -> None:
        super().__init__()
        self.stop = threading.Event()
        self.used = self.session_used = 0.0

    def run(self) -> None:
        from django.db import connections

        from audit.management.commands.seal_ledger import tick
        from audit.seals.notes import Signer

        connections["ledger"].ensure_connection()
        session = connections["ledger"].connection.info.backend_pid
        begun, session_begun = time.thread_time(), on_cpu(session)
        try:
            tick([Signer(bytes(32))], stop=self.stop)
        finally:
            self.used = time.thread_time() - begun
            self.session_used = on_cpu(session) - session_begun
            connections.close_all()


def feed(rate: int) -> dict[str, Any]:
    tenants = [uuid4() for _ in range(TENANTS)]
    sealer, commits = Sealer(), rate * SECONDS // ROWS
    sealer.start()
    begun = time.perf_counter()
    for number in range(commits):
        copy(ROWS, tenants[number % TENANTS])
        time.sleep(max(0.0, begun + (number + 1) * ROWS / rate - time.perf_counter()))
    taken = time.perf_counter() - begun
    rows = [(commits * ROWS,)]
    while query("SELECT count(*) FROM audit_leaf WHERE tenant_id = ANY(%s)", [tenants]) != rows:
        if not sealer.is_alive():
            raise SystemExit("The sealer ended.")
        time.sleep(0.2)
    sealer.stop.set()
    sealer.join()
    (((middle, high),),) = query(LAG, [tenants])
    return {
        "rows_per_s": round(commits * ROWS / taken),
        "lag_p50_s": round(middle, 2),
        "lag_p99_s": round(high, 2),
        "cpu_us_per_row": round(sealer.used / commits / ROWS * 1e6, 1),
        "database_cpu_us_per_row": round(sealer.session_used / commits / ROWS * 1e6, 1),
    }


def backlog() -> int:
    """The rows a second that are sealed when many wait."""
    from audit.seals import sealer
    from audit.seals.notes import Signer

    copy(BACKLOG, uuid4())
    begun = time.perf_counter()
    sealed = sum(sealer.seal_all(signer=Signer(bytes(32))))
    return round(sealed / (time.perf_counter() - begun))


def main() -> None:
    with own_database():
        first_row()
        found: dict[str, Any] = {}
        for rate in RATES:
            found[str(rate)] = feed(rate)
            print(f"{rate:6,} rows a second: {found[str(rate)]}", flush=True)
        found["backlog_rows_per_s"] = backlog()
        one = found["5000"]
        is_met = one["rows_per_s"] >= 4_950 and one["lag_p99_s"] < 1.5
        found["goals"] = tell({"p99 below 1.5 s at 5,000 rows a second": is_met})
        print(json.dumps(found))


if __name__ == "__main__":
    main()
