"""Does `manage.py verify_installation` bite? Faults are seeded in Remit's own code, one at a time,
and at least 95 of 100 must turn a guarantee red.

    make bench NAME=bite             (FAULTS=20 for every tenth or so; PART=execute/ for those in
                                     files with this in their path)

Each fault of seeded_faults.yaml is put into one module as it is imported by a process of its own,
on a copy of a migrated database. The process is forked from one that has loaded libraries and
nothing of Remit. It tries the guarantees, those of the fault's room first, until one fails. What
fails is tried again in another office: only what fails twice counts as red, so a busy machine does
not pass for a fault, and neither does a process that breaks off or does not end. Without a fault
all must hold. The last line is JSON.
"""

import json
import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from importlib.machinery import SourceFileLoader
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from types import CodeType
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.corpus import PROJECT  # after the path
from benchmarks.database import own_database

SEEDED = Path(__file__).with_name("seeded_faults.yaml")
ENOUGH = 0.95
AT_ONCE = 2
PART = os.environ.get("PART", "")
PATIENCE_SECONDS = 200.0
SEAL_SECONDS = 20.0  # nobody else is on this server to hold up a seal
# What takes longest to load of what Remit stands on, and needs no settings.
LIBRARIES = [
    "django.contrib.admin.options",
    "django.db.backends.postgresql.base",
    "django.test",
    "cryptography.x509",
    "dateutil.rrule",
    "dns.resolver",
    "httpx",
    "icalendar",
    "imapclient",
    "jinja2",
    "joserfc.jwt",
    "markdown",
    "prometheus_client",
    "psutil",
    "psycopg_pool",
    "pyarrow",
    "pydantic",
    "pygments",
    "requests",
    "rich.console",
    "sqlparse",
]
NOTHING, BROKE_OFF, NO_END = "nothing failed", "broke off", "did not end"


def load() -> list[dict[str, str]]:
    faults: list[dict[str, str]] = yaml.safe_load(SEEDED.read_text(encoding="utf-8"))
    return faults


def seed(fault: dict[str, str]) -> None:
    """Let this process import the module with the fault in it."""
    path = PROJECT / fault["file"]
    if any(getattr(module, "__file__", None) == str(path) for module in [*sys.modules.values()]):
        raise SystemExit(f"{fault['file']} was loaded before the fault was in it.")
    text = path.read_text(encoding="utf-8")
    if fault["out"] not in text:
        raise SystemExit(f"{fault['file']} has changed: {fault['out']!r} is not in it.")
    broken = compile(text.replace(fault["out"], fault["in"], 1), str(path), "exec")
    whole = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, name: str) -> CodeType | None:
        return broken if self.path == str(path) else whole(self, name)

    SourceFileLoader.get_code = get_code  # type: ignore[assignment,method-assign]


def try_guarantees(room: str) -> tuple[str, list[str]]:
    """The guarantee that fails, and fails again, those of the room first, and those that failed
    only once before it."""
    import django

    django.setup()
    from django.test import override_settings

    from agents.installation import office, running
    from agents.installation.guarantees import attempt
    from audit.seals.notes import Signer
    from integrations.network import http

    site = office.Site(
        url=f"{os.environ['TRIAL_SERVICE']}/v1/data",
        key=os.environ["TRIAL_KEY"],
        control=http.client(f"{os.environ['TRIAL_SERVICE']}/sandbox", os.environ["TRIAL_KEY"]),
        signer=Signer(os.urandom(32)),
    )
    office.PATIENCE_SECONDS = SEAL_SECONDS
    once: list[str] = []
    with override_settings(**office.trial_settings()):
        for trial in sorted(
            running.IN_AN_OFFICE, key=lambda trial: not trial.__module__.endswith(room)
        ):
            if attempt(trial, office.found(site)).verdict != "FAIL":
                continue
            if attempt(trial, office.found(site)).verdict == "FAIL":
                return trial.__name__, once
            once.append(trial.__name__)
    return NOTHING, once


