"""How many clicks and seconds people need for what they come for.

    make bench NAME=walks           WALK_PAUSE_MS=5000: how long a person reads before each decision

The walks are those of tests/browser/test_walks.py, in headless Chromium. The last line is JSON.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TEST = "tests/browser/test_walks.py"


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder) / "figures"
        given = {"WALK_PAUSE_MS": "5000"} | os.environ | {"WALK_FIGURES": str(figures)}
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:randomly", TEST]
        done = subprocess.run(command, env=given, check=False)
        lines = figures.read_text("utf-8").splitlines() if figures.exists() else []
    found: dict[str, float] = {}
    for line in lines:
        found |= json.loads(line)
    print(json.dumps(found))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
