"""What an action costs in the ledger, against two bare INSERTs of the same values.

    make bench NAME=ledger

An action is an attempt and an outcome: two durable commits through `audit.ledger.append`,
with guards, indexes, payload, artifact and the sealer at work. The floor is measured in the
same run, in turns: what any program does that stores such rows with new ids and times, its
payload as JSON, by prepared psycopg statements into one plain table with no index but its key,
each committed durably; nothing is hashed, encrypted or checked. The CPU that an action takes in
its writer and in its database session is counted too: other load spoils it less than the time.
How fast rows are sealed is another benchmark's (sealing). Then a bundle of what was written is
made and verified. The last line is JSON. A database of its own is made, and removed
at the end.
"""

import hashlib
import json
import multiprocessing
import os
import resource
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.database import on_cpu, own_database  # after the path

SECONDS = 2.0
ROUNDS = 5
PAUSE = 1.5  # so that each turn begins with everything sealed
WRITERS = (1, 4, 16)
BODY = {"arguments": {"email_id": "mail-1", "text": "x" * 900}}
# Columns that the ledger computes, at their usual length.
FILLED = {"schema_version": 1, "resource_key": "0" * 64, "target_key": "", "artifacts_digest": ""}
FILLED |= {"payload_commitment": "0" * 64, "envelope_mac": "0" * 64}
POLICY = '{"rules":[]}'
Act = Callable[[], None]
Turn = tuple[list[float], float, float]  # how long each action took, CPU of writer and session


def entries(tenant_id: UUID) -> list[Any]:
    from audit.contracts import Artifact, Entry
    from audit.ids import uuid7

    same: dict[str, Any] = {
        "tenant_id": tenant_id,
        "action_id": uuid7(),
        "action_type": "archive",
        "occurred_at": datetime.now(UTC),
        "decision": "allowed",
        "decision_reason": "option_listed",
        "policy_digest": hashlib.sha256(POLICY.encode()).hexdigest(),
        "actor_id": "orchestrator",
        "run_id": "turn-1",
        "resource_id": "mail-1",
        "payload": BODY,
    }
    draft = Artifact(kind="draft", provider="gmail", external_id="draft-1")
    return [
        Entry(**same, phase="attempt", status="pending"),
        Entry(**same, phase="outcome", status="succeeded", artifacts=(draft,)),
    ]


def through_the_ledger(tenant_id: UUID) -> tuple[Act, Any]:
    """An action, and the session that it is committed in."""
    from django.db import connections

    from audit import ledger

    def act() -> None:
        for entry in entries(tenant_id):
            ledger.append(entry)

    connections["ledger"].ensure_connection()
    return act, connections["ledger"].connection


def bare(tenant_id: UUID) -> tuple[Act, Any]:
    import psycopg

    from audit.models import SUPPLIED

    session = psycopg.connect(os.environ["DATABASE_URL"], autocommit=True)
    names = ", ".join(f'"{name}"' for name in (*SUPPLIED, "body"))
    marks = ", ".join(["%s"] * (len(SUPPLIED) + 1))
    insert = f"INSERT INTO floor ({names}) VALUES ({marks})"

    def act() -> None:
        for entry in entries(tenant_id):
            given = vars(entry)
            columns = [given.get(name, FILLED.get(name)) for name in SUPPLIED]
            session.execute(insert, [*columns, json.dumps(entry.payload)], prepare=True)

    return act, session


WAYS: dict[str, Callable[[UUID], tuple[Act, Any]]] = {"bare": bare, "ledger": through_the_ledger}


def write(ready: Any, results: Any) -> None:
    """One writer, which acts in turns by each way until the turn is over."""
    import django

    django.setup()
    acts = {name: make(uuid4()) for name, make in WAYS.items()}
    for _ in range(20):
        for act, _ in acts.values():
            act()
    for number in range(ROUNDS):
        for name, (act, session) in acts.items():
            taken = []
            time.sleep(PAUSE)
            ready.wait()
            cpu, session_cpu = time.process_time(), on_cpu(session.info.backend_pid)
            end = time.perf_counter() + SECONDS
            while (begun := time.perf_counter()) < end:
                act()
                taken.append(time.perf_counter() - begun)
            cpu = time.process_time() - cpu
            session_cpu = on_cpu(session.info.backend_pid) - session_cpu
            results.put((name, number, (taken, cpu, session_cpu)))


def measure(writers: int) -> dict[str, list[list[Turn]]]:
    """What the writers did in every turn of either way."""
    spawn = multiprocessing.get_context("spawn")
    ready, results = spawn.Barrier(writers), spawn.Queue()
    workers = [
        spawn.Process(target=write, args=(ready, results), daemon=True) for _ in range(writers)
    ]
    for worker in workers:
        worker.start()
    turns: dict[str, list[list[Turn]]] = {name: [[] for _ in range(ROUNDS)] for name in WAYS}
    for _ in range(writers * ROUNDS * len(WAYS)):
        name, number, turn = results.get()
        turns[name][number].append(turn)
    for worker in workers:
        worker.join()
    return turns


