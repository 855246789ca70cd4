import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from config.local import children, interrupts, processes
from config.local.children import Children, Program, end_leftovers

pytestmark = pytest.mark.slow

SLEEP = (sys.executable, "-c", "import time; time.sleep(300)")
# Says that it is ready, then ignores requests to stop.
STUBBORN = (
    sys.executable,
    "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', "
    "flush=True); time.sleep(300)",
)
# Starts a process of its own and prints its id.
PARENT = (
    sys.executable,
    "-c",
    "import subprocess, sys, time; print(subprocess.Popen([sys.executable, '-c', "
    "'import time; time.sleep(300)']).pid, flush=True); time.sleep(300)",
)


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def running(tmp_path: Path, said: list[str]) -> Iterator[Children]:
    running = Children(
        record=tmp_path / "run.json",
        address="http://127.0.0.1:8000",
        logs=tmp_path / "logs",
        environment=dict(os.environ),
        secrets={"KEY": "of one", "OTHER_KEY": "of another"},
        say=said.append,
    )
    yield running
    running.stop(hurry=lambda: True)


def wait_until(is_so: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.02)


def pid_of(running: Children, index: int = 0) -> int:
    record = json.loads(running._record.read_text())
    return int(record["processes"][index][0])


def printed_pid(running: Children, name: str) -> int:
    wait_until(lambda: running.last_lines(name).strip())
    return int(running.last_lines(name))


def test_each_program_leads_a_session_of_its_own_and_logs_to_its_file(running: Children) -> None:
    command = (sys.executable, "-c", "import os; print(os.getsid(0) == os.getpid())")
    running.start(Program("one", command))

    wait_until(lambda: running.last_lines("one"))
    assert running.last_lines("one") == "  True"


def test_a_program_is_given_the_secrets_that_it_needs_and_writes_files_for_its_owner_only(
    running: Children, tmp_path: Path
) -> None:
    command = (
        *(sys.executable, "-c"),
        "import os, sys; open(sys.argv[1], 'w').close(); "
        "print(sorted(name for name in os.environ if name.endswith('KEY')))",
        str(tmp_path / "state"),
    )
    assert running.run(Program("one", command, needs=frozenset({"KEY", "MISSING_KEY"}))) == 0

    assert "OTHER_KEY" not in running.last_lines("one")
    assert "'KEY'" in running.last_lines("one")
    assert (tmp_path / "state").stat().st_mode & 0o077 == 0
    assert running.log("one").stat().st_mode & 0o077 == 0


def test_a_program_that_dies_is_reported_and_started_again(
    running: Children, said: list[str]
) -> None:
    running.start(Program("one", SLEEP))
    first = pid_of(running)
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: not running.is_alive("one"))

    running.look_after()
    assert said == [f"one stopped (SIGKILL) and starts again in 1 s. Its log: {running.log('one')}"]
    while not running.is_alive("one"):
        running.look_after()

    assert said[1:] == ["one was started again."]
    assert pid_of(running) != first


