"""A backup, and what comes back from it: a sound ledger, stopped until a person says otherwise."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from django.db import connections

from agents.installation import backup
from guardrails.models import KillSwitch
from tests import database as server
from tests.audit import sealed
from tests.audit.databases import await_order, command, connected, fresh_database, url
from tests.audit.entries import append_action

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@contextmanager
def empty_database() -> Iterator[str]:
    name = f"test_remit_{os.getpid()}_{uuid4().hex[:8]}"
    with psycopg.connect(**server.parameters("postgres")) as session:
        session.execute(f'CREATE DATABASE "{name}"')
        try:
            yield url(name)
        finally:
            session.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def test_a_backup_comes_back_whole_sound_and_stopped(tmp_path: Path) -> None:
    tenant_id, path = uuid4(), tmp_path / "remit.dump"
    with fresh_database() as before:
        with connected(before):
            append_action(tenant_id=tenant_id)
            await_order(before)
            sealed.seal(tenant_id)
        assert f"bytes are in {path}" in command("backup", str(path), database=before)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert command("backup", str(path), database=before) == (
            f"CommandError: {path} cannot be made: File exists."
        )
        assert "This database is not empty" in command("restore", str(path), database=before)

    with empty_database() as after:
        said = command("restore", str(path), database=after)

        assert "The ledger verifies: 2 rows of 1 actions, 0 open attempts." in said
        assert "SOUND. All actions are stopped." in said
        with connected(after):
            (switch,) = KillSwitch.objects.all()
            assert (switch.is_whole, switch.organisation_id, switch.lifted_at) == (True, None, None)
            assert switch.why.startswith("Restored from remit.dump on ")


def test_what_is_no_backup_leaves_the_database_empty(tmp_path: Path) -> None:
    path = tmp_path / "broken.dump"
    path.write_bytes(b"PGDMP no archive at all")
    with empty_database() as after:
        assert command("restore", str(path), database=after).startswith(
            "CommandError: pg_restore says: "
        )
        assert command("restore", str(tmp_path / "x"), database=after) == (
            f"CommandError: There is no file {tmp_path / 'x'}."
        )


def test_a_server_whose_counter_is_behind_is_moved_on(monkeypatch: pytest.MonkeyPatch) -> None:
    counter = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint"
    said: list[str] = []
    monkeypatch.setattr(backup, "AT_ONCE", 1000)
    with server.unpooled(), connections["ledger"].cursor() as cursor:
        cursor.execute(counter)
        (before,) = cursor.fetchone()
        monkeypatch.setattr(backup, "BEHIND", "SELECT 2500")
        backup.count_on(said.append)
        cursor.execute(counter)
        (after,) = cursor.fetchone()
        monkeypatch.setattr(backup, "BEHIND", "SELECT 200000001")
        with pytest.raises(backup.BackupError, match=r"200,000,002 behind .* pg_resetwal"):
            backup.count_on(said.append)

    assert after - before >= 2501
    assert said == [f"The transaction counter moves on: {n:,} to go" for n in (1501, 501)]
