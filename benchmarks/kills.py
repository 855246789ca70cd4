"""Processes and the database are killed (SIGKILL) while they write the ledger.

    make bench NAME=kills            (KILLS="200 5" for fewer: workers, servers)

Workers do actions: attempt, effect, outcome. What they had done and what the ledger had
acknowledged is noted outside of it. After each kill three things must be 0: effects without
an attempt, acknowledged rows that are gone, and attempts without outcome that recovery would
not be shown. The last line is JSON; the exit code is 1 if one is not 0. A database of its own
is made, and removed at the end.
"""

import json
import os
import random
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.database import own_database  # after the path

WORKERS, SERVERS = 2000, 50
WRITERS = 4
GIVE_UP_SECONDS = 60
STEPS = 8  # of two actions: begun, attempt committed, effect, outcome committed
LONGEST_SECONDS = 0.003  # that a worker goes on behind the step at which it is killed


@dataclass(frozen=True)
class Notes:
    """What happened, kept where no kill takes it away: one line is one write."""

    effects: Path
    acknowledged: Path

    def add(self, path: Path, text: object) -> None:
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(handle, f"{text}\n".encode())
        os.close(handle)

    def lines(self, path: Path) -> set[str]:
        # The last line is missing its end when the kill came in between.
        return set(path.read_text().splitlines()) if path.exists() else set()


def work(tenant_id: UUID, notes: Notes, tell: Callable[[], object] = lambda: None) -> None:
    """Act until killed; `tell` is called at every step."""
    from audit.contracts import Entry
    from audit.ledger import ledger
    from audit.ledger.ids import uuid7

    while True:
        tell()
        action_id = uuid7()
        same: dict[str, Any] = {
            "tenant_id": tenant_id,
            "action_id": action_id,
            "action_type": "archive",
            "occurred_at": datetime.now(UTC),
            "payload": {"text": "x" * 500},
        }
        notes.add(
            notes.acknowledged, ledger.append(Entry(**same, phase="attempt", status="pending"))
        )
        tell()
        notes.add(notes.effects, action_id)
        tell()
        notes.add(
            notes.acknowledged, ledger.append(Entry(**same, phase="outcome", status="succeeded"))
        )
        tell()


def forked(act: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        try:
            act()
        except BaseException:  # noqa: BLE001  # the database was killed under it
            os._exit(1)
    return child


def kill_workers(count: int, tenant_id: UUID, notes: Notes, luck: random.Random) -> None:
    read, write = os.pipe()

    def tell() -> None:
        os.write(write, b".")

    for number in range(count):
        child = forked(lambda: work(tenant_id, notes, tell))
        reported = 0
        while reported <= number % STEPS:
            if not select.select([read], [], [], GIVE_UP_SECONDS)[0]:
                raise SystemExit("A worker ended by itself, before it was killed.")
            reported += len(os.read(read, 1))
        time.sleep(luck.uniform(0, LONGEST_SECONDS))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        drain(read)
    os.close(read)
    os.close(write)


def drain(pipe: int) -> None:
    """Forget what the killed worker reported last."""
    os.set_blocking(pipe, False)
    with suppress(BlockingIOError):
        while os.read(pipe, 100):
            pass
    os.set_blocking(pipe, True)


def query(statement: str, *parameters: object) -> list[Any]:
    """On a connection that is gone afterwards: none may be open when a worker is forked."""
    import psycopg

    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as session:
        return session.execute(statement.encode(), parameters).fetchall()


def postmaster() -> int:
    ((content,),) = query("SELECT pg_read_file('postmaster.pid')")
    return int(content.split()[0])


def kill_servers(
    count: int, folder: Path, tenant_id: UUID, notes: Notes, luck: random.Random
) -> None:
    from config.local import embedded

    for _ in range(count):
        children = [forked(lambda: work(tenant_id, notes)) for _ in range(WRITERS)]
        time.sleep(luck.uniform(0.2, 1.0))
        os.killpg(os.getpgid(postmaster()), signal.SIGKILL)
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        embedded.start(folder)


def findings(tenant_id: UUID, notes: Notes, *, since: datetime) -> dict[str, int]:
    """What is wrong, counted; and how much was looked at."""
    from audit.ledger import selectors

    effects, acknowledged = notes.lines(notes.effects), notes.lines(notes.acknowledged)
    rows = query("SELECT id, action_id, phase FROM audit_action WHERE tenant_id = %s", tenant_id)
    attempts = {str(action) for _, action, phase in rows if phase == "attempt"}
    outcomes = {str(action) for _, action, phase in rows if phase == "outcome"}
    later = datetime.now(UTC) + timedelta(minutes=1)
    shown = {
        str(row.action_id)
        for row in selectors.open_attempts(older_than=later, newer_than=since, limit=len(rows) + 1)
        if row.tenant_id == tenant_id
    }
    return {
        "rows": len(rows),
        "effects": len(effects),
        "acknowledged": len(acknowledged),
        "open_attempts": len(attempts - outcomes),
        "effects_without_attempt": len(effects - attempts),
        "acknowledged_rows_lost": len(acknowledged - {str(row[0]) for row in rows}),
        "open_attempts_not_shown": len((attempts - outcomes) ^ shown),
    }


def kill(folder: Path, *, workers: int, servers: int, seed: int) -> dict[str, int]:
    """On the database of DATABASE_URL, which is the embedded one of `folder` if servers are
    to be killed. Returns what was found; the last three numbers must be 0."""
    from django.db import connections

    tenant_id, luck, began = uuid4(), random.Random(seed), datetime.now(UTC)
    notes = Notes(effects=folder / "effects", acknowledged=folder / "acknowledged")
    connections.close_all()
    kill_workers(workers, tenant_id, notes, luck)
    kill_servers(servers, folder, tenant_id, notes, luck)
    return {"workers": workers, "servers": servers} | findings(tenant_id, notes, since=began)


WRONG = ("effects_without_attempt", "acknowledged_rows_lost", "open_attempts_not_shown")


def main() -> int:
    wanted = os.environ.get("KILLS", f"{WORKERS} {SERVERS}").split()
    with own_database("audit") as folder:
        found = kill(folder, workers=int(wanted[0]), servers=int(wanted[1]), seed=1)
        print(json.dumps(found))
    return 1 if any(found[name] for name in WRONG) else 0


if __name__ == "__main__":
    sys.exit(main())
