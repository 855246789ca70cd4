"""The sandbox and the offline model as programs of their own, each on a free port here."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping

from django.conf import settings

START_SECONDS = 30.0
STOP_SECONDS = 10.0


class DidNotStart(RuntimeError):
    """A program did not start. The message has its last words."""


@contextlib.contextmanager
def running(module: str, *, port_name: str, environment: Mapping[str, str]) -> Iterator[str]:
    """Run a module until the block ends; gives its origin. The variable `port_name` tells it where
    to listen. Raises DidNotStart."""
    for last_try in (False, False, True):
        port = _free_port()
        given = {**_own_environment(), **environment, port_name: str(port)}
        with tempfile.TemporaryFile() as words:
            process = subprocess.Popen(
                [sys.executable, "-m", module],
                cwd=settings.BASE_DIR,
                env=given,
                stdin=subprocess.DEVNULL,
                stdout=words,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                if _listens(process, port):
                    yield f"http://127.0.0.1:{port}"
                    return
            finally:
                _stop(process)
            words.seek(0)
            if last_try:
                raise DidNotStart(f"{module} did not start: {words.read().decode().strip()}")


def _own_environment() -> dict[str, str]:
    """What a program needs to run at all, and nothing of how Remit is set up here."""
    return {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "HOME") if name in os.environ}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _listens(process: subprocess.Popen[bytes], port: int) -> bool:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return True
        time.sleep(0.05)
    return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
