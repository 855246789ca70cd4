"""Trials of the ledger: nothing in it can be changed, and what is changed all the same shows."""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import DatabaseError, connections, transaction
from django.db.backends.utils import CursorWrapper

from agents.installation.approving import confirm
from agents.installation.guarantees import Broken, expect
from agents.installation.office import Office
from audit.bundle import verify
from audit.bundle.contents import Bundle
from audit.contracts import Filters
from audit.database import clock, guards
from audit.keeping import erasure
from audit.ledger import chain
from audit.ledger.keys import tenant_key
from audit.ledger.routing import LEDGER
from audit.models import ExecutedAgentAction, LedgerPayload, envelope
from audit.seals.progress import find_newest_checkpoint
from audit.verification.rows import Verification
from guardrails.contracts import ActionResult

ALTER = "UPDATE audit_action SET status = 'failed' WHERE action_id = %s AND phase = 'outcome'"
VERIFIER = Path(verify.__file__)
SOUND, NOT_SOUND = 0, 1  # exit codes of the program that comes with a bundle


class _Undo(Exception):
    """Takes back what a trial did as the owner of the tables."""


def no_row_is_changed(office: Office) -> None:
    """The database refuses to change, delete or empty rows of the ledger, also for their owner."""
    action_id = done(office).action_id
    for statement in (
        "UPDATE audit_action SET status = 'failed' WHERE action_id = %s",
        "DELETE FROM audit_action WHERE action_id = %s",
        "UPDATE audit_payload SET body = '{}' WHERE action_id = %s",
        "TRUNCATE audit_action CASCADE",
    ):
        if _goes_through(statement, action_id):
            raise Broken(f"The database let it through: {statement}")


def altered_row_shows(office: Office) -> None:
    """A row that was altered by somebody who owns the database is found, sealed or not."""
    action_id = done(office).action_id
    for is_sealed in (False, True):
        if is_sealed:
            office.seal()
        expect("Findings before", findings(office), [])
        with as_owner() as execute:
            execute(ALTER, [action_id])
            if not findings(office):
                raise Broken("It was not found.")


def altered_with_the_key_shows(office: Office) -> None:
    """A sealed row that was altered by somebody who has the ledger's key too is found."""
    action_id = done(office).action_id
    office.seal()
    with as_owner() as execute:
        execute(ALTER, [action_id])
        row = ExecutedAgentAction.objects.get(action_id=action_id, phase="outcome")
        forged = chain.envelope_mac(tenant_key(row.tenant_id), envelope(row))
        execute("UPDATE audit_action SET envelope_mac = %s WHERE id = %s", [forged, row.id])
        if not findings(office):
            raise Broken("It was not found.")


def altered_contents_show(office: Office) -> None:
    """What a row says was done is found where somebody altered it."""
    action_id = done(office).action_id
    with as_owner() as execute:
        execute(
            "UPDATE audit_payload SET body = body || ' ', box = box || '\\x00'"
            " WHERE action_id = %s",
            [action_id],
        )
        if not findings(office):
            raise Broken("It was not found.")


def removed_attempt_shows(office: Office) -> None:
    """An attempt that was removed before it was sealed is found by its outcome."""
    action_id = done(office).action_id
    with as_owner() as execute:
        attempt = ExecutedAgentAction.objects.get(action_id=action_id, phase="attempt").id
        for table, key in (("audit_payload", "row_id"), ("audit_action", "id")):
            execute(f"DELETE FROM {table} WHERE {key} = %s", [attempt])  # noqa: S608
        if not findings(office):
            raise Broken("It was not found.")


def removed_contents_show(office: Office) -> None:
    """What a row says was done is missed where somebody removed it."""
    action_id = done(office).action_id
    with as_owner() as execute:
        execute("DELETE FROM audit_payload WHERE action_id = %s", [action_id])
        if not findings(office):
            raise Broken("It was not found.")


def removed_rows_show(office: Office) -> None:
    """An action that was removed with all its rows is found once it was sealed."""
    action_id = done(office).action_id
    office.seal()
    with as_owner() as execute:
        for table in ("audit_artifact", "audit_payload", "audit_action"):
            execute(f"DELETE FROM {table} WHERE action_id = %s", [action_id])  # noqa: S608
        if not findings(office):
            raise Broken("It was not found.")


def dropped_trigger_shows(office: Office) -> None:
    """A trigger that was dropped or switched off is found, and no process that writes starts."""
    for change in (
        "DROP TRIGGER audit_action_keep ON audit_action",
        "ALTER TABLE audit_action DISABLE TRIGGER USER",
    ):
        with taken_back() as cursor:
            cursor.execute(change)
            if not guards.find_problems() or not findings(office):
                raise Broken(f"It was not found: {change}.")


def bundle_is_sound(office: Office) -> None:
    """A bundle of the ledger is SOUND to the program that comes with it, and one with a single
    altered letter is not."""
    done(office)
    office.seal()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "bundle.zip")
        key = _write_bundle(office, path)
        expect("The bundle", _verdict(path, key), SOUND)
        whole = path.read_bytes()
        path.write_bytes(whole.replace(b'"archive"', b'"archivf"', 1))
        expect("The altered bundle", _verdict(path, key), NOT_SOUND)


