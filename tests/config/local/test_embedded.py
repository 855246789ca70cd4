import os
import pwd
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from config.local import embedded, place, processes, state

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A state folder whose path has a space and letters outside ASCII."""
    folder = tmp_path_factory.mktemp("zustand ö 状態")
    yield folder
    embedded.remove(folder)


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A state folder that is set up once; any test may start, stop or kill its server."""
    folder = tmp_path_factory.mktemp("standing ö 状態")
    yield folder
    embedded.remove(folder)


def ask(url: str, question: str) -> object:
    with psycopg.connect(url) as session:
        row = session.execute(question.encode()).fetchone()
    assert row is not None
    return row[0]


def postmaster(folder: Path) -> int:
    home = place.find(folder, embedded._connection(folder).password)
    assert home is not None
    return int((home.data / "postmaster.pid").read_text().splitlines()[0])


def test_a_started_server_answers_at_its_url_and_has_pgvector(standing: Path) -> None:
    url = embedded.start(standing)

    assert url == embedded.url(standing)
    assert embedded.is_running(standing)
    assert ask(url, "SELECT current_database()") == "remit"
    assert ask(url, "SELECT name FROM pg_available_extensions WHERE name = 'vector'") == "vector"
    assert ask(url, "SHOW listen_addresses") == "127.0.0.1"
    assert ask(url, "SHOW unix_socket_directories") == ""


def test_text_sorts_the_same_whatever_the_locale_of_the_shell(standing: Path) -> None:
    url = embedded.start(standing)

    query = "SELECT datlocprovider::text || datlocale FROM pg_database WHERE datname = 'remit'"
    assert ask(url, query) == "bC.UTF-8"


def test_the_url_is_known_before_the_server_runs(folder: Path) -> None:
    assert embedded.url(folder) == embedded.url(folder)
    assert not embedded.is_running(folder)
    assert oct((folder / "postgres.json").stat().st_mode & 0o777) == "0o600"


def test_a_wrong_password_is_refused(standing: Path) -> None:
    url = embedded.start(standing)
    password = embedded._connection(standing).password

    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(url.replace(password, "guess"))


def test_a_second_start_joins_the_running_server(standing: Path) -> None:
    first = embedded.start(standing)
    pid = postmaster(standing)

    assert embedded.start(standing) == first
    assert postmaster(standing) == pid


def test_only_a_server_for_tests_skips_writing_through_to_the_disk(standing: Path) -> None:
    embedded.stop(standing)
    assert ask(embedded.start(standing, durable=False), "SHOW fsync") == "off"
    embedded.stop(standing)
    assert ask(embedded.start(standing), "SHOW fsync") == "on"


def test_words_of_a_statement_that_failed_are_not_logged(standing: Path) -> None:
    url = embedded.start(standing)
    for statement in ("SELECT 'Zebrafinch'::uuid", "SELECT 1 / 0, 'Zebrafinch'"):
        with pytest.raises(psycopg.Error):
            ask(url, statement)

    home = place.find(standing, embedded._connection(standing).password)
    assert home is not None
    log = home.log.read_text()
    assert "ready to accept connections" in log
    assert "Zebrafinch" not in log


def test_starts_at_the_same_time_share_one_server(folder: Path) -> None:
    command = [sys.executable, "-m", "config.local.embedded", "start"]
    environment = os.environ | {"REMIT_STATE_DIR": str(folder)}

    def run(_: int) -> int:
        return subprocess.run(
            command, cwd=state.PROJECT_DIR, env=environment, capture_output=True, check=False
        ).returncode

    with ThreadPoolExecutor(3) as pool:
        codes = list(pool.map(run, range(3)))

    assert codes == [0, 0, 0]
    assert ask(embedded.url(folder), "SELECT 1") == 1


def test_a_stopped_server_keeps_its_data(standing: Path) -> None:
    url = embedded.start(standing)
    with psycopg.connect(url) as session:
        session.execute("CREATE TABLE IF NOT EXISTS kept AS SELECT 42 AS answer")

    embedded.stop(standing)

    assert not embedded.is_running(standing)
    embedded.stop(standing)  # once more changes nothing
    assert ask(embedded.start(standing), "SELECT answer FROM kept") == 42


def test_a_killed_server_starts_again_with_committed_data(standing: Path) -> None:
    url = embedded.start(standing)
    with psycopg.connect(url) as session:
        session.execute("CREATE TABLE IF NOT EXISTS kept AS SELECT 42 AS answer")
    os.kill(postmaster(standing), signal.SIGKILL)

    assert ask(embedded.start(standing), "SELECT answer FROM kept") == 42


def test_a_pid_file_that_names_a_foreign_process_is_no_running_server(standing: Path) -> None:
    embedded.start(standing)
    home = place.find(standing, embedded._connection(standing).password)
    assert home is not None
    path = home.data / "postmaster.pid"
    text = path.read_text()
    embedded.stop(standing)
    # A process of the same user as the server's, which PostgreSQL alone would respect.
    with subprocess.Popen(["sleep", "300"], user=home.user) as stranger:
        try:
            path.write_text(text.replace(text.splitlines()[0], str(stranger.pid), 1))

            assert not embedded.is_running(standing)
            embedded.stop(standing)
            assert stranger.poll() is None
            assert ask(embedded.start(standing), "SELECT 1") == 1
        finally:
            stranger.kill()


@pytest.mark.parametrize("text", ["", "12", "not a number\n\n"])
def test_a_broken_pid_file_does_not_keep_the_server_down(standing: Path, text: str) -> None:
    embedded.start(standing)
    embedded.stop(standing)
    home = place.find(standing, embedded._connection(standing).password)
    assert home is not None
    (home.data / "postmaster.pid").write_text(text)

    assert ask(embedded.start(standing), "SELECT 1") == 1