def run_forked(
    environment: dict[str, str], fault: dict[str, str] | None, answer: Connection
) -> None:
    """What a forked process does. It answers once, or breaks off."""
    os.environ |= environment
    # Modules are compiled once, and the one with the fault is not kept.
    sys.dont_write_bytecode, sys.pycache_prefix = False, os.environ["REMIT_STATE_DIR"]
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    if fault:
        seed(fault)
    answer.send(try_guarantees(fault["room"] if fault else ""))


class Bench:
    """Forked processes on copies of one database, each alone at a data service: trials give it bad
    days."""

    def __init__(self, database: str, services: Sequence[str], key: str) -> None:
        self.database, self.key = database, key
        self._free = SimpleQueue[str]()
        for service in services:
            self._free.put(service)
        self._processes = multiprocessing.get_context("forkserver")
        self._processes.set_forkserver_preload(LIBRARIES)

    def run(self, number: int, fault: dict[str, str] | None) -> tuple[str, list[str]]:
        """What failed with this fault, and what failed only once."""
        copy = urlunsplit(urlsplit(self.database)._replace(path=f"/copy_{number}"))
        service = self._free.get()
        environment = {"DATABASE_URL": copy, "TRIAL_SERVICE": service, "TRIAL_KEY": self.key}
        self._execute(f'CREATE DATABASE "copy_{number}" TEMPLATE "{self._template()}"')
        found, answer = self._processes.Pipe(duplex=False)
        process = self._processes.Process(target=run_forked, args=(environment, fault, answer))
        process.start()
        answer.close()
        try:
            return found.recv() if found.poll(PATIENCE_SECONDS) else (NO_END, [])
        except EOFError:
            return BROKE_OFF, []
        finally:
            process.kill()
            process.join()
            self._free.put(service)
            self._execute(f'DROP DATABASE "copy_{number}" WITH (FORCE)')

    def _template(self) -> str:
        return urlsplit(self.database).path[1:]

    def _execute(self, statement: str) -> None:
        import psycopg

        with psycopg.connect(
            urlunsplit(urlsplit(self.database)._replace(path="/postgres")), autocommit=True
        ) as session:
            session.execute(statement)


def measure() -> dict[str, Any]:
    from django.db import connections

    from agents.evaluation import programs

    faults = [fault for fault in load() if PART in fault["file"]]
    if not faults:
        raise SystemExit(f"No fault is in a file with {PART} in its path.")
    wanted = int(os.environ.get("FAULTS", len(faults)))
    faults = faults[:: max(1, len(faults) // wanted)][:wanted]
    connections.close_all()
    key = os.urandom(16).hex()
    counted: Counter[str] = Counter()
    started = time.monotonic()
    with ExitStack() as stack:
        services = [
            stack.enter_context(
                programs.running(
                    "sandbox.data_service",
                    port_name="SANDBOX_PORT",
                    environment={"DATA_SERVICE_KEY": key},
                )
            )
            for _ in range(AT_ONCE)
        ]
        pool = ThreadPoolExecutor(AT_ONCE)
        stack.callback(pool.shutdown, cancel_futures=True)
        bench = Bench(os.environ["DATABASE_URL"], services, key)
        whole, _ = bench.run(0, None)
        print(f"without a fault   {whole}", flush=True)
        found = pool.map(bench.run, range(1, len(faults) + 1), faults)
        for fault, (failed, once) in zip(faults, found, strict=True):
            counted[failed if failed in (NOTHING, BROKE_OFF, NO_END) else "red"] += 1
            said = f"{failed}: {fault['in'].strip()}" if failed == NOTHING else failed
            only = f"(once only: {', '.join(once)})" if once else ""
            print(f"{fault['file']:45} {said}", only, flush=True)
    return {
        "faults": len(faults),
        "red": counted["red"],
        "nothing_failed": counted[NOTHING],
        "broke_off": counted[BROKE_OFF],
        "did_not_end": counted[NO_END],
        "share": round(counted["red"] / len(faults), 3),
        "holds_without": whole == NOTHING,
        "seconds": round(time.monotonic() - started),
    }


def main() -> int:
    with own_database(durable=False):
        found = measure()
    print(json.dumps(found))
    return 0 if found["share"] >= ENOUGH and found["holds_without"] else 1


if __name__ == "__main__":
    sys.exit(main())
