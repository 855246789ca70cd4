"""A backup, restored into a new cluster: is the ledger sound there, and does it go on?

    make bench NAME=restore

ROWS (2000) rows of three organisations are appended and sealed, dumped with pg_dump, and
restored with pg_restore into a cluster made a moment ago, whose transaction counter stands low. The
sealer must refuse there and say what to do; after that is done the ledger must verify, take new
rows, seal them, and verify again. The last line is JSON.
"""

import base64
import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.corpus import PROJECT  # after the path
from benchmarks.database import own_database

ROWS, TENANTS, SPENT = int(os.environ.get("ROWS", "2000")), 3, 3000


def append(count: int) -> None:
    from audit.contracts import Entry
    from audit.ledger import ledger
    from audit.ledger.ids import uuid7
    from integrations.models import Organisation

    ids = list(Organisation.objects.order_by("slug").values_list("id", flat=True))
    for number in range(count):
        for phase, status in (("attempt", "pending"), ("outcome", "succeeded")):
            if phase == "attempt":
                action_id = uuid7()
            ledger.append(
                Entry(
                    tenant_id=ids[number % TENANTS],
                    action_id=action_id,
                    phase=phase,  # type: ignore[arg-type]
                    status=status,  # type: ignore[arg-type]
                    action_type="archive",
                    occurred_at=datetime.now(UTC),
                    decision="allowed",
                    payload={"arguments": {"email_id": f"mail-{number}"}},
                )
            )


def manage(*command: str, database: str) -> tuple[int, str]:
    """What a command of manage.py says about this database, in a process of its own."""
    ran = subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=PROJECT,
        env=os.environ | {"DATABASE_URL": database},
        capture_output=True,
        text=True,
        check=False,
    )
    said = (ran.stdout + ran.stderr).strip().splitlines()
    return ran.returncode, said[-1] if said else ""


def restore(folder: Path, new: Path) -> tuple[str, float]:
    """The address of a new cluster that holds the dump of the old one, and how long that took."""
    from config.local import embedded, place

    dump, binaries = folder / "backup.dump", place.binaries_dir()
    began = time.monotonic()
    old = os.environ["DATABASE_URL"]
    subprocess.run([str(binaries / "pg_dump"), "-Fc", "-f", str(dump), old], check=True)
    database = embedded.start(new)
    command = [str(binaries / "pg_restore"), "--no-owner", "--exit-on-error", "-d", database]
    subprocess.run([*command, str(dump)], check=True)
    return database, time.monotonic() - began


def move_counter(new: Path, database: str, past: int) -> str:
    """As the sealer says, with the server stopped. The address, which may be another one."""
    import psycopg

    from config.local import embedded

    with psycopg.connect(database) as session:
        row = session.execute("SHOW data_directory").fetchone()
    assert row
    data = Path(row[0])
    process = (data / "postmaster.pid").read_text().split()[0]
    binaries = Path(f"/proc/{process}/exe").resolve().parent
    embedded.stop(new)
    subprocess.run(
        [
            *(str(binaries / "pg_resetwal"), "-e", str(past >> 32)),
            *("-x", str((past & 0xFFFFFFFF) + 1000), "-D", str(data)),
        ],
        user=data.stat().st_uid,  # it is for the server's own user
        cwd=data,
        capture_output=True,
        check=True,
    )
    return embedded.start(new)


def measure(folder: Path, new: Path) -> dict[str, object]:
    from django.db import connection, connections

    from integrations.models import Organisation

    for number in range(TENANTS):
        Organisation.objects.create(slug=f"office-{number}", name=f"Office {number}")
    with connection.cursor() as cursor:
        for _ in range(SPENT):  # a database that has lived
            cursor.execute("SELECT pg_current_xact_id()")
    append(ROWS // 2)
    before = os.environ["DATABASE_URL"]
    sealed = manage("seal_ledger", "--once", database=before)
    verified = manage("verify_ledger", database=before)
    sealed_too = manage("seal_ledger", "--once", database=before)
    connections.close_all()
    database, seconds = restore(folder, new)
    refused = manage("seal_ledger", "--once", database=database)
    named = re.search(r"sealed one, (\d+)", refused[1])
    if named:
        database = move_counter(new, database, int(named[1]))
    steps = {
        "verified_before": verified,
        "sealed_before": sealed if sealed[0] else sealed_too,
        "sealer_refused": refused,
        "verified_after": manage("verify_ledger", database=database),
        "sealed_after": manage("seal_ledger", "--once", database=database),
        "verified_at_last": manage("verify_ledger", database=database),
    }
    for name, (code, said) in steps.items():
        print(f"{name:18} {code} {said}", flush=True)
    codes = {name: code for name, (code, _) in steps.items()}
    refused_rightly = codes.pop("sealer_refused") == 1 and named is not None
    return {
        "rows": ROWS,
        "restored_in_s": round(seconds, 1),
        "sealer_refused_until_told": refused_rightly,
        "sound": refused_rightly and not any(codes.values()),
    }


def main() -> int:
    from config.local import embedded

    os.environ["LEDGER_SIGNING_KEY"] = base64.b64encode(secrets.token_bytes(32)).decode()
    os.environ["REMIT_PROCESS"] = "sealer"
    with own_database() as folder, tempfile.TemporaryDirectory() as name:
        new = Path(name) / str(uuid4())
        new.mkdir()
        try:
            found = measure(folder, new)
        finally:
            embedded.remove(new)
    print(json.dumps(found))
    return 0 if found["sound"] else 1


if __name__ == "__main__":
    sys.exit(main())
