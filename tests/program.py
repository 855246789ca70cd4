"""Programs of the tests that answer each line of JSON with another."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any


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
    """`python -m module`, which says "ready" first, with these environment variables on top of
    the test's own."""
    program = subprocess.Popen(
        [sys.executable, "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | dict(environment),
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
