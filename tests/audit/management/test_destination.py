"""An export that breaks off leaves no file behind and says what to do."""

import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connections

from audit.bundle import archive
from audit.contracts import Filters, Recorded
from audit.formats import export
from audit.ledger import selectors
from tests.audit import sealed
from tests.audit.bundle import files as bundles
from tests.audit.databases import url
from tests.database import unpooled

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
COMMANDS = ["export_ledger", "export_bundle"]
LOST = (
    r"^The ledger's database was lost: .+\. Export again once it answers\.\nNothing was exported\.$"
)


@pytest.fixture
def tenant_id() -> UUID:
    tenant_id = uuid4()
    bundles.fill(tenant_id, actions=3)
    return tenant_id


@pytest.fixture(autouse=True)
def no_pool() -> Iterator[None]:
    """As commands have none: a session that ends is not replaced by one that waits."""
    with unpooled():
        yield


def exports(tenant_id: UUID) -> tuple[Recorded, ...]:
    rows = selectors.about_ledger(tenant_id, export.ACTION_TYPE)
    assert len({row.action_id for row in rows}) <= 1
    return rows[::-1]


def end_session() -> None:
    """As an administrator or a failing server ends it."""
    ledger: Any = connections["ledger"].connection
    with psycopg.connect(url("postgres"), autocommit=True) as session:
        session.execute("SELECT pg_terminate_backend(%s, 5000)", [ledger.info.backend_pid])


@contextmanager
def database_away() -> Iterator[None]:
    """It takes no new session; those that there are go on."""
    change = f'ALTER DATABASE "{connections["default"].settings_dict["NAME"]}" ALLOW_CONNECTIONS'
    with psycopg.connect(url("postgres"), autocommit=True) as session:
        session.execute(f"{change} false")
        try:
            yield
        finally:
            session.execute(f"{change} true")


def in_the_middle(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], None]) -> None:
    """Behind the second page or chunk, in whichever format."""
    monkeypatch.setattr("audit.formats.stored.PAGE", 2)
    monkeypatch.setattr("audit.bundle.rows.PAGE", 2)
    monkeypatch.setattr("audit.bundle.archive.CHUNK", 1)
    for made, name in ((export.Export, "encoded"), (archive.Archive, "written")):
        whole = getattr(made, name)

        def broken(self: Any, *given: Any, whole: Any = whole) -> Iterator[bytes]:
            for number, chunk in enumerate(whole(self, *given)):
                yield chunk
                if number == 1:
                    happens()

        monkeypatch.setattr(made, name, broken)


def at_the_end(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], None]) -> None:
    """When all is written, and success is about to be recorded."""
    record = export.record

    def broken(**said: Any) -> None:
        if said["status"] == "succeeded":
            happens()
        record(**said)

    monkeypatch.setattr(export, "record", broken)


@pytest.mark.parametrize("moment", [in_the_middle, at_the_end])
@pytest.mark.parametrize("command", COMMANDS)
def test_where_the_ledger_is_lost_no_file_is_left_and_the_ledger_says_failed(
    tenant_id: UUID,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    moment: Callable[[pytest.MonkeyPatch, Callable[[], None]], None],
    command: str,
) -> None:
    output = tmp_path / "november"
    with monkeypatch.context() as patch:
        moment(patch, end_session)
        with pytest.raises(CommandError, match=LOST):
            call_command(command, f"--tenant={tenant_id}", f"--output={output}")
    assert list(tmp_path.iterdir()) == []
    assert [(row.status, row.error_code) for row in exports(tenant_id)] == [
        ("pending", ""),
        ("failed", "interrupted"),
    ]
    sealed.seal(tenant_id)
    call_command(command, f"--tenant={tenant_id}", f"--output={output}")
    assert output.stat().st_size > 0


@pytest.mark.parametrize("moment", [in_the_middle, at_the_end])
@pytest.mark.parametrize("command", COMMANDS)
def test_where_the_database_stays_away_the_ledger_shows_that_the_export_has_not_ended(
    tenant_id: UUID,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    moment: Callable[[pytest.MonkeyPatch, Callable[[], None]], None],
    command: str,
) -> None:
    with database_away_when(moment, monkeypatch), pytest.raises(CommandError, match=LOST):
        call_command(command, f"--tenant={tenant_id}", f"--output={tmp_path / 'november'}")
    assert list(tmp_path.iterdir()) == []
    assert "ledger.export_end_not_recorded" in caplog.text
    assert [row.status for row in exports(tenant_id)] == ["pending"]
    waiting = selectors.actions(filters=Filters(tenant_id=tenant_id, status="pending")).rows
    assert [row.action_type for row in waiting] == [export.ACTION_TYPE]


@contextmanager
def database_away_when(
    moment: Callable[[pytest.MonkeyPatch, Callable[[], None]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[None]:
    with monkeypatch.context() as patch:
        away = database_away()

        def goes() -> None:
            away.__enter__()
            end_session()

        moment(patch, goes)
        try:
            yield
        finally:
            away.__exit__(None, None, None)


def test_standard_output_says_when_it_is_less_than_whole(
    tenant_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = BytesIO()
    monkeypatch.setattr("sys.stdout", SimpleNamespace(buffer=written))
    in_the_middle(monkeypatch, end_session)
    with pytest.raises(CommandError, match=r"\nNothing was exported, or not all of it\.$"):
        call_command("export_ledger", f"--tenant={tenant_id}")
    assert written.getvalue()
    assert not written.closed
    assert b"manifest" not in written.getvalue().splitlines()[-1]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_ledger_that_is_away_from_the_start_is_said(
    tenant_id: UUID, tmp_path: Path, command: str
) -> None:
    connections["ledger"].close()
    with database_away(), pytest.raises(CommandError, match=LOST):
        call_command(command, f"--tenant={tenant_id}", f"--output={tmp_path / 'november'}")
    assert list(tmp_path.iterdir()) == []
    assert exports(tenant_id) == ()


@pytest.mark.parametrize("command", COMMANDS)
def test_ctrl_c_leaves_no_file_either(
    tenant_id: UUID, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    in_the_middle(monkeypatch, interrupt)
    with pytest.raises(KeyboardInterrupt):
        call_command(command, f"--tenant={tenant_id}", f"--output={tmp_path / 'november'}")
    assert list(tmp_path.iterdir()) == []
    assert [row.status for row in exports(tenant_id)] == ["pending", "failed"]


def test_a_manifest_that_cannot_be_written_is_said(tenant_id: UUID, tmp_path: Path) -> None:
    (tmp_path / "november.manifest.json").mkdir()
    with pytest.raises(CommandError, match="is whole, but not its manifest: Is a directory"):
        call_command("export_ledger", f"--tenant={tenant_id}", f"--output={tmp_path / 'november'}")
    assert (tmp_path / "november").stat().st_size > 0


@pytest.mark.parametrize("command", COMMANDS)
def test_what_cannot_be_written_is_said_and_no_file_is_left(
    tenant_id: UUID, tmp_path: Path, command: str
) -> None:
    """The disk is full, as far as this process can tell."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(
            CommandError, match=r"^Writing broke off: File too large\.\nNothing was"
        ):
            call_command(command, f"--tenant={tenant_id}", f"--output={tmp_path / 'november'}")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert list(tmp_path.iterdir()) == []
