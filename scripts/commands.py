"""Tries the commands of README and docs, each as it is written, beside a `make run` of its own.

    python -m scripts.commands           tries them; says what failed, and exits with 1
    python -m scripts.commands --list    says of each where it stands and why it is not tried

A command is a line of an indented block. Each is in TRIED or, with its reason, in NOT_TRIED; one
that is in neither fails. Nothing outside a scratch folder is read or changed.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx

from config.local import ports
from scripts.references import list_pages
from scripts.room_graph import PROJECT

READY_SECONDS, COMMAND_SECONDS, STOP_SECONDS = 300, 240, 60
COMMAND = re.compile(
    r"^    ((?:[A-Z_]+=(?:<[^>]*>|\S+) )*(?:make|python3?|\S*/python|\S*/pip|manage\.py|"
    r"curl|docker|kubectl|useradd|openssl|sha256sum|systemctl|cp|pip) .*)$"
)
FENCE = "```"
MONTH = timedelta(days=31)
# In a folder of any name.
PYTHON, MANAGE = shlex.quote(sys.executable), shlex.join([sys.executable, f"{PROJECT}/manage.py"])
MAIL = "From: ann@example.org\nTo: maya@company.com\nSubject: Hello\nDate: {}\n\nHow are you?\n"
DAY = "Thu, 26 Nov 2026 10:00:00 +0000"
CALENDAR = (
    "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//tried//EN\r\nBEGIN:VEVENT\r\nUID:tried\r\n"
    "DTSTAMP:20261126T100000Z\r\nDTSTART:20261127T100000Z\r\nDTEND:20261127T110000Z\r\n"
    "SUMMARY:Lunch\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)

# How they begin, without an interpreter.
TRIED = (
    "curl -s localhost:8000/api/v1/chat",
    "manage.py import_mailbox ~/mail.mbox",
    "manage.py import_calendar ~/home.ics",
    "manage.py policy --user maya --source gmail",
    "manage.py redact_ledger --user maya",
    "manage.py rewrap_data_keys",
    "manage.py drop_ledger_months --before",
    "manage.py export_ledger",
    "manage.py export_bundle",
    "python verify.py november.zip",
    "python verify.py evidence.zip",
    "manage.py replay_bundle november.zip",
    "manage.py replay_bundle evidence.zip",
    "manage.py verify_ledger",
    "manage.py reconcile_ledger",
    "manage.py backup",
)
SERVICE = "it asks a server or a model of somebody's own"
MACHINE = "it changes the machine: Docker, Kubernetes, users or services of the system"
RELEASE = "it needs the key of releases; tests/scripts/test_release.py runs it with one"
CI = "the checks before a merge run it themselves"
NOT_TRIED: dict[str, str] = {
    "make run": "everything here runs beside it",
    "make test": CI,
    "make check": CI,
    "make audit": CI,
    "make format": "it changes the code",
    "make site": "a test builds it",
    "make bench": "it takes minutes; tests try each benchmark's parts",
    "manage.py import_mailbox --imap": SERVICE,
    "manage.py connect_mailbox": SERVICE,
    "manage.py policy --user me --source imap": "it is about the mailbox of the line above it",
    "manage.py replay_mail": "it takes a model's time for each mail; a test runs it",
    "manage.py evaluate": SERVICE,
    "manage.py directory": "the file is the reader's own; tests run it",
    "manage.py stop_actions": "it would stop what is tried here; tests run it",
    "manage.py rotate_signing_key": "it needs both signing keys; a test runs it",
    "manage.py verify_installation": "it takes a minute; a test runs it",
    "REMIT_ROUNDS=10000 make test": CI,
    "DATABASE_URL=<an empty database> manage.py restore": "a test runs it, on a server of its own",
    "openssl": RELEASE,
    "sha256sum": RELEASE,
    "python -m scripts.release": RELEASE,
    "docker": MACHINE,
    "kubectl": MACHINE,
    "useradd": MACHINE,
    "systemctl": MACHINE,
    "cp deploy/systemd": MACHINE,
    "python3 -m venv /srv": MACHINE,
    "/srv/remit/.venv/bin/pip install": MACHINE,
    "REMIT_PROCESS=migrate": "tests/test_deploy_programs.py runs it, as the compose file has it",
}


@dataclass(frozen=True, kw_only=True)
class Written:
    """A command, with the page and line where it stands."""

    page: str
    line: int
    text: str

    @property
    def plain(self) -> str:
        """Without the interpreter and a remark, as the tables name it."""
        text = re.sub(r"\s+# .*$", "", self.text)
        return re.sub(r"^(?:\S*python3?) (?=manage\.py)", "", text)

    def find(self, table: Iterable[str]) -> str | None:
        return next((name for name in table if self.plain.startswith(name)), None)


def find_commands(page: Path) -> Iterator[Written]:
    lines = page.read_text(encoding="utf-8").splitlines()
    is_fenced = False
    for number, line in enumerate(lines, 1):
        is_fenced ^= line.startswith(FENCE)
        match = COMMAND.match(line)
        if not match or is_fenced:
            continue
        text, end = match[1], number
        while text.endswith("\\"):
            text, end = text[:-1] + lines[end].strip(), end + 1
        yield Written(page=page.relative_to(PROJECT).as_posix(), line=number, text=text)


def find_all() -> list[Written]:
    return [one for page in list_pages() for one in find_commands(page)]


@dataclass
class House:
    """A `make run` with a state folder and ports of its own, and a folder for what is written."""

    folder: Path
    web: int = field(default_factory=ports.pick)
    key: str = ""

    @property
    def environment(self) -> dict[str, str]:
        own = {
            "REMIT_STATE_DIR": str(self.folder / "state"),
            "REMIT_PORT": str(self.web),
            "SANDBOX_PORT": str(self._sandbox),
            "MODEL_PORT": str(self._model),
            "HOME": str(self.folder),
            "LOG_LEVEL": "WARNING",
        }
        return os.environ | own

    def __post_init__(self) -> None:
        self._sandbox, self._model = ports.pick(), ports.pick()
        (self.folder / "mail.mbox").write_text(f"From ann {DAY}\n{MAIL.format(DAY)}\n")
        (self.folder / "home.ics").write_text(CALENDAR)
        (self.folder / "verify.py").write_text((PROJECT / "audit/bundle/verify.py").read_text())
        (self.folder / "backups").mkdir()

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """A shell's, in the scratch folder, as a reader with Remit at hand has it."""
        return subprocess.run(
            ["bash", "-ec", command],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )

    def prepare(self, written: Written) -> str:
        """The command with what a reader puts in: where Remit is, a token, the ledger's key."""
        text = re.sub(r"^(?:\S*python3? )?manage\.py", lambda _: MANAGE, written.text)
        text = re.sub(r"^python3? verify", lambda _: f"{PYTHON} verify", text)
        text = text.replace("localhost:8000", f"127.0.0.1:{self.web}").replace(
            "curl -s", "curl -sf"
        )
        text = text.replace(" /backups/", " backups/")
        first = datetime.now(UTC).date().replace(day=1)
        text = text.replace("2026-11-01", str(first)).replace("2026-12-01", str(first + MONTH))
        if "remit_…" in text:
            text = text.replace("remit_…", self._token())
        return re.sub(r"remit\.example/\S*\[@time\] \[older\.note …\]", shlex.quote(self.key), text)

    def note(self, said: str) -> None:
        """The ledger's key, where a command printed it."""
        if found := re.search(r"\S+/ledger/\S+\+[0-9a-f]{8}\+\S+", said):
            self.key = found[0]

    def _token(self) -> str:
        code = (
            "from integrations.models import Organisation, ServiceToken; print(ServiceToken.issue("
            "organisation=Organisation.objects.get(), name='tried', scopes=['chat'])[1])"
        )
        printed = self.run(f'{MANAGE} shell -v 0 -c "{code}"')
        return printed.stdout.strip().splitlines()[-1]


