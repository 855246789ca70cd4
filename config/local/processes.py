"""What the operating system says about a process, so that a signal meets the right one.

A pid alone proves nothing: it is used again. Linux is asked through /proc, other systems
through `ps`. Standard library only.
"""

import subprocess
from pathlib import Path

PROC = Path("/proc/self/stat").exists()


def command(pid: int) -> str:
    """The command line of the live process `pid`; "" if there is none (a zombie has none)."""
    if PROC:
        try:
            return (
                Path(f"/proc/{pid}/cmdline")
                .read_bytes()
                .replace(b"\0", b" ")
                .decode("utf-8", "replace")
            )
        except OSError:
            return ""
    return _ps(pid, "command=")


def started(pid: int) -> str:
    """A mark of when process `pid` started, equal only for the same process; "" if none."""
    if PROC:
        try:
            # The name in parentheses may hold spaces; the start time is field 22 overall.
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        except OSError:
            return ""
        return "" if fields[0] == "Z" else f"{boot}:{fields[19]}"
    return _ps(pid, "lstart=")


def survivors(leader: int, *, mark: str, token: str) -> list[int]:
    """The live processes of the session that `leader` led when `started` gave `mark`.

    On Linux also those that outlived it, known by `token` in the environment they were
    started with; elsewhere the leader alone.
    """
    if not PROC:
        return [leader] if mark and started(leader) == mark else []
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                session = (entry / "stat").read_text().rpartition(")")[2].split()[3]
                if session == str(leader) and token.encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue  # it ended meanwhile, or belongs to someone else
    return found


def _ps(pid: int, column: str) -> str:
    result = subprocess.run(
        ["ps", "-p", str(pid), "-ww", "-o", column], capture_output=True, text=True, check=False
    )
    return result.stdout.strip()
