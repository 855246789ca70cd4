"""`make reset`: stop what this project started and delete its data, and nothing else.

    python3 -m config.local.reset

Standard library only: it works where nothing is installed, or no longer.
"""

import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path

from config.local import embedded, processes, state
from config.local.children import end_leftovers

STOP_SECONDS = 60.0
# By name: a folder that REMIT_STATE_DIR names by mistake keeps everything else in it.
OURS = (
    "logs",
    "static",
    "test",
    "secrets.env",
    "operator-password",
    "run.json",
    "postgres.lock",
    "setup.lock",
)


class ResetError(RuntimeError):
    """Something still runs. The message says what."""


def reset(folder: Path) -> None:
    """Stop what runs with this state folder and delete its data.

    Raises ResetError, EmbeddedDatabaseError or StateError; what was deleted stays deleted.
    """
    if not folder.exists():
        return
    _stop_supervisor(folder)
    end_leftovers(folder / "run.json")
    for server in (folder / "test", folder):
        embedded.remove(server)
    for path in (*(folder / name for name in OURS), *folder.glob("sandbox.sqlite3*")):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    (folder / "run.lock").unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()


def _stop_supervisor(folder: Path) -> None:
    """Ask a running `make run` to stop, and wait until it has."""
    asked = False
    deadline = time.monotonic() + STOP_SECONDS
    while time.monotonic() < deadline:
        with state.locked(folder / "run.lock", wait=False) as idle:
            if idle:
                return
        if not asked and (folder / "run.json").exists():
            pid, mark = json.loads((folder / "run.json").read_text())["supervisor"]
            if processes.started(pid) == mark:
                print("Stopping the Remit that runs ...", flush=True)
                os.kill(pid, signal.SIGTERM)
                asked = True
        time.sleep(0.1)
    raise ResetError("`make run` does not stop. Stop it with Ctrl-C where it runs and try again.")


def main() -> int:
    """Returns the exit code."""
    try:
        reset(state.state_dir())
    except (ResetError, embedded.EmbeddedDatabaseError, state.StateError) as error:
        print(error, file=sys.stderr)
        return 1
    print("Everything that this project started is stopped, and its data is deleted.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