def test_the_pause_grows_with_every_failure_up_to_a_limit(
    running: Children, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    # The module's own clock: the servers of other tests live by the real one.
    monkeypatch.setattr("config.local.children.time", SimpleNamespace(monotonic=lambda: now[0]))
    running.start(Program("one", (sys.executable, "-c", "raise SystemExit(3)")))

    for _ in range(7):
        running._children["one"].process.wait()
        running.look_after()
        now[0] += children.LONGEST_PAUSE
        running.look_after()

    monkeypatch.undo()
    pauses = [line.split("again in ")[1].split(" s.")[0] for line in said if "exit code 3" in line]
    assert pauses == ["1", "2", "4", "8", "16", "30", "30"]


def test_what_a_dead_program_had_started_does_not_go_on(running: Children) -> None:
    running.start(Program("one", PARENT))
    orphan = printed_pid(running, "one")
    os.kill(pid_of(running), signal.SIGKILL)
    wait_until(lambda: not running.is_alive("one"))

    running.look_after()

    wait_until(lambda: not processes.command(orphan))


def test_stop_ends_programs_and_what_they_started(running: Children) -> None:
    running.start(Program("one", PARENT))
    running.start(Program("two", SLEEP))
    orphan = printed_pid(running, "one")
    second = pid_of(running, 1)

    running.stop(hurry=lambda: False)

    wait_until(lambda: not processes.command(orphan))
    assert processes.command(second) == ""


def test_stop_waits_for_a_stubborn_program_only_so_long(
    running: Children, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(children, "STOP_SECONDS", 0.2)
    running.start(Program("one", STUBBORN))
    wait_until(lambda: "ready" in running.last_lines("one"))
    pid = pid_of(running)

    running.stop(hurry=lambda: False)

    assert processes.command(pid) == ""


def test_a_command_runs_to_its_end_and_returns_its_exit_code(running: Children) -> None:
    command = (sys.executable, "-c", "print('why'); raise SystemExit(4)")

    assert running.run(Program("task", command)) == 4
    assert running.last_lines("task") == "  why"


@pytest.fixture
def obeying() -> Iterator[None]:
    """Ctrl-C raises, also where pytest itself runs in the background and ignores it."""
    before = {request: signal.getsignal(request) for request in interrupts.REQUESTS}
    interrupts.obey()
    yield
    for request, handler in before.items():
        signal.signal(request, handler)


@pytest.mark.usefixtures("obeying")
@pytest.mark.parametrize("begin", [Children.start, Children.run])
def test_a_program_whose_start_a_request_to_stop_meets_is_ended_too(
    running: Children, monkeypatch: pytest.MonkeyPatch, begin: Callable[[Children, Program], object]
) -> None:
    started: list[subprocess.Popen[bytes]] = []

    class Popen(subprocess.Popen[bytes]):
        """A process in whose start Ctrl-C is pressed, before anyone knows it."""

        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            started.append(self)
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(
        children, "subprocess", SimpleNamespace(**{**vars(subprocess), "Popen": Popen})
    )

    with pytest.raises(KeyboardInterrupt):
        begin(running, Program("one", SLEEP))
    running.stop(hurry=lambda: True)

    assert [process.poll() is None for process in started] == [False]


def test_a_big_log_is_set_aside(running: Children, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "LOG_BYTES", 3)
    command = (sys.executable, "-c", "print('long')")

    running.run(Program("task", command))
    running.run(Program("task", command))

    assert running.log("task").read_text() == "long\n"
    assert running.log("task").with_suffix(".log.old").read_text() == "long\n"


def test_the_leftovers_of_a_killed_run_are_ended(running: Children, tmp_path: Path) -> None:
    running.keeps_database = True
    running.start(Program("one", PARENT))
    running.start(Program("two", SLEEP))
    orphan = printed_pid(running, "one")
    leader = pid_of(running)
    # The leader is gone already; what it had started is known by its environment.
    os.kill(leader, signal.SIGKILL)
    wait_until(lambda: not running.is_alive("one"))

    assert end_leftovers(tmp_path / "run.json") is True

    assert processes.command(orphan) == ""
    wait_until(lambda: not running.is_alive("two"))
    assert not (tmp_path / "run.json").exists()


def test_a_process_that_only_has_a_recorded_number_is_left_alone(
    running: Children, tmp_path: Path
) -> None:
    running.start(Program("stranger", SLEEP))
    record = {"supervisor": [1, "x"], "token": "another", "database": False}
    other = tmp_path / "other.json"
    other.write_text(json.dumps({**record, "processes": [[pid_of(running), "another start"]]}))

    assert end_leftovers(other) is False

    assert running.is_alive("stranger")


def test_without_a_record_there_are_no_leftovers(tmp_path: Path) -> None:
    assert end_leftovers(tmp_path / "run.json") is False
