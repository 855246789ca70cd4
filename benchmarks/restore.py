"""A backup, restored into a new cluster: is the ledger sound there, and does it go on?

    make bench NAME=restore

ROWS (2000) rows of three organisations are appended and sealed, backed up, and restored into a
cluster made a moment ago, whose transaction counter stands low. There the ledger must verify, seal
what had no seal yet, and verify again. The last line is JSON.
"""

import base64
import json
import os
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

SIGNING_KEY = base64.b64encode(secrets.token_bytes(32)).decode()
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
    sealer = {"REMIT_PROCESS": "sealer", "LEDGER_SIGNING_KEY": SIGNING_KEY}
    ran = subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=PROJECT,
        env=os.environ
        | {"DATABASE_URL": database}
        | (sealer if command[0] == "seal_ledger" else {}),
        capture_output=True,
        text=True,
        check=False,
    )
    said = (ran.stdout + ran.stderr).strip().splitlines()
    return ran.returncode, said[-1] if said else ""


def measure(folder: Path, new: Path) -> dict[str, object]:
    from django.db import connection, connections

    from config.local import embedded
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
    backup = folder / "remit.dump"
    began = time.monotonic()
    backed_up = manage("backup", str(backup), database=before)
    database = embedded.start(new)
    restored = manage("restore", str(backup), database=database)
    seconds = time.monotonic() - began
    steps = {
        "verified_before": verified,
        "sealed_before": sealed if sealed[0] else sealed_too,
        "backed_up": backed_up,
        "restored": restored,
        "verified_after": manage("verify_ledger", database=database),
        "sealed_after": manage("seal_ledger", "--once", database=database),
        "verified_at_last": manage("verify_ledger", database=database),
    }
    for name, (code, said) in steps.items():
        print(f"{name:18} {code} {said}", flush=True)
    codes = [code for code, _ in steps.values()]
    return {"rows": ROWS, "restored_in_s": round(seconds, 1), "sound": not any(codes)}


def main() -> int:
    from config.local import embedded

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
