"""The services of the compose file as plain processes: each with its own command, environment and
database role, from the two files that docs/deployment.md makes, on a PostgreSQL of their own.
Redis is not there, as one that is down. Image and network are Docker's, and are not tried."""

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from config.local import embedded, ports
from config.local.state import PROJECT_DIR
from tests.office import until
from tests.program import end_whole
from tests.test_deploy import SERVICES, compose

pytestmark = pytest.mark.slow
NAMED = re.compile(r"\$\{(?P<name>\w+)(?P<kind>:[?-])(?P<default>[^}]*)\}")
PAGE = PROJECT_DIR / "docs" / "deployment.md"


def read_pairs(path: Path) -> dict[str, str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if line)


@dataclass(frozen=True)
class Host:
    """Where the services run instead of in containers."""

    folder: Path
    database: str
    port: int
    values: Mapping[str, str]

    def environment(self, service: str) -> dict[str, str]:
        given = {"PATH": os.environ["PATH"], "REMIT_STATE_DIR": str(self.folder / service)}
        given |= read_pairs(self.folder / "remit.env")
        for name, text in compose()[service]["environment"].items():
            given[name] = self._place(NAMED.sub(self._value, text))
        return given

    def command(self, words: list[str]) -> list[str]:
        """`python` is this one, and the port is free."""
        words = [*words, "--port", str(self.port)] if "config.serve" in words else words
        text = [word.replace("8000", str(self.port)) for word in words]
        for_shell = shlex.quote(sys.executable)
        return [
            sys.executable
            if word == "python"
            else re.sub(r"\bpython\b", lambda _: for_shell, word, count=2)
            for word in text
        ]

    def run(self, service: str, words: list[str], **variables: str) -> str:
        done = subprocess.run(
            self.command(words),
            cwd=PROJECT_DIR,
            env=self.environment(service) | variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def _value(self, match: re.Match[str]) -> str:
        found = self.values.get(match["name"], "")
        assert found or match["kind"] == ":-", f"{match['name']} is in no file"
        return found or match["default"]

    def _place(self, text: str) -> str:
        there = urlsplit(self.database)
        text = text.replace("postgres://postgres:" + self.values["DATABASE_PASSWORD"], "super")
        text = text.replace("super@database/remit", self.database)
        text = text.replace("@database/", f"@{there.hostname}:{there.port}/")
        return text.replace("redis://redis:6379/", "redis://127.0.0.1:1/")


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    folder = tmp_path_factory.mktemp("deploy")
    folder.chmod(0o755)  # for the database's user
    block = re.search(r"(?ms)^    cd deploy\n(.*?)^\S", PAGE.read_text(encoding="utf-8"))
    assert block
    subprocess.run(["bash", "-ec", re.sub("(?m)^    ", "", block[1])], cwd=folder, check=True)
    made = subprocess.run(
        [sys.executable, "manage.py", "make_credential_keys"],
        cwd=PROJECT_DIR,
        env=os.environ | {"SECRET_KEY": "x", "LEDGER_KEY": "y", "DATABASE_URL": "postgres://a/b"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    keys = dict(line.split("=", 1) for line in made if line.startswith("CREDENTIALS_"))
    state = folder / "state"
    database = embedded.start(state, durable=False)
    values = {**read_pairs(folder / ".env"), **keys}
    try:
        yield Host(folder=folder, database=database, port=ports.pick(), values=values)
    finally:
        embedded.stop(state)


def can_be_stopped(program: "subprocess.Popen[bytes]") -> bool:
    """Whether it has come so far that it catches SIGTERM."""
    status = Path(f"/proc/{program.pid}/status").read_text()
    caught = re.search(r"^SigCgt:\s*(\w+)$", status, re.MULTILINE)
    return bool(caught and int(caught[1], 16) >> (signal.SIGTERM - 1) & 1)


def test_the_services_start_from_their_own_commands_are_ready_and_stop_in_time(host: Host) -> None:
    services = compose()
    host.run("setup", services["setup"]["command"])
    ends: dict[str, Any] = {}
    with ExitStack() as stack:
        programs = {}
        for name in SERVICES:
            log = stack.enter_context((host.folder / f"{name}.log").open("wb"))
            programs[name] = stack.enter_context(
                subprocess.Popen(
                    host.command(services[name]["command"]),
                    cwd=PROJECT_DIR,
                    env=host.environment(name),
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )
            stack.callback(end_whole, programs[name])

        def is_ready() -> bool:
            for name, program in programs.items():
                assert program.poll() is None, (host.folder / f"{name}.log").read_text()
            try:
                answer = httpx.get(f"http://127.0.0.1:{host.port}/ready", timeout=10)
            except httpx.TransportError:
                return False
            is_up = answer.status_code == 200 and answer.json()["status"] == "ready"
            return is_up and all(map(can_be_stopped, programs.values()))

        until(is_ready, seconds=120)
        host.run("web", services["web"]["healthcheck"]["test"][1:])
        # A proxy says for which host and that it was HTTPS; who comes past it is sent there.
        past = httpx.get(f"http://127.0.0.1:{host.port}/admin/")
        proxied = httpx.get(
            f"http://127.0.0.1:{host.port}/admin/",
            headers={"Host": "remit.example.org", "X-Forwarded-Proto": "https"},
        )
        for program in programs.values():
            program.send_signal(signal.SIGTERM)
        grace = int(services["web"]["stop_grace_period"].removesuffix("s"))
        for name, program in programs.items():
            ends[name] = program.wait(grace)

    assert (past.status_code, proxied.status_code) == (400, 302)
    assert ends == {"web": -signal.SIGTERM, "cluster": 0, "turns": 0, "sealer": 0}
