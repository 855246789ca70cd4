"""Programs that are killed (SIGKILL) at a chosen point of their work.

A point is each side of every SQL statement, every commit and every call over the network.
`python -m tests.crashing` imports Remit once and then forks a child for every line it reads, so
that a kill costs milliseconds:

    {"work": "react", "id": "…", "settings": {…}, "die": ["PUT", "PUT", "commit"]}

The child dies when it has passed points of these names in this order: here when the provider has
answered a write, and the next commit begins. Or `die` is the number of the point. Without it the
work is done, and the answer names what was passed: {"killed": false, "passed": ["statement", …]}.
`settings` are those in which the child is unlike this program.
"""

import json
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from tests.program import Program

Die = int | Sequence[str] | None
CHAT = "/api/v1/chat"


@dataclass
class Way:
    """The points that this process has passed, and where it dies."""

    passed: list[str] = field(default_factory=list)
    die: Die = None

    def cross(self, name: str) -> None:
        self.passed.append(name)
        if self.die == len(self.passed) or self.die == [name]:
            os.kill(os.getpid(), signal.SIGKILL)
        if isinstance(self.die, list) and self.die[0] == name:
            self.die = self.die[1:]


WAY = Way()


def watched(function: Callable[..., Any], name: Callable[..., str]) -> Callable[..., Any]:
    def inner(*args: Any, **kwargs: Any) -> Any:
        WAY.cross(name(*args))
        result = function(*args, **kwargs)
        WAY.cross(name(*args))
        return result

    return inner


def watch() -> None:
    """Make points of every statement, commit and network call of this process."""
    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.backends.utils import CursorWrapper

    from integrations.llm import attempts
    from integrations.network import http

    points: tuple[tuple[object, str, Callable[..., str]], ...] = (
        (CursorWrapper, "_execute", lambda *_: "statement"),
        (BaseDatabaseWrapper, "_commit", lambda *_: "commit"),
        (http, "_once", lambda upstream, method, *_: str(method)),
        (attempts, "_once", lambda *_: "model"),
    )
    for owner, function, name in points:
        setattr(owner, function, watched(getattr(owner, function), name))


def works() -> Mapping[str, Callable[[Any], object]]:
    from uuid import UUID

    import uvicorn

    from agents import tasks
    from agents.inbound import intake, reactions
    from agents.turns import turns
    from config.asgi import application
    from integrations.contracts.events import ItemEvent
    from tests.office import run_next_task

    def accept(command: dict[str, Any]) -> object:
        event = ItemEvent.model_validate(command["event"])
        return intake.accept_delivery("default", command["id"], event)

    def serve(command: dict[str, Any]) -> None:
        """Remit's web process. What it does to start is not counted."""
        die, WAY.die = WAY.die, None

        async def counted(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "http":
                WAY.passed, WAY.die = [], die
            await application(scope, receive, send)

        server = uvicorn.Server(uvicorn.Config(counted, log_level="critical"))
        server.run([socket.socket(fileno=command["listener"])])

    return {
        "accept": accept,
        "react": lambda command: reactions.react(UUID(command["id"])),
        "turn": lambda command: turns.run_turn(UUID(command["id"])),
        "sweep": lambda command: tasks.sweep(),
        "task": lambda command: run_next_task(),
        "serve": serve,
    }


def main() -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    # Imported once here, not in every child.
    import openai  # noqa: F401

    import config.urls  # noqa: F401

    known = works()
    watch()
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(known, json.loads(line))), flush=True)


def answer(known: Mapping[str, Callable[[Any], object]], command: dict[str, Any]) -> Any:
    if "stop" in command:
        os.kill(command["stop"], signal.SIGKILL)
        return os.waitpid(command["stop"], 0)
    listener = socket.create_server(("127.0.0.1", 0)) if command["work"] == "serve" else None
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        run(known[command["work"]], command | {"listener": listener and listener.detach()}, write)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        if listener:
            with listener:
                return {"pid": child, "port": listener.getsockname()[1]}
        report = pipe.read()
    _, status = os.waitpid(child, 0)
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    return (json.loads(report) if report else {}) | {"killed": killed}


def run(work: Callable[[Any], object], command: dict[str, Any], write: int) -> None:
    """In the child: work, report, end."""
    for name, value in command["settings"].items():
        setattr(settings, name, value)
    WAY.die = command["die"]
    report: dict[str, Any] = {}
    try:
        work(command)
    except BaseException as error:  # noqa: BLE001  # reported to the test
        report["error"] = repr(error)
    os.write(write, json.dumps(report | {"passed": WAY.passed}).encode())
    os._exit(0)


@dataclass(frozen=True, kw_only=True)
class Crashing:
    """Talks to the program above. Its children have the data services and the model that this
    process has."""

    program: Program

    def run(self, work: str, *, die: Die = None, **command: Any) -> dict[str, Any]:
        answer = self.program.ask({"work": work, "die": die, "settings": own_settings(), **command})
        assert "error" not in answer, answer["error"]
        return dict(answer)

    def stop(self, pid: int) -> None:
        self.program.ask({"stop": pid})


def own_settings() -> dict[str, Any]:
    names = ("DATA_SERVICES", "DATA_SERVICE_KEYS", "OPENAI_BASE_URL", "OPENAI_API_KEY")
    return {name: getattr(settings, name) for name in names}


if __name__ == "__main__":
    main()
