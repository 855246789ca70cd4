import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest

from config.local import database_watch, embedded, place
from config.local.database_watch import DatabaseWatch

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("watched")
    yield folder
    embedded.remove(folder)


@pytest.fixture
def said() -> list[str]:
    return []


def kill(folder: Path) -> Path:
    """Kill the server; returns the folder of its data."""
    home = place.find(folder, embedded._connection(folder).password)
    assert home is not None
    os.kill(int((home.data / "postmaster.pid").read_text().splitlines()[0]), signal.SIGKILL)
    return home.data


def test_a_server_that_runs_is_left_alone(folder: Path, said: list[str]) -> None:
    embedded.start(folder)

    DatabaseWatch(folder, say=said.append).look_after()

    assert said == []


def test_a_killed_server_is_started_again_at_the_same_address(
    folder: Path, said: list[str]
) -> None:
    url = embedded.start(folder)
    watch = DatabaseWatch(folder, say=said.append)
    kill(folder)

    while not said:
        watch.look_after()

    assert said == ["The database stopped and is started again.", "The database was started again."]
    with psycopg.connect(url) as session:
        assert session.execute("SELECT 1").fetchone() == (1,)


def test_one_that_cannot_start_is_tried_again_after_a_growing_pause(
    folder: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded.start(folder)
    now = [0.0]
    monkeypatch.setattr(database_watch, "time", SimpleNamespace(monotonic=lambda: now[0]))
    watch = DatabaseWatch(folder, say=said.append)
    settings = kill(folder) / "postgresql.conf"
    honest = settings.read_text()
    settings.write_text(f"{honest}\nnonsense = 1\n")

    while len(said) < 2:
        watch.look_after()
    watch.look_after()
    assert len(said) == 2
    assert said[1].endswith("It is tried again in 1 s.")
    now[0] += 1
    watch.look_after()
    assert said[2].endswith("It is tried again in 2 s.")
    settings.write_text(honest)
    now[0] += 2
    watch.look_after()

    assert said[3:] == ["The database was started again."]
    assert embedded.is_running(folder)


def test_another_port_is_said_because_others_know_the_old_one(
    folder: Path, said: list[str]
) -> None:
    embedded.start(folder)
    watch = DatabaseWatch(folder, say=said.append)
    port = embedded._connection(folder).port
    embedded.stop(folder)

    with (
        socket.create_server(("127.0.0.1", port)),
        pytest.raises(place.EmbeddedDatabaseError, match="make run"),
    ):
        watch.look_after()