def test_a_taken_port_is_replaced(standing: Path) -> None:
    embedded.stop(standing)
    first = embedded.url(standing)
    with socket.create_server(("127.0.0.1", embedded._connection(standing).port)):
        url = embedded.start(standing)

    assert url != first
    assert url == embedded.url(standing)
    assert ask(url, "SELECT 1") == 1


def test_an_interrupted_set_up_is_done_again(folder: Path) -> None:
    home = place.settle(folder, embedded._connection(folder).password)
    draft = home.home / "data.draft"
    draft.mkdir()
    (draft / "PG_VERSION").write_text("18\n")

    assert ask(embedded.start(folder), "SELECT 1") == 1
    assert not draft.exists()


def test_a_failed_set_up_says_what_postgresql_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "ROLE", "pg_reserved")

    with pytest.raises(embedded.EmbeddedDatabaseError, match="could not be set up") as failure:
        embedded.start(folder)

    assert "pg_reserved" in str(failure.value)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(state.StateError, match="REMIT_STATE_DIR"):
        embedded.start(tmp_path / "file" / "state")


def test_the_server_does_not_inherit_open_files(standing: Path) -> None:
    embedded.stop(standing)
    read_end, write_end = os.pipe()
    os.set_inheritable(write_end, True)
    try:
        embedded.start(standing)
        os.close(write_end)
        assert os.read(read_end, 1) == b""  # the end of the file: nobody else holds it
    finally:
        os.close(read_end)


def test_the_server_has_a_session_of_its_own(standing: Path) -> None:
    embedded.start(standing)

    assert os.getsid(postmaster(standing)) != os.getsid(0)


def test_remove_leaves_nothing_behind(folder: Path) -> None:
    embedded.start(folder)
    pid = postmaster(folder)
    away = place.relocated(folder, embedded._connection(folder).password)

    embedded.remove(folder)

    assert processes.command(pid) == ""
    assert not away.exists()
    assert sorted(path.name for path in folder.iterdir()) == ["postgres.lock"]


def test_the_command_line_reports_what_it_did(folder: Path) -> None:
    def run(*arguments: str) -> tuple[int, str]:
        result = subprocess.run(
            [sys.executable, "-m", "config.local.embedded", *arguments],
            cwd=state.PROJECT_DIR,
            env=os.environ | {"REMIT_STATE_DIR": str(folder)},
            capture_output=True,
            text=True,
            check=False,
        )
        return result.returncode, result.stdout.strip()

    assert run("status") == (3, "The embedded database does not run.")
    assert run("start") == (0, "The embedded database runs.")
    assert run("status") == (0, "The embedded database runs.")
    assert run("psql", "-At", "-c", "SELECT current_user") == (0, "remit")
    assert run("url") == (0, embedded.url(folder))
    assert run("stop") == (0, "The embedded database is stopped.")
    assert run("jump")[0] == 2


as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@as_root
def test_as_root_the_server_runs_as_another_user(standing: Path) -> None:
    embedded.start(standing)

    assert Path(f"/proc/{postmaster(standing)}").stat().st_uid != 0


@as_root
def test_as_root_a_folder_closed_to_others_stays_closed(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    folder = tmp_path / "state"
    try:
        url = embedded.start(folder)

        assert ask(url, "SELECT 1") == 1
        assert oct(tmp_path.stat().st_mode & 0o777) == "0o700"
        away = place.relocated(folder, embedded._connection(folder).password)
        assert (away / "postgres" / "data").exists()
        embedded.stop(folder)
        assert ask(embedded.start(folder), "SELECT 1") == 1
    finally:
        embedded.remove(folder)
    assert not away.exists()


@as_root
def test_an_ordinary_user_keeps_everything_in_the_state_folder() -> None:
    python = next(
        (
            path
            for path in ("/usr/bin/python3", "/usr/local/bin/python3")
            if Path(path).exists() and version_of(path) == sys.version_info[:2]
        ),
        None,
    )
    if python is None:
        pytest.skip("no Python of this version that another user may run")
    with tempfile.TemporaryDirectory(prefix="remit ordinary ") as folder:
        user = pwd.getpwnam("daemon")
        os.chown(folder, user.pw_uid, user.pw_gid)

        def run(*arguments: str) -> tuple[int, str]:
            result = subprocess.run(
                [str(python), *arguments],
                cwd=state.PROJECT_DIR,
                env={
                    "PATH": os.environ["PATH"],
                    "PYTHONPATH": str(Path(psycopg.__file__).parent.parent),
                    "PYTHONDONTWRITEBYTECODE": "1",
                    "REMIT_STATE_DIR": folder,
                },
                user=user.pw_uid,
                group=user.pw_gid,
                extra_groups=[],
                capture_output=True,
                text=True,
                check=False,
            )
            return result.returncode, result.stdout + result.stderr

        if run("-c", "import config.local.embedded, psycopg")[0]:
            pytest.skip("another user may not read this project")
        launcher = ("-m", "config.local.embedded")
        try:
            assert run(*launcher, "start") == (0, "The embedded database runs.\n")
            assert run(*launcher, "start") == (0, "The embedded database runs.\n")
            pid = postmaster(Path(folder))
            assert Path(f"/proc/{pid}").stat().st_uid == user.pw_uid
            assert (Path(folder) / "postgres" / "data").stat().st_uid == user.pw_uid
        finally:
            assert run(*launcher, "stop") == (0, "The embedded database is stopped.\n")


def version_of(python: str) -> tuple[int, ...]:
    code = "import sys; print(*sys.version_info[:2])"
    result = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return tuple(int(part) for part in result.stdout.split())
