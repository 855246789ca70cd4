"""The state folder: everything Remit keeps on this machine outside the database.

Standard library only, so that it works before anything is installed.
"""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PRIVATE_UMASK = 0o077  # files that only their owner can read
PROJECT_DIR = Path(__file__).resolve().parent.parent.parent


class StateError(RuntimeError):
    """The state folder cannot be used. The message says why and what to do."""


def state_dir() -> Path:
    """The absolute path of the state folder: REMIT_STATE_DIR, else `.remit` in the project."""
    return Path(os.environ.get("REMIT_STATE_DIR") or PROJECT_DIR / ".remit").resolve()


def ensure(folder: Path) -> None:
    """Make `folder` if it is missing. Raises StateError if that is refused."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refusal(folder, error) from error


def close_to_others(folder: Path) -> None:
    """Take from others what an earlier version let them read in the state folder. The folder
    itself stays open to enter: the database's user may be another one."""
    for path in (*folder.glob("logs"), *folder.glob("logs/*"), *folder.glob("sandbox.sqlite3*")):
        path.chmod(0o700 if path.is_dir() else 0o600)


def open_private(path: str, flags: int) -> int:
    """An `opener` for `open`: a file that it makes is its owner's alone."""
    return os.open(path, flags, 0o600)


def refusal(path: Path, error: OSError) -> StateError:
    return StateError(
        f"Cannot write {path}: {error.strerror}. Give this user write access and free disk "
        "space there, or set REMIT_STATE_DIR to another folder."
    )


def write_private(path: Path, text: str, *, replace: bool = True) -> None:
    """Write `text` to `path` whole or not at all, readable by its owner only.

    With `replace=False` a file that exists already is left as it is.
    Raises StateError if the folder refuses.
    """
    ensure(path.parent)
    try:
        descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with open(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            if replace:
                os.replace(draft, path)
            else:
                os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            Path(draft).unlink(missing_ok=True)
    except OSError as error:
        raise refusal(path, error) from error


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[bool]:
    """Hold the lock file `path`; yields whether it was obtained (always, with `wait`).

    The lock ends with the process that holds it, however that process ends.
    """
    ensure(path.parent)
    try:
        file = open(path, "a", opener=open_private)  # noqa: SIM115  # closed below
    except OSError as error:
        raise refusal(path, error) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