def seal(stop: threading.Event) -> None:
    from audit.management.commands.seal_ledger import tick
    from audit.notes import Signer

    tick([Signer(bytes(32))], stop=stop)


def query(statement: str) -> list[Any]:
    from django.db import connections

    with connections["ledger"].cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall()) if cursor.description else []


LAG = """
SELECT percentile_cont(ARRAY[0.5, 0.99]) WITHIN GROUP (ORDER BY extract(epoch FROM lag)) FROM (
    SELECT (SELECT c.signed_at FROM audit_checkpoint c
            WHERE c.tenant_id = l.tenant_id AND c.size > l.leaf_index
            ORDER BY c.size LIMIT 1) - a.recorded_at AS lag
    FROM audit_leaf l JOIN audit_action a ON a.id = l.row_id
) AS lags
"""


def spent(turns: list[list[Turn]]) -> dict[str, float]:
    """Actions a second, milliseconds and CPU microseconds of an action, of one way."""
    each = [one for turn in turns for taken, _, _ in turn for one in taken]
    cuts = statistics.quantiles(each, n=100)
    done = statistics.median(sum(len(taken) for taken, _, _ in turn) for turn in turns)
    return {
        "actions_per_s": round(done / SECONDS),
        "p50_ms": round(cuts[49] * 1000, 2),
        "p99_ms": round(cuts[98] * 1000, 2),
        "cpu_us": round(sum(cpu for turn in turns for _, cpu, _ in turn) / len(each) * 1e6),
        "session_cpu_us": round(sum(cpu for turn in turns for _, _, cpu in turn) / len(each) * 1e6),
    }


def writing() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for writers in WRITERS:
        ways = {name: spent(turns) for name, turns in measure(writers).items()}
        floor, ours = ways["bare"], ways["ledger"]
        used = [one["cpu_us"] + one["session_cpu_us"] for one in (floor, ours)]
        found[str(writers)] = ways | {
            "ratio": round(ours["actions_per_s"] / floor["actions_per_s"], 2),
            "cpu_ratio": round(used[0] / used[1], 2),
        }
        print(f"{writers:2} writers: {found[str(writers)]}", flush=True)
    return found


def goals(found: dict[str, Any]) -> dict[str, bool]:
    """Each goal, and whether this run met it."""
    writers = found["writers"]
    ratios = {
        f"at least 0.75 of two bare INSERTs, {count} writers": one["ratio"] >= 0.75
        for count, one in writers.items()
    }
    return ratios | {
        "p50 of an action at most 1.5 ms, 4 writers": writers["4"]["ledger"]["p50_ms"] <= 1.5,
        "p99 from commit to signed checkpoint below 1.5 s": found["seal_lag_s"]["p99"] < 1.5,
        "at least 150,000 rows verified a second and core": found["verify_rows_per_cpu_s"] >= 150e3,
    }


def bundling(folder: Path) -> dict[str, Any]:
    """Of the tenant with the most rows: make a bundle, then verify it in a fresh process."""
    from audit import policies
    from audit.bundle import verify
    from audit.bundle.contents import Bundle
    from audit.contracts import Filters

    ((tenant_id, rows, key),) = query(
        "SELECT tenant_id, size, verifier_key FROM audit_checkpoint ORDER BY size DESC LIMIT 1"
    )
    policies.keep(
        tenant_id=tenant_id, digest=hashlib.sha256(POLICY.encode()).hexdigest(), body=POLICY
    )
    path, begun = folder / "bundle.zip", time.perf_counter()
    made = Bundle(filters=Filters(tenant_id=tenant_id), actor_type="admin", actor_id="benchmark")
    with path.open("wb") as file:
        file.writelines(made)
    between = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    verdict = subprocess.run(
        [sys.executable, verify.__file__, path, key], stdout=subprocess.PIPE, check=False
    )
    ended = time.perf_counter()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if verdict.returncode:
        raise SystemExit(verdict.stdout.decode())
    return {
        "rows": rows,
        "bundle_rows_per_s": round(rows / (between - begun)),
        "verify_rows_per_s": round(rows / (ended - between)),
        "verify_rows_per_cpu_s": round(rows / busy),
    }


def main() -> None:
    with own_database() as folder:
        query(
            "CREATE TABLE floor AS SELECT a.*, p.body FROM audit_action a, audit_payload p; "
            "ALTER TABLE floor DROP COLUMN id; "
            "ALTER TABLE floor ADD COLUMN id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
        )
        stop = threading.Event()
        sealer = threading.Thread(target=seal, args=[stop])
        sealer.start()
        try:
            found: dict[str, Any] = {"writers": writing()}
            while query("SELECT count(*) FROM audit_action") != query(
                "SELECT count(*) FROM audit_leaf"
            ):
                time.sleep(0.2)
        finally:
            stop.set()
            sealer.join()
        middle, high = query(LAG)[0][0]
        found["seal_lag_s"] = {"p50": round(middle, 2), "p99": round(high, 2)}
        found |= bundling(folder)
        found["goals"] = goals(found)
        for goal, is_met in found["goals"].items():
            print(f"{'met   ' if is_met else 'MISSED'} {goal}")
        print(json.dumps(found))


if __name__ == "__main__":
    main()
