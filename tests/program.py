"""Programs of the tests that answer each line of JSON with another."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

from django.conf import settings
from django.db import connection


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
