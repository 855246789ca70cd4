"""What is known against the packages that Remit and its development run on, as the lock pins them.

    python -m scripts.audit [OPTIONS of pip-audit]

A known weakness is an error, unless pyproject.toml accepts it up to a day. Where the list of them
(OSV, or a mirror: `--osv-url`) cannot be reached, it says that nothing was audited, and ends well.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from scripts.room_graph import PROJECT

LOCK = PROJECT / "requirements-dev.lock"  # with all of requirements.lock
# pip-audit has no exit code of its own for it, and passes on what its client raises.
UNREACHED = re.compile(
    r"(ConnectionError|ConnectTimeout|ReadTimeout|ProxyError|SSLError|ServiceError)\b"
)
NOT_ASKED = (
    "No dependency was audited: the list of known weaknesses cannot be reached from this machine."
)


class Failed(Exception):
    """pip-audit ended with something else than an answer."""


class Accepted(BaseModel):
    """A weakness that is borne up to this day, the day included, and why."""

    id: str
    until: date
    reason: str


def load_accepted() -> list[Accepted]:
    """Raises pydantic's ValidationError for one without a day or a reason."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    return [Accepted(**one) for one in project["tool"]["remit"]["audit"]["accepted"]]


def ask(lock: Path, options: Sequence[str]) -> list[dict[str, Any]] | None:
    """The packages of the lock with what is known against each; None where nobody can be asked.
    Raises Failed."""
    command = (
        *(sys.executable, "-m", "pip_audit", "--requirement", str(lock), "--require-hashes"),
        *("--disable-pip", "--vulnerability-service", "osv", "--format", "json"),
        *("--progress-spinner", "off", *options),
    )
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.stdout.strip():
        found: list[dict[str, Any]] = json.loads(ended.stdout)["dependencies"]
        return found
    if UNREACHED.search(ended.stderr):
        return None
    raise Failed(ended.stderr)


def find_problems(
    packages: Iterable[dict[str, Any]], accepted: Sequence[Accepted], *, today: date
) -> Iterator[str]:
    """A sentence for each weakness that is not accepted today, and for what was not asked about."""
    for package in packages:
        if "skip_reason" in package:
            yield f"{package['name']} was not audited: {package['skip_reason']}"
            continue
        for known in package["vulns"]:
            names = {known["id"], *known["aliases"]}
            borne = [one for one in accepted if one.id in names]
            if any(today <= one.until for one in borne):
                continue
            mended = ", ".join(known["fix_versions"]) or "no version yet"
            ended = "".join(f" It was accepted until {one.until}: {one.reason}" for one in borne)
            yield (
                f"{package['name']} {package['version']} has {' = '.join(sorted(names))}, "
                f"mended in {mended}.{ended}"
            )


def main(options: Sequence[str]) -> int:
    packages = ask(LOCK, options)
    if packages is None:
        print(NOT_ASKED)
        return 0
    accepted = load_accepted()
    problems = list(find_problems(packages, accepted, today=datetime.now(UTC).date()))
    print("\n".join(problems) or f"Nothing else is known against {len(packages)} packages.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