def try_all(commands: list[Written]) -> list[str]:
    """Sentences about what failed."""
    failed: list[str] = []
    with tempfile.TemporaryDirectory(prefix="remit-commands-") as folder:
        Path(folder).chmod(0o755)  # for the database's user
        house = House(folder=Path(folder))
        with (
            (house.folder / "run.log").open("wb") as log,
            subprocess.Popen(
                ["make", "run"], cwd=PROJECT, env=house.environment, stdout=log, stderr=log
            ) as run,
        ):
            try:
                if not _is_up(house, run):
                    return [f"make run: {(house.folder / 'run.log').read_text()[-2000:]}"]
                for one in commands:
                    started = time.monotonic()
                    done = house.run(house.prepare(one))
                    house.note(done.stdout)
                    verdict = "FAILED" if done.returncode else "ok"
                    seconds = time.monotonic() - started
                    print(f"{one.page}:{one.line:<4} {verdict:6} {seconds:5.1f} s  {one.plain}")
                    if done.returncode:
                        failed.append(f"{one.plain}\n{(done.stdout + done.stderr)[-2000:]}")
            finally:
                run.terminate()
                run.wait(STOP_SECONDS)
                subprocess.run(["make", "reset"], cwd=PROJECT, env=house.environment, check=True)
    return failed


def _is_up(house: House, run: "subprocess.Popen[bytes]") -> bool:
    """When the office is read in, `make run` says where to look, and that Ctrl-C stops it."""
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline and run.poll() is None:
        if "Ctrl-C" in (house.folder / "run.log").read_text():
            answer = httpx.get(f"http://127.0.0.1:{house.web}/health")
            return answer.is_success
        time.sleep(0.5)
    return False


def main() -> int:
    """Returns 0 if every command is in a table, and what is tried did what it says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true")
    chosen = parser.parse_args()
    commands = find_all()
    unknown = [one for one in commands if not one.find(TRIED) and not one.find(NOT_TRIED)]
    for one in unknown:
        print(f"{one.page}:{one.line}: neither tried nor left out with a reason: {one.plain}")
    if chosen.list:
        for one in commands:
            name = one.find(NOT_TRIED)
            why = f"not tried: {NOT_TRIED[name]}" if name else "tried"
            print(f"{one.page}:{one.line:<4} {one.plain}\n     {why}")
        return 1 if unknown else 0
    failed = try_all([one for one in commands if not one.find(NOT_TRIED) and one not in unknown])
    print("\n".join(failed))
    return 1 if failed or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
