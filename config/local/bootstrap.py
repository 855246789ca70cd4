"""Make the project's own Python environment, `.venv`, then become a command inside it.

    python3 -m config.local.bootstrap run|dev [arguments for .venv/bin/python]

`run` installs requirements.lock, `dev` requirements-dev.lock, both pinned by hash: with uv
where it is on the PATH, else with pip. What is installed already is not looked at again,
so a second start needs no network. Standard library only.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from config.local import state

ENVIRONMENT = state.PROJECT_DIR / ".venv"
PYTHON = ENVIRONMENT / "bin" / "python"
INCOMPLETE = ENVIRONMENT / "remit-incomplete"
LOCKS = {"run": "requirements.lock", "dev": "requirements-dev.lock"}
COVERED_BY = {"run": ("run", "dev"), "dev": ("dev",)}

# What installers say, and what it means. The first that is found counts.
CAUSES = (
    (("No space left on device",), "The disk is full. Free some space and try again."),
    (
        ("Permission denied", "Read-only file system"),
        "A folder cannot be written. Give this user write access to the project folder.",
    ),
    (
        ("do not match the hashes", "ash mismatch"),
        "A downloaded package is not the one that the lock file names, so it was refused. "
        "Check what this machine's package index serves.",
    ),
    (
        (
            *("Name or service not known", "name resolution", "Network is unreachable"),
            *("Connection refused", "NewConnectionError", "error sending request", "timed out"),
        ),
        "The package index cannot be reached. Check the network or this machine's pip "
        "settings and try again; once installed, Remit needs no network.",
    ),
    (
        ("error: command", "compiler", "Failed building wheel", "Failed to build"),
        "A package has no ready-made file for this machine and there is no compiler to build "
        "it. Install a C compiler, or use Python 3.11 to 3.13 on Linux (glibc) or macOS.",
    ),
    (
        ("No matching distribution", "no wheels with a matching", "has no usable wheels"),
        "A package has no ready-made file for this machine. Use Python 3.11 to 3.13 on Linux "
        "(glibc) or macOS.",
    ),
)


class SetupError(RuntimeError):
    """The environment could not be made. The message says why and what to do."""


def prepare(kind: str) -> None:
    """Make sure that `.venv` holds everything of the lock `kind` ("run" or "dev").

    Raises SetupError or StateError. An interrupted attempt is started over.
    """
    with state.locked(state.state_dir() / "setup.lock"):
        if any(_is_stamped(cover) for cover in COVERED_BY[kind]):
            return
        started = time.monotonic()
        print("Setting up the Python environment in .venv (once) ...", flush=True)
        try:
            uv = shutil.which("uv")
            _make_environment(uv)
            INCOMPLETE.touch()
            _install(uv, LOCKS[kind])
            for covered, covers in COVERED_BY.items():
                if kind in covers:
                    _marker(covered).write_text(_fingerprint(covered))
            INCOMPLETE.unlink()
        except OSError as error:
            raise SetupError(explain(f"{error.strerror}: {error.filename}")) from error
        print(f"  ready after {time.monotonic() - started:.0f} s", flush=True)


def explain(output: str) -> str:
    """A sentence for people about an installer's failure, and the installer's last lines."""
    cause = next(
        (sentence for marks, sentence in CAUSES if any(mark in output for mark in marks)),
        "The Python packages could not be installed.",
    )
    last = "\n".join(f"  {line}" for line in output.strip().splitlines()[-8:])
    return f"{cause} The last lines were:\n{last}"


def _marker(kind: str) -> Path:
    return ENVIRONMENT / f"remit-{kind}.stamp"


def _fingerprint(kind: str) -> str:
    """What the marker of a complete environment says: its lock file and its Python."""
    lock = hashlib.sha256((state.PROJECT_DIR / LOCKS[kind]).read_bytes()).hexdigest()
    asked = subprocess.run(
        [PYTHON, "-c", "import sys; print(sys.prefix, *sys.version_info[:2])"],
        capture_output=True,
        text=True,
        check=False,
    )
    return f"{lock} {asked.stdout.strip()}"


def _is_stamped(kind: str) -> bool:
    if INCOMPLETE.exists() or not PYTHON.exists() or not _marker(kind).exists():
        return False
    return _marker(kind).read_text() == _fingerprint(kind)


def _make_environment(uv: str | None) -> None:
    if PYTHON.exists() and not INCOMPLETE.exists() and _is_usable():
        return
    if not uv and not importlib.util.find_spec("ensurepip"):
        raise SetupError(
            "This Python cannot make environments. On Debian or Ubuntu: apt-get install "
            "python3-venv. Or install uv."
        )
    shutil.rmtree(ENVIRONMENT, ignore_errors=True)
    ENVIRONMENT.mkdir()
    INCOMPLETE.touch()
    if uv:
        command = [uv, "venv", "--allow-existing", "--python", sys.executable, str(ENVIRONMENT)]
    else:
        command = [sys.executable, "-m", "venv", str(ENVIRONMENT)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise SetupError(explain(result.stdout + result.stderr))


def _is_usable() -> bool:
    """Whether the environment's Python runs and is the version that runs us."""
    asked = subprocess.run(
        [PYTHON, "-c", "import sys; print(*sys.version_info[:2])"],
        capture_output=True,
        text=True,
        check=False,
    )
    return asked.stdout.split() == [str(part) for part in sys.version_info[:2]]


def _install(uv: str | None, lock: str) -> None:
    """Install the lock file, with uv if possible; pip may know an index that uv does not."""
    options = ["--require-hashes", "-r", str(state.PROJECT_DIR / lock)]
    if uv:
        code, output = _follow([uv, "pip", "install", "--python", str(PYTHON), *options])
        if code == 0:
            return
        print("  uv could not install the packages; trying pip", flush=True)
        if not importlib.util.find_spec("ensurepip"):
            raise SetupError(explain(output))
    if not list(ENVIRONMENT.glob("lib/python*/site-packages/pip")):
        _follow([str(PYTHON), "-m", "ensurepip"])
    pip = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    # What is imported is compiled then; compiling all of it now takes half of the time.
    code, output = _follow([*pip, "--no-compile", "--progress-bar=off", *options])
    if code:
        raise SetupError(explain(output))


def _follow(command: list[str]) -> tuple[int, str]:
    """Run an installer, showing what it works on. Returns its exit code and its output."""
    lines: list[str] = []
    seen = 0
    on_terminal = sys.stdout.isatty()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as installer:
        for line in installer.stdout or ():
            lines.append(line)
            words = line.split()
            if words[:1] == ["Collecting"]:
                seen += 1
                if on_terminal:
                    print(f"\r\033[K  {seen} packages, {words[1]}", end="", flush=True)
                elif seen % 20 == 0:
                    print(f"  {seen} packages", flush=True)
            elif words[:1] in (["Installing"], ["Resolved"], ["Prepared"], ["Installed"]):
                start = "\r\033[K" if on_terminal else ""
                print(f"{start}  {' '.join(words)[:60]}", flush=True)
    return installer.returncode, "".join(lines)


def main(arguments: list[str]) -> int:
    """Set up, then become `.venv/bin/python` with the rest of the arguments, if any."""
    if not arguments or arguments[0] not in LOCKS:
        print("Usage: python3 -m config.local.bootstrap run|dev [arguments]", file=sys.stderr)
        return 2
    try:
        prepare(arguments[0])
    except (SetupError, state.StateError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted. The next start begins the set-up anew.", file=sys.stderr)
        return 130
    if arguments[1:]:
        os.execv(PYTHON, [str(PYTHON), *arguments[1:]])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
