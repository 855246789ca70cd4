"""Programs that are killed (SIGKILL) at a chosen point of their work.

A point is every SQL statement, every commit, and each side of every call over the network,
in the order in which the program passes them. `python -m tests.crashing` imports Remit
once and then forks a child for every line it reads, so that a kill costs milliseconds:

    {"work": "react", "id": "…", "kill_at": 17}   ->   {"killed": true, "passed": 17}

`kill_at` 0 lets the work finish; `passed` then counts the points there are.
"""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.program import Program, running_program


@dataclass
class Way:
    """How far this process has come, and where it dies (0: nowhere)."""

    passed: int = 0
    kill_at: int = 0

    def cross(self) -> None:
        self.passed += 1
        if self.passed == self.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)


WAY = Way()


def watched(function: Callable[..., Any]) -> Callable[..., Any]:
    def inner(*args: Any, **kwargs: Any) -> Any:
        WAY.cross()
        result = function(*args, **kwargs)
        WAY.cross()
        return result

    return inner


def watch() -> None:
    """Make points of every statement, commit and network call of this process."""
    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.backends.utils import CursorWrapper

    from integrations.llm import attempts
    from integrations.network import http

    for owner, name in (
        (CursorWrapper, "_execute"),
        (BaseDatabaseWrapper, "_commit"),
        (http, "_once"),
        (attempts, "_once"),
    ):
        setattr(owner, name, watched(getattr(owner, name)))


def works() -> Mapping[str, Callable[[Any], object]]:
    from uuid import UUID

    import uvicorn

    from agents import tasks
    from agents.inbound import reactions
    from agents.tasks import queue_delivery
    from agents.turns import turns
    from config.asgi import application
    from integrations.contracts import ItemEvent
    from integrations.web.webhooks import accept_delivery

    def accept(command: dict[str, Any]) -> object:
        event = ItemEvent.model_validate(command["event"])
        return accept_delivery(
            slug="default", webhook_id=command["id"], event=event, enqueue=queue_delivery
        )

    def serve(command: dict[str, Any]) -> object:
        WAY.kill_at = 0

        async def counted(scope: Any, receive: Any, send: Any) -> None:
            # What the process does to start is not counted: without a start nothing is asked.
            if scope["type"] == "http" and not WAY.kill_at:
                WAY.passed, WAY.kill_at = 0, command["kill_at"]
            await application(scope, receive, send)

        uvicorn.run(counted, port=command["port"], log_level="critical")
        return None

    return {
        "accept": accept,
        "react": lambda command: reactions.react(UUID(command["id"])),
        "turn": lambda command: turns.run_turn(UUID(command["id"])),
        "sweep": lambda command: tasks.sweep(),
        "serve": serve,
    }


def main() -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    import openai  # noqa: F401  # imported once here, not in every child

    known = works()
    watch()
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            run(known[command["work"]], command, write)
        os.close(write)
        if command.get("background"):
            os.close(read)
            print(json.dumps({"pid": child}), flush=True)
            continue
        with os.fdopen(read, "rb") as pipe:
            report = pipe.read()
        _, status = os.waitpid(child, 0)
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        answer = json.loads(report) if report else {"passed": command["kill_at"]}
        print(json.dumps(answer | {"killed": killed}), flush=True)


def run(work: Callable[[Any], object], command: dict[str, Any], write: int) -> None:
    """In the child: work, report, end."""
    WAY.kill_at = command["kill_at"]
    answer: dict[str, Any] = {}
    try:
        work(command)
    except BaseException as error:  # noqa: BLE001  # reported to the test
        answer["error"] = repr(error)
    os.write(write, json.dumps(answer | {"passed": WAY.passed}).encode())
    os._exit(0)


@dataclass(frozen=True, kw_only=True)
class Crashing:
    """Talks to the program above."""

    program: Program

    def run(self, work: str, *, kill_at: int = 0, **command: Any) -> dict[str, Any]:
        answer = self.program.ask({"work": work, "kill_at": kill_at, **command})
        assert "error" not in answer, answer["error"]
        return dict(answer)


@contextmanager
def crashing(environment: Mapping[str, str]) -> Iterator[Crashing]:
    with running_program("tests.crashing", environment) as program:
        yield Crashing(program=program)


if __name__ == "__main__":
    main()
