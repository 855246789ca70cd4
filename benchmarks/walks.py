"""How many clicks and seconds people need for what they come for.

    make bench NAME=walks           WALK_PAUSE_MS=5000: how long a person reads before each decision

The walks are those of tests/browser/test_walks.py, in headless Chromium. WALK_ROUNDS notifications
are followed, without a pause: seconds from where the browser has one to where it is displayed, its
card is open, and the word is recorded and its page is back. Chromium has no way to press a
notification from outside: its address is opened instead. The last line is JSON.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = ("tests/browser/test_walks.py", "tests/browser/test_push.py")


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder) / "figures"
        usual = {"WALK_PAUSE_MS": "5000", "WALK_ROUNDS": "100"}
        given = usual | os.environ | {"WALK_FIGURES": str(figures)}
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:randomly", *TESTS]
        done = subprocess.run(command, env=given, check=False)
        lines = figures.read_text("utf-8").splitlines() if figures.exists() else []
    found: dict[str, float] = {}
    for line in lines:
        found |= json.loads(line)
    print(json.dumps(found))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
