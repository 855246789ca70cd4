"""A process of its own in which what strangers wrote is taken apart. It can be killed, has limits
of time and memory, and sees neither settings nor secrets nor the database.

    CHILD = Child("knowledge.text.child")        # there: serve(answer), under __main__
    answer = CHILD.ask(request)

It is started once for each process that needs it, and anew after it was killed.
"""

import atexit
import contextlib
import os
import pickle
import resource
import select
import signal
import struct
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

PROJECT = Path(__file__).resolve().parent.parent
SECONDS = 5  # of computing, for one request
WALL_SECONDS = 60.0  # on a machine that is busy with other things
MEMORY_BYTES = 1024 * 1024 * 1024
MAX_ANSWER_BYTES = 256 * 1024 * 1024
_LENGTH = struct.Struct(">Q")
_FINE, _NO_MEMORY, _BROKEN = b"\0", b"\1", b"\2"
_BY_SIGNAL = {
    signal.SIGXCPU: "too_slow",
    signal.SIGABRT: "too_much_memory",  # what calls abort() when it gets no more memory
    signal.SIGSEGV: "broken",
}


class Unreadable(Exception):
    """A child could not take this apart: `too_slow`, `too_much_memory` or `broken`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Ended(Exception):
    """The child was ended from outside, which says nothing about what it read."""


class Child:
    """The child of this process that runs `program`, a module. One thread asks at a time."""

    def __init__(
        self,
        program: str,
        *,
        seconds: int = SECONDS,
        wall_seconds: float = WALL_SECONDS,
        memory_bytes: int = MEMORY_BYTES,
    ) -> None:
        self._wall_seconds = wall_seconds
        self._command = [sys.executable, "-m", program, str(seconds), str(memory_bytes)]
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._parent = 0
        atexit.register(self.close)

    def ask(self, request: Any) -> bytes:
        """The answer to what can be pickled. Raises Unreadable, Ended, and OSError when no process
        can be started."""
        sent = pickle.dumps(request)
        with self._lock:
            process = self._running()
            assert process.stdin is not None  # noqa: S101  # it is a pipe
            try:
                process.stdin.write(_LENGTH.pack(len(sent)) + sent)
                process.stdin.flush()
                return _answer(process, until=time.monotonic() + self._wall_seconds)
            except (EOFError, BrokenPipeError):
                raise self._why_dead() from None
            except TimeoutError:
                self._end()
                raise Unreadable("too_slow") from None

    def close(self) -> None:
        """End it. The next request starts another one."""
        with self._lock:
            self._end()

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._parent != os.getpid():  # before a fork it was somebody else's
            self._process, self._parent = None, os.getpid()
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=PROJECT,
                env={},  # no secrets
                start_new_session=True,  # Ctrl-C is for its parent
            )
        return self._process

    def _why_dead(self) -> Exception:
        assert self._process is not None  # noqa: S101  # it has just been asked
        code = self._process.wait()
        self._end()
        reason = _BY_SIGNAL.get(signal.Signals(-code)) if code < 0 else "broken"
        return Unreadable(reason) if reason else Ended()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None or self._parent != os.getpid():
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None  # noqa: S101  # they are pipes
            with contextlib.suppress(OSError):
                pipe.close()


def _answer(process: "subprocess.Popen[bytes]", *, until: float) -> bytes:
    assert process.stdout is not None  # noqa: S101  # it is a pipe
    (length,) = _LENGTH.unpack(_read(process.stdout, _LENGTH.size, until))
    if not 0 < length <= MAX_ANSWER_BYTES:
        raise Unreadable("broken")
    answer = _read(process.stdout, length, until)
    if answer[:1] != _FINE:
        raise Unreadable("too_much_memory" if answer[:1] == _NO_MEMORY else "broken")
    return answer[1:]


def _read(pipe: IO[bytes], size: int, until: float) -> bytes:
    found = bytearray()
    while len(found) < size:
        ready, _, _ = select.select([pipe], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            raise TimeoutError
        piece = os.read(pipe.fileno(), size - len(found))
        if not piece:
            raise EOFError
        found += piece
    return bytes(found)


def serve(answer: Callable[[Any], bytes]) -> None:
    """The child's own part: answer what is asked until the parent has gone."""
    seconds, memory = map(int, sys.argv[1:3])
    warnings.simplefilter("ignore")
    for what, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CORE, 0)):
        # Not every system has every limit; the one of time is kept from outside as well.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(what, (most, most))
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    asked, answers = sys.stdin.buffer, sys.stdout.buffer
    while head := asked.read(_LENGTH.size):
        sent = asked.read(_LENGTH.unpack(head)[0])
        with contextlib.suppress(ValueError, OSError):
            used = int(time.process_time()) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (used + seconds, hard))
        try:
            said = _FINE + answer(pickle.loads(sent))  # noqa: S301  # its parent's
        except MemoryError:
            said = _NO_MEMORY
        except Exception:  # noqa: BLE001  # whatever a parser trips over
            said = _BROKEN
        answers.write(_LENGTH.pack(len(said)) + said)
        answers.flush()
