"""The programs that one `make run` starts, watches, starts again and stops.

Each leads a session of its own, so that a signal to it reaches all it started and nothing
else. They are written down in a record file: what a killed run left behind is found by it.
"""

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import IO

from config.local import interrupts, processes, state

TOKEN = "REMIT_RUN"  # noqa: S105  # the name of a variable that marks our processes
STOP_SECONDS = 10.0
STEADY_SECONDS = 60.0
LONGEST_PAUSE = 30.0
LOG_BYTES = 10_000_000


@dataclass(frozen=True)
class Program:
    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    needs: frozenset[str] = frozenset()  # the names of the secrets that it is given
    listener: socket.socket | None = None  # that it is given, and answers at


@dataclass
class Child:
    program: Program
    process: subprocess.Popen[bytes]
    began: float
    failures: int = 0
    resume_at: float | None = None


class Children:
    """The running programs. `say` gets a sentence when one dies or starts again.

    All get `environment`; of `secrets` each gets what it needs.
    """

    def __init__(
        self,
        *,
        record: Path,
        address: str,
        logs: Path,
        environment: Mapping[str, str],
        secrets: Mapping[str, str],
        say: Callable[[str], None],
    ) -> None:
        self.token = token_hex(8)
        self.keeps_database = False
        self._record, self._address = record, address
        self._logs = logs
        self.environment = {**environment, TOKEN: self.token}
        self.secrets = dict(secrets)
        self._say = say
        self._children: dict[str, Child] = {}

    def log(self, name: str) -> Path:
        return self._logs / f"{name}.log"

    def start(self, program: Program, *, on_terminal: bool = False) -> None:
        """Start a program; its output goes to its log, or to the terminal."""
        with interrupts.held():
            process = self._launch(program, on_terminal=on_terminal)
            self._children[program.name] = Child(program, process, time.monotonic())
            self.write_record()

    def run(self, program: Program, *, on_terminal: bool = False) -> int:
        """Run a program to its end and return its exit code.

        What it prints goes to its log, or to the terminal if it is run `on_terminal`.
        """
        # While it runs it is one of the children, so that whatever happens `stop` ends it.
        self.start(program, on_terminal=on_terminal)
        code = self._children[program.name].process.wait()
        del self._children[program.name]
        return code

    def is_alive(self, name: str) -> bool:
        child = self._children[name]
        return child.resume_at is None and child.process.poll() is None

    def last_lines(self, name: str, *, count: int = 12) -> str:
        """The end of a program's log, indented."""
        try:
            lines = self.log(name).read_text(errors="replace").splitlines()
        except FileNotFoundError:
            lines = []
        return "\n".join(f"  {line}" for line in lines[-count:])

    def look_after(self) -> None:
        """Start again, after a pause that grows with every failure, what has died."""
        now = time.monotonic()
        for child in self._children.values():
            name = child.program.name
            if child.resume_at is None and child.process.poll() is not None:
                # What it started must not go on beside its successor.
                _signal_group(child.process.pid, signal.SIGKILL)
                steady = now - child.began > STEADY_SECONDS
                child.failures = 1 if steady else child.failures + 1
                pause = min(2.0 ** (child.failures - 1), LONGEST_PAUSE)
                child.resume_at = now + pause
                self._say(
                    f"{name} stopped ({_ending(child.process.returncode)}) and starts again in "
                    f"{pause:.0f} s. Its log: {self.log(name)}"
                )
            elif child.resume_at is not None and now >= child.resume_at:
                with interrupts.held():
                    child.process, child.began = self._launch(child.program), now
                    child.resume_at = None
                    self.write_record()
                self._say(f"{name} was started again.")

    def stop(self, *, hurry: Callable[[], bool]) -> None:
        """Stop everything: ask each program, and end what is left after a while or in a hurry."""
        running = [child.process for child in self._children.values()]
        for process in running:
            if process.poll() is None:
                # The program alone: the task cluster lets its workers finish their tasks.
                process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + STOP_SECONDS
        while any(process.poll() is None for process in running):
            if hurry() or time.monotonic() > deadline:
                break
            time.sleep(0.05)
        for process in running:
            _signal_group(process.pid, signal.SIGKILL)
            process.wait()
        self._children.clear()

    def write_record(self) -> None:
        record = {
            "supervisor": [os.getpid(), processes.started(os.getpid())],
            "token": self.token,
            "address": self._address,  # where Remit answers
            "database": self.keeps_database,
            "processes": [
                [child.process.pid, processes.started(child.process.pid)]
                for child in self._children.values()
            ],
        }
        state.write_private(self._record, json.dumps(record))

    def _launch(self, program: Program, *, on_terminal: bool = False) -> subprocess.Popen[bytes]:
        with self._open_log(program.name) as log:
            return subprocess.Popen(
                program.command,
                cwd=state.PROJECT_DIR,
                env={
                    **self.environment,
                    **{name: self.secrets[name] for name in program.needs & self.secrets.keys()},
                    **program.environment,
                },
                umask=state.PRIVATE_UMASK,
                pass_fds=(program.listener.fileno(),) if program.listener else (),
                stdin=subprocess.DEVNULL,
                stdout=None if on_terminal else log,
                stderr=log,
                start_new_session=True,
            )

    def _open_log(self, name: str) -> IO[bytes]:
        path = self.log(name)
        state.ensure(path.parent)
        if path.exists() and path.stat().st_size > LOG_BYTES:
            path.replace(path.with_suffix(".log.old"))
        return open(path, "ab", opener=state.open_private)


def end_leftovers(record: Path) -> bool:
    """End what a killed run left running. Returns whether that run kept the database."""
    try:
        left = json.loads(record.read_text())
    except (FileNotFoundError, ValueError):
        return False
    token = f"{TOKEN}={left['token']}"
    for request in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + STOP_SECONDS
        asked: set[int] = set()
        while time.monotonic() < deadline:
            alive = [
                pid
                for leader, mark in left["processes"]
                for pid in processes.survivors(leader, mark=mark, token=token)
            ]
            for pid in set(alive) - asked:
                with suppress(ProcessLookupError):
                    os.kill(pid, request)
            asked.update(alive)
            if not alive:
                break
            time.sleep(0.05)
    record.unlink(missing_ok=True)
    return bool(left["database"])


def _signal_group(leader: int, request: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, request)


def _ending(code: int) -> str:
    return f"exit code {code}" if code >= 0 else signal.Signals(-code).name