def erased_and_still_proven(office: Office) -> None:
    """The contents of rows can be erased, and the ledger still verifies."""
    action_id = done(office).action_id
    office.seal()
    scope = erasure.Scope(tenant_id=office.organisation.id, action_id=action_id)
    erasure.erase(scope, reason="A trial.", actor_id="trial")
    expect("Contents left", LedgerPayload.objects.filter(action_id=action_id).count(), 0)
    office.seal()
    expect("Findings", findings(office), [])


def waits_for_its_seal(office: Office) -> None:
    """While records wait for their seal for too long, nothing is done that cannot be taken back.
    After they are sealed it is."""
    office.permit("trash_email", "ask")
    office.permit("archive")
    approval = office.ask("trash_email", email_id=office.receive())
    office.seal()
    with _dated_back(timedelta(days=1)):
        office.do("archive", email_id=office.receive())
    expect("It became", confirm(approval).reason, "not_sealed")
    writes = len(office.writes())
    office.seal()
    again = office.ask("trash_email", email_id=office.receive())
    expect("Afterwards it became", confirm(again).status, "succeeded")
    expect("Writes at the provider", len(office.writes()), writes + 1)


def clock_that_went_back(office: Office) -> None:
    """A database clock that goes back by more than a second is recorded."""
    now = clock.read_clock()
    readings = iter([now, clock.Reading(now.at - timedelta(minutes=5), now.after, now.before)])
    watch = clock.Watch(read=lambda: next(readings))
    watch.last = now
    watch.look()
    if watch.look() is None:
        raise Broken("It was not noticed.")


def restored_backup_shows(office: Office) -> None:
    """A ledger that was set back to an earlier state contradicts a checkpoint that somebody keeps
    elsewhere."""
    done(office)
    office.seal()
    with tempfile.TemporaryDirectory() as folder:
        earlier, note = Path(folder, "earlier.zip"), Path(folder, "newest.note")
        key = _write_bundle(office, earlier)
        office.do("archive", email_id=office.receive())
        office.seal()
        newest = find_newest_checkpoint(office.organisation.id)
        note.write_text(newest.note if newest else "")
        expect("Alone, the earlier state", _verdict(earlier, key), SOUND)
        expect("Beside the checkpoint", _verdict(earlier, key, note), NOT_SOUND)


def done(office: Office) -> ActionResult:
    """An action with two rows."""
    office.permit("archive")
    return office.do("archive", email_id=office.receive())


def findings(office: Office) -> list[str]:
    return [str(one) for one in Verification(tenant_id=office.organisation.id)]


@contextmanager
def as_owner() -> Iterator[Callable[..., None]]:
    """What somebody can do who owns the tables and covers it up: statements for which the triggers
    are off, and on again behind each. Taken back at the end."""
    with taken_back() as cursor:

        def execute(statement: str, parameters: Sequence[Any]) -> None:
            tables = guards.guarded()
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # else a table is busy until the end
            for _, table in tables:
                cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
            cursor.execute(statement, parameters)
            for whole, table in tables:
                for kind in guards.KINDS:
                    cursor.execute(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {whole}_{kind}")

        yield execute


@contextmanager
def taken_back() -> Iterator[CursorWrapper]:
    """What is done to the ledger in the block is not there afterwards."""
    try:
        with transaction.atomic(using=LEDGER), connections[LEDGER].cursor() as cursor:
            yield cursor
            raise _Undo
    except _Undo:
        return


def _goes_through(statement: str, action_id: UUID) -> bool:
    try:
        with transaction.atomic(using=LEDGER), connections[LEDGER].cursor() as cursor:
            cursor.execute(statement, [action_id] if "%s" in statement else None)
            raise _Undo
    except DatabaseError:
        return False
    except _Undo:
        return True


@contextmanager
def _dated_back(age: timedelta) -> Iterator[None]:
    """Meanwhile the database dates rows as recorded so long ago."""
    change = "ALTER TABLE audit_action ALTER recorded_at SET DEFAULT clock_timestamp()"
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(f"{change} - make_interval(secs => {age.total_seconds()})")
        try:
            yield
        finally:
            cursor.execute(change)


def _write_bundle(office: Office, path: Path) -> str:
    """A bundle of all that is sealed; the key that it is checked with."""
    bundle = Bundle(
        filters=Filters(tenant_id=office.organisation.id),
        actor_type="maintenance",
        actor_id="trial",
    )
    with path.open("wb") as file, closing(iter(bundle)) as chunks:
        file.writelines(chunks)
    return bundle.verifier_key


def _verdict(bundle: Path, key: str, *checkpoints: Path) -> int:
    """The exit code of the verifier, run alone as an auditor runs it."""
    command = [sys.executable, "-I", str(VERIFIER), str(bundle), key, *map(str, checkpoints)]
    return subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode


TRIALS = (
    no_row_is_changed,
    altered_row_shows,
    altered_with_the_key_shows,
    altered_contents_show,
    removed_attempt_shows,
    removed_contents_show,
    removed_rows_show,
    dropped_trigger_shows,
    bundle_is_sound,
    restored_backup_shows,
    erased_and_still_proven,
    waits_for_its_seal,
    clock_that_went_back,
)
