import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from config.local import embedded, ports, state

pytestmark = pytest.mark.slow

CONFIG = (
    *("__init__", "run", "reset", "children", "embedded", "secrets", "place", "ports"),
    *("database_watch", "plan"),
    *("interrupts", "processes", "state"),
)
# Each stub writes down what it was given.
GIVEN = """
import json, os, pathlib
def write_down(name):
    folder = pathlib.Path("given")
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(dict(os.environ)))
"""
MANAGE = """
import os, pathlib, sys, time
import given
given.write_down(sys.argv[1])
with pathlib.Path("calls").open("a") as calls:
    calls.write(f"{sys.argv[1]} {os.environ.get('REMIT_PROCESS', '-')}\\n")
if sys.argv[1] == os.environ.get("FAILS"):
    sys.exit(f"{sys.argv[1]} is broken")
if sys.argv[1] in ("qcluster", "run_turns", "seal_ledger", os.environ.get("HANGS")):
    time.sleep(300)
if sys.argv[1] == "first_sync":
    print("3 of 3 mails")
"""
WEB = """
import os
from types import SimpleNamespace
from uvicorn.protocols.http.h11_impl import H11Protocol as PROTOCOL
import given
LIMITS = SimpleNamespace(most=10, proxies=[])
given.write_down("web")
if os.environ.get("FAILS") == "web":
    raise RuntimeError("web is broken")
async def application(scope, receive, send):
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"ok"})
"""
STAND_IN = """
import http.server, os
import given
given.write_down("{port}")
port = int(os.environ["{port}"])
http.server.HTTPServer(("127.0.0.1", port), http.server.BaseHTTPRequestHandler).serve_forever()
"""


