"""What an action costs in the ledger, against two bare INSERTs of the same values.

    make bench NAME=ledger

An action is an attempt and an outcome: two durable commits through `audit.ledger.ledger.append`,
with guards, indexes, payload, artifact and the sealer at work. The floor is measured in the
same run, in turns: what any program does that stores such rows with new ids and times, its
payload as JSON, by prepared psycopg statements into one plain table with no index but its key,
each committed durably; nothing is hashed, encrypted or checked. The CPU that an action takes in
its writer and in its database session is counted too: other load spoils it less than the time.
How fast rows are sealed and bundles verified is for other benchmarks (sealing, export). The
last line is JSON. A database of its own is made, and removed at the end.
"""

import hashlib
import json
import multiprocessing
import os
import statistics
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
from benchmarks.goals import tell

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
    from audit.ledger.ids import uuid7

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

    from audit.ledger import ledger

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
    from audit.seals.notes import Signer

    tick([Signer(bytes(32))], stop=stop)


def make_floor() -> None:
    from django.db import connections

    with connections["ledger"].cursor() as cursor:
        cursor.execute(
            "CREATE TABLE floor AS SELECT a.*, p.body FROM audit_action a, audit_payload p; "
            "ALTER TABLE floor DROP COLUMN id; "
            "ALTER TABLE floor ADD COLUMN id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
        )


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


def goals(writers: dict[str, Any]) -> dict[str, bool]:
    """Each goal, and whether this run met it."""
    ratios = {
        f"at least 0.75 of two bare INSERTs, {count} writers": one["ratio"] >= 0.75
        for count, one in writers.items()
    }
    p50 = writers["4"]["ledger"]["p50_ms"]
    return ratios | {"p50 of an action at most 1.5 ms, 4 writers": p50 <= 1.5}


def main() -> None:
    with own_database():
        make_floor()
        stop = threading.Event()
        sealer = threading.Thread(target=seal, args=[stop])
        sealer.start()
        try:
            writers = writing()
        finally:
            stop.set()
            sealer.join()
        print(json.dumps({"writers": writers, "goals": tell(goals(writers))}))


if __name__ == "__main__":
    main()
