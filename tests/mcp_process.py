"""An MCP server as a process of its own that keeps issues in a file, and ends in the middle of a
call where a test says so. `python -m tests.mcp_process PORT FOLDER` serves until it is ended.

    with running_process(tmp_path) as server:
        server.die("after the effect")
        …  # call it: nobody answers
        server.start()
"""

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tests.mail_world import await_port
from tests.mcp_server import running_tracker, said, tool
from tests.ports import free_port

Moment = Literal["before the effect", "after the effect"]
DIED = 9
SECONDS = 20.0


def schema(*names: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {} for name in names}}


@dataclass(kw_only=True)
class McpProcess:
    folder: Path
    port: int
    running: "subprocess.Popen[bytes] | None" = field(default=None)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    @property
    def issues(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads((self.folder / "issues").read_text())
        return found

    def keep(self, *issues: dict[str, Any]) -> None:
        (self.folder / "issues").write_text(json.dumps(issues))

    def die(self, moment: Moment) -> None:
        """At the next issue that is created."""
        (self.folder / "die").write_text(moment)

    def start(self) -> None:
        """Again, too, after it has died."""
        if self.running:
            assert self.running.wait(timeout=SECONDS) == DIED
        command = [sys.executable, "-m", "tests.mcp_process", str(self.port), str(self.folder)]
        with (self.folder / "log").open("wb") as log:
            self.running = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        await_port("The MCP server", self.running, self.folder / "log", self.port)


@contextlib.contextmanager
def running_process(folder: Path) -> Iterator[McpProcess]:
    server = McpProcess(folder=folder, port=free_port())
    server.keep()
    server.start()
    try:
        yield server
    finally:
        if server.running:
            server.running.kill()
            server.running.wait(timeout=SECONDS)


def serve(port: int, folder: Path) -> None:
    kept = McpProcess(folder=folder, port=port)

    def answer(name: str, arguments: dict[str, Any]) -> Any:
        if name == "list_issues":
            return said(json.dumps({"issues": kept.issues[::-1]}))
        ends = folder / "die"
        moment = ends.read_text() if ends.exists() else ""
        ends.unlink(missing_ok=True)
        if moment == "before the effect":
            os._exit(DIED)
        number = len(kept.issues) + 1
        kept.keep(
            *kept.issues,
            {"number": number, "title": arguments["title"], "body": arguments["body"]},
        )
        if moment:
            os._exit(DIED)
        return said(json.dumps({"id": str(number)}))

    with running_tracker(port=port) as tracker:
        tracker.tools = [
            tool("create_issue", schema("owner", "repo", "title", "body")),
            tool("list_issues", schema("owner", "repo", "direction", "orderBy", "perPage")),
        ]
        tracker.answer = answer
        threading.Event().wait()


if __name__ == "__main__":
    serve(int(sys.argv[1]), Path(sys.argv[2]))
