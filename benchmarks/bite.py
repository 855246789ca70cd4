"""Does `manage.py verify_installation` bite? Faults are seeded in Remit's own code, one at a time,
and at least 95 of 100 must turn a guarantee red.

    make bench NAME=bite

Each fault of seeded_faults.yaml is put into one module as it is imported by a process of its own,
which tries the guarantees on a copy of a migrated database until one fails. Without a fault all
must hold. FAULTS=20 tries every fifth or so. The last line is JSON.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.machinery import SourceFileLoader
from pathlib import Path
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
PATIENCE_SECONDS = 600.0  # who does not end by then is caught, too


def load() -> list[dict[str, str]]:
    faults: list[dict[str, str]] = yaml.safe_load(SEEDED.read_text(encoding="utf-8"))
    return faults


def seed(fault: dict[str, str]) -> None:
    """Let this process import the module with the fault in it."""
    path = PROJECT / fault["file"]
    text = path.read_text(encoding="utf-8")
    if fault["out"] not in text:
        raise SystemExit(f"{fault['file']} has changed: {fault['out']!r} is not in it.")
    broken = compile(text.replace(fault["out"], fault["in"], 1), str(path), "exec")
    whole = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, name: str) -> CodeType | None:
        return broken if self.path == str(path) else whole(self, name)

    SourceFileLoader.get_code = get_code  # type: ignore[assignment,method-assign]


def try_guarantees(room: str) -> str:
    """The name of the first guarantee that fails, those of the room first; empty: all hold."""
    import django

    django.setup()
    from django.test import override_settings

    from agents.installation import office, running
    from agents.installation.guarantees import attempt
    from audit.seals.notes import Signer
    from integrations.network import http

    first = import_module(f"agents.installation.{room}").TRIALS if room else ()
    site = office.Site(
        url=f"{os.environ['TRIAL_SERVICE']}/v1/data",
        key=os.environ["TRIAL_KEY"],
        control=http.client(f"{os.environ['TRIAL_SERVICE']}/sandbox", os.environ["TRIAL_KEY"]),
        signer=Signer(os.urandom(32)),
    )
    with override_settings(**office.trial_settings()):
        for trial in (*first, *(one for one in running.IN_AN_OFFICE if one not in first)):
            if attempt(trial, office.found(site)).verdict == "FAIL":
                return str(trial.__name__)
    return ""


class Bench:
    """Children on copies of one database, beside one data service."""

    def __init__(self, database: str, service: str, key: str) -> None:
        self.database, self.service, self.key = database, service, key

    def run(self, number: int, fault: dict[str, str] | None) -> str:
        """What failed first with this fault; empty: nothing did."""
        copy = urlunsplit(urlsplit(self.database)._replace(path=f"/copy_{number}"))
        self._execute(f'CREATE DATABASE "copy_{number}" TEMPLATE "{self._template()}"')
        given = json.dumps(fault or {})
        try:
            ran = subprocess.run(
                [sys.executable, __file__, "--child", given],
                cwd=PROJECT,
                env=os.environ
                | {"DATABASE_URL": copy, "TRIAL_SERVICE": self.service, "TRIAL_KEY": self.key},
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                timeout=PATIENCE_SECONDS,
                check=False,
            )
            found = json.loads(ran.stdout.splitlines()[-1]) if ran.returncode == 0 else "broke off"
        except subprocess.TimeoutExpired:
            found = "did not end"
        finally:
            self._execute(f'DROP DATABASE "copy_{number}" WITH (FORCE)')
        return str(found)

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

    faults = load()
    wanted = int(os.environ.get("FAULTS", len(faults)))
    faults = faults[:: max(1, len(faults) // wanted)][:wanted]
    connections.close_all()
    key = os.urandom(16).hex()
    survivors = []
    with (
        programs.running(
            "sandbox.data_service",
            port_name="SANDBOX_PORT",
            environment={"DATA_SERVICE_KEY": key},
        ) as service,
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):
        bench = Bench(os.environ["DATABASE_URL"], service, key)
        whole = bench.run(0, None)
        print(f"without a fault   {whole or 'all hold'}", flush=True)
        found = pool.map(bench.run, range(1, len(faults) + 1), faults)
        for fault, failed in zip(faults, found, strict=True):
            print(f"{fault['file']:45} {failed or 'NOTHING FAILED: ' + fault['in']}", flush=True)
            if not failed:
                survivors.append(fault["file"])
    share = 1 - len(survivors) / len(faults)
    return {
        "faults": len(faults),
        "red": len(faults) - len(survivors),
        "share": round(share, 3),
        "holds_without": not whole,
    }


def main() -> int:
    if sys.argv[1:2] == ["--child"]:
        fault = json.loads(sys.argv[2])
        if fault:
            seed(fault)
        print(json.dumps(try_guarantees(fault.get("room", ""))))
        return 0
    with own_database(durable=False):
        found = measure()
    print(json.dumps(found))
    return 0 if found["share"] >= ENOUGH and found["holds_without"] else 1


if __name__ == "__main__":
    sys.exit(main())