@dataclass
class House:
    """The supervisor with programs that do next to nothing, in a folder of their own."""

    folder: Path
    web: int = field(default_factory=ports.pick)
    sandbox: int = field(default_factory=ports.pick)
    model: int = field(default_factory=ports.pick)
    running: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def state(self) -> Path:
        return self.folder / ".remit"

    def environment(self, **variables: str) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "REMIT_PORT": str(self.web),
            "SANDBOX_PORT": str(self.sandbox),
            "MODEL_PORT": str(self.model),
            "DATABASE_URL": "postgresql://elsewhere/remit",
            **variables,
        }

    def start(self, **variables: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "config.local.run"],
            cwd=self.folder,
            env=self.environment(**variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.running.append(process)
        return process

    def up(self, **variables: str) -> tuple[subprocess.Popen[str], str]:
        """Start, and read what is printed until everything runs."""
        process = self.start(**variables)
        printed = ""
        for line in process.stdout or ():
            printed += line
            if line.startswith("Ctrl-C stops"):
                return process, printed
        raise AssertionError(printed)

    def stop(self, process: subprocess.Popen[str], *, by: int = signal.SIGINT) -> str:
        process.send_signal(by)
        return process.communicate(timeout=60)[0]

    def reset(self) -> str:
        return subprocess.run(
            [sys.executable, "-m", "config.local.reset"],
            cwd=self.folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    def calls(self, number: int) -> list[str]:
        """What was started, once that many programs have begun: a child may take a while."""
        lines: list[str] = []
        deadline = time.monotonic() + 60
        while len(lines) < number and time.monotonic() < deadline:
            time.sleep(0.05)
            lines = (self.folder / "calls").read_text().splitlines()
        return sorted(lines)

    def given(self, secrets: Mapping[str, str]) -> dict[str, set[str]]:
        """Whose value of `secrets` each program finds in its environment, under any name."""
        self.calls(6)
        found = {}
        for path in (self.folder / "given").iterdir():
            values = "\n".join(json.loads(path.read_text()).values())
            found[path.stem] = {
                name for name, value in secrets.items() if value.removeprefix("default=") in values
            }
        return found

    def answering(self) -> list[int]:
        return [port for port in (self.web, self.sandbox, self.model) if ports.answers(port)]


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    folder = tmp_path / "mein Häuschen 家"
    (folder / "config" / "local").mkdir(parents=True)
    (folder / "config" / "__init__.py").touch()
    for name in CONFIG:
        shutil.copy(state.PROJECT_DIR / "config/local" / f"{name}.py", folder / "config/local")
    (folder / "config" / "asgi.py").write_text(WEB)
    shutil.copy(state.PROJECT_DIR / "config/serve.py", folder / "config")
    (folder / "manage.py").write_text(MANAGE)
    (folder / "given.py").write_text(GIVEN)
    stand_ins = folder / "sandbox"
    stand_ins.mkdir(parents=True)
    (stand_ins / "data_service.py").write_text(STAND_IN.format(port="SANDBOX_PORT"))
    (stand_ins / "offline_model.py").write_text(STAND_IN.format(port="MODEL_PORT"))
    house = House(folder)
    yield house
    for process in house.running:
        if process.poll() is None:
            process.kill()
        process.communicate()
    house.reset()


def test_everything_starts_and_says_where_to_look_and_how_to_log_in(house: House) -> None:
    process, printed = house.up()

    kept = dict(
        line.split("=", 1) for line in (house.state / "secrets.env").read_text().splitlines()
    )
    assert f"Remit runs at http://127.0.0.1:{house.web}\n" in printed
    record = json.loads((house.state / "run.json").read_text())
    assert record["address"] == f"http://127.0.0.1:{house.web}"
    assert f"as operator, password {kept['OPERATOR_PASSWORD']}\n" in printed
    assert f"http://127.0.0.1:{house.sandbox}/" in printed
    assert "not a language model" in printed
    assert "3 of 3 mails" in printed
    assert printed.count("\n  1. ") == printed.count("\n  3. ") == 1
    assert house.answering() == [house.web, house.sandbox, house.model]
    assert house.calls(6) == [
        "first_sync first_sync",
        "load_demo load_demo",
        "migrate migrate",
        "qcluster cluster",
        "run_turns turns",
        "seal_ledger sealer",
    ]
    house.stop(process)


def test_each_program_is_given_its_own_secrets_and_no_other(house: House) -> None:
    given_by_hand = {
        "LEDGER_VAULT_KEY": "the vault's key",
        "OPENAI_BASE_URL": f"http://127.0.0.1:{house.model}/v1",
        "OPENAI_API_KEY": "the model's key",
        "EMAIL_URL": "smtp://user:the-mail-server's-password@mail.example",
        "SYNC_CALLBACK_SECRETS": "default=the callbacks' secret",
    }
    process, _ = house.up(**given_by_hand)
    lines = (house.state / "secrets.env").read_text().splitlines()
    kept = dict(line.split("=", 1) for line in lines) | given_by_hand
    del kept["OPENAI_BASE_URL"]
    kept["DATABASE_URL"] = "postgresql://elsewhere/remit"

    acting = {
        *("DATABASE_URL", "SECRET_KEY", "LEDGER_KEY", "LEDGER_VAULT_KEY", "DATA_SERVICE_KEYS"),
        "OPENAI_API_KEY",
    }
    assert house.given(kept) == {
        "web": acting | {"WEBHOOK_SECRETS", "EMAIL_URL"},
        "qcluster": acting
        | {"CREDENTIALS_PRIVATE_KEY", "SYNC_CALLBACK_SECRETS", "EMAIL_URL", "VAPID_PRIVATE_KEY"},
        "run_turns": acting | {"CREDENTIALS_PRIVATE_KEY"},
        "seal_ledger": {"DATABASE_URL", "LEDGER_KEY", "LEDGER_SIGNING_KEY"},
        "migrate": {"DATABASE_URL"},
        "load_demo": {
            *("DATABASE_URL", "SECRET_KEY", "LEDGER_KEY", "LEDGER_VAULT_KEY"),
            *("DATA_SERVICE_KEYS", "OPERATOR_PASSWORD"),
        },
        "first_sync": {"DATABASE_URL", "SECRET_KEY"},
        # Under names of its own: these two are what it shares with Remit.
        "SANDBOX_PORT": {"DATA_SERVICE_KEYS", "WEBHOOK_SECRETS"},
    }
    house.stop(process)


def test_what_is_kept_and_logged_is_for_its_owner_only(house: House) -> None:
    (house.state / "logs").mkdir(parents=True, mode=0o755)
    (house.state / "logs" / "web.log").touch(mode=0o644)
    (house.state / "sandbox.sqlite3").touch(mode=0o644)
    process, _ = house.up()
    house.stop(process)

    open_to_others = {
        str(path.relative_to(house.state))
        for path in house.state.rglob("*")
        if path.stat().st_mode & 0o077
    }
    assert len(list((house.state / "logs").iterdir())) > 5
    assert open_to_others == set()


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_stop_ends_everything_that_was_started(house: House, by: int) -> None:
    process, _ = house.up()

    said = house.stop(process, by=by)

    assert process.returncode == 0
    assert said.splitlines()[-2:] == ["Stopping ...", "Stopped."]
    assert house.answering() == []
    assert not (house.state / "run.json").exists()


def test_a_request_to_stop_in_the_middle_of_the_start_is_obeyed(house: House) -> None:
    process = house.start(HANGS="load_demo")
    for line in process.stdout or ():
        if line.startswith("  tables"):
            break

    said = house.stop(process)

    assert process.returncode == 0
    assert said.splitlines()[-2:] == ["Stopping ...", "Stopped."]
    assert house.answering() == []


def test_a_second_start_keeps_the_secrets(house: House) -> None:
    process, first = house.up()
    house.stop(process)

    process, second = house.up()

    password = "password "
    assert first.split(password)[1].split()[0] == second.split(password)[1].split()[0]
    house.stop(process)


def test_a_second_run_beside_the_first_is_refused_in_words(house: House) -> None:
    first, _ = house.up()

    second = house.start()
    said, _ = second.communicate(timeout=60)

    assert second.returncode == 1
    assert said.startswith("\nRemit runs already with the state folder")
    assert house.answering() == [house.web, house.sandbox, house.model]
    house.stop(first)


@pytest.mark.parametrize(
    ("name", "port"), [("REMIT_PORT", "web"), ("SANDBOX_PORT", "sandbox"), ("MODEL_PORT", "model")]
)
def test_a_port_in_use_is_named_with_the_variable_that_changes_it(
    house: House, name: str, port: str
) -> None:
    number: int = getattr(house, port)
    with socket.create_server(("127.0.0.1", number)):
        process = house.start()
        said, _ = process.communicate(timeout=60)

    assert process.returncode == 1
    assert f"Port {number} is in use" in said
    assert f"{name}=" in said
    assert not (house.folder / "calls").exists()


def test_a_port_that_is_no_number_is_refused(house: House) -> None:
    process = house.start(REMIT_PORT="http")

    assert "REMIT_PORT must be a port number" in process.communicate(timeout=60)[0]
    assert process.returncode == 1


@pytest.mark.parametrize("step", ["migrate", "load_demo"])
def test_a_step_that_fails_shows_why_and_leaves_nothing_running(house: House, step: str) -> None:
    process = house.start(FAILS=step)
    said, _ = process.communicate(timeout=60)

    assert process.returncode == 1
    assert f"{step} failed. The end of" in said
    assert f"  {step} is broken\n" in said
    assert house.answering() == []


def test_a_web_server_that_dies_at_once_shows_its_last_words(house: House) -> None:
    process = house.start(FAILS="web")
    said, _ = process.communicate(timeout=60)

    assert process.returncode == 1
    assert "web did not start. The end of" in said
    assert "RuntimeError: web is broken" in said
    assert house.answering() == []


def test_a_first_sync_that_fails_does_not_stop_the_rest(house: House) -> None:
    process, printed = house.up(FAILS="first_sync")

    assert "The first sync did not finish." in printed
    assert house.answering() == [house.web, house.sandbox, house.model]
    house.stop(process)


def test_what_the_environment_names_is_not_started(house: House) -> None:
    process, printed = house.up(
        DATA_SERVICES="default=http://127.0.0.1:1/v1/data", OPENAI_API_KEY="key"
    )

    assert house.answering() == [house.web]
    assert "createsuperuser" in printed
    assert house.calls(4) == [
        "migrate migrate",
        "qcluster cluster",
        "run_turns turns",
        "seal_ledger sealer",
    ]
    house.stop(process)


def test_the_next_start_ends_what_a_killed_one_left(house: House) -> None:
    killed, _ = house.up()
    killed.kill()
    killed.wait()
    assert house.answering() == [house.web, house.sandbox, house.model]

    process, _ = house.up()

    assert house.answering() == [house.web, house.sandbox, house.model]
    house.stop(process)
    assert house.answering() == []


def test_reset_stops_everything_and_deletes_only_its_own(house: House) -> None:
    process, _ = house.up()
    (house.state / "stranger").write_text("keep me")

    said = house.reset()

    assert process.wait(timeout=60) == 0
    assert house.answering() == []
    assert said.endswith("is stopped, and its data is deleted.\n")
    assert [path.name for path in house.state.iterdir()] == ["stranger"]
    (house.state / "stranger").unlink()
    house.reset()
    assert not house.state.exists()


def test_without_database_url_the_embedded_server_lives_as_long_as_the_run(house: House) -> None:
    process, _ = house.up(DATABASE_URL="")
    assert embedded.is_running(house.state)

    house.stop(process)

    assert not embedded.is_running(house.state)


def test_a_server_that_ran_before_stays_when_the_run_ends(house: House) -> None:
    embedded.start(house.state)
    process, _ = house.up(DATABASE_URL="")

    house.stop(process)

    assert embedded.is_running(house.state)


def test_a_server_left_by_a_killed_run_is_stopped_by_the_next(house: House) -> None:
    killed, _ = house.up(DATABASE_URL="")
    killed.kill()
    killed.wait()

    process, _ = house.up(DATABASE_URL="")
    house.stop(process)

    assert not embedded.is_running(house.state)
