"""Programs of the tests that answer each line of JSON with another."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.db import connection

from config.local import state


@dataclass(frozen=True, kw_only=True)
class Program:
    """One that runs."""

    sent: IO[str]
    answers: IO[str]

    def ask(self, command: Mapping[str, Any]) -> Any:
        self.sent.write(json.dumps(command) + "\n")
        self.sent.flush()
        return json.loads(self.answers.readline())


@contextmanager
def running_program(module: str, environment: Mapping[str, str]) -> Iterator[Program]:
    """`python -m module`, which says "ready" first: Remit in a process of its own, on the database
    of this test, with these environment variables on top of the test's own."""
    program = subprocess.Popen(
        [sys.executable, "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | own_database() | {"LOG_LEVEL": "CRITICAL"} | dict(environment),
        text=True,
    )
    assert program.stdin is not None
    assert program.stdout is not None
    try:
        assert json.loads(program.stdout.readline()) == "ready"
        yield Program(sent=program.stdin, answers=program.stdout)
    finally:
        program.stdin.close()
        program.wait()
        program.stdout.close()


def own_database() -> dict[str, str]:
    """The environment in which a process works on the database of this test."""
    own = connection.settings_dict
    place = f"{own['HOST']}:{own['PORT']}/{own['NAME']}"
    return {
        "DATABASE_URL": f"postgres://{own['USER']}:{own['PASSWORD']}@{place}",
        "SECRET_KEY": settings.SECRET_KEY,
        "LEDGER_KEY": settings.LEDGER_KEY,
    }


@contextmanager
def program(
    *arguments: str, log: Path, folder: str | Path = state.PROJECT_DIR, **variables: str
) -> Iterator["subprocess.Popen[bytes]"]:
    """A program of the product on this test's database, killed at the end; of another version in
    another `folder`."""
    with (
        log.open("ab") as output,
        subprocess.Popen(
            [sys.executable, *arguments],
            cwd=folder,
            env=os.environ | own_database() | variables,
            stdout=output,
            stderr=output,
            start_new_session=True,
        ) as process,
    ):
        try:
            yield process
        finally:
            end_whole(process)


def end_whole(program: "subprocess.Popen[bytes]") -> None:
    """With what it started, which outlives a cluster that is killed."""
    with suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGKILL)
