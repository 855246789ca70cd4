"""Kills, races and doctored bundles of the tests, very often.

    make bench NAME=long

What `make test` tries a few times is tried here as often as it takes to believe it
(tests/long.py). The exit code is that of pytest.
"""

import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
TESTS = PROJECT / "tests"


def main() -> int:
    files = [path for path in TESTS.rglob("test_*.py") if "tests.long" in path.read_text()]
    command = (sys.executable, "-m", "pytest", "--durations=0", *map(str, sorted(files)))
    return subprocess.call(command, cwd=PROJECT, env=os.environ | {"REMIT_LONG": "1"})


if __name__ == "__main__":
    sys.exit(main())
