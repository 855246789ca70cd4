"""Starts the embedded database again when it has died under a running `make run`."""

import time
from collections.abc import Callable
from pathlib import Path

from config.local import embedded
from config.local.place import EmbeddedDatabaseError

LONGEST_PAUSE = 30.0


class DatabaseWatch:
    """Watches the server of one state folder; `say` gets a sentence when it dies or is back."""

    def __init__(self, folder: Path, *, say: Callable[[str], None]) -> None:
        self._folder = folder
        self._say = say
        self._url = embedded.url(folder)
        self._failures = 0
        self._resume_at = 0.0

    def look_after(self) -> None:
        """Start the server if it does not run; one that fails is tried again after a pause that
        grows. Raises EmbeddedDatabaseError if it had to take another port: the programs that know
        its address must start again, too."""
        if time.monotonic() < self._resume_at or embedded.is_running(self._folder):
            return
        if not self._failures:
            self._say("The database stopped and is started again.")
        try:
            url = embedded.start(self._folder)
        except EmbeddedDatabaseError as error:
            self._failures += 1
            pause = min(2.0 ** (self._failures - 1), LONGEST_PAUSE)
            self._resume_at = time.monotonic() + pause
            self._say(f"{error}\nIt is tried again in {pause:.0f} s.")
            return
        self._failures = 0
        if url != self._url:
            raise EmbeddedDatabaseError(
                "Another program took the database's port meanwhile. Start again: make run"
            )
        self._say("The database was started again.")
