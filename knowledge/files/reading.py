"""The bytes of a file to text, in a process that can be killed."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, cast

from knowledge.files.child import MAX_ANSWER_BYTES
from knowledge.files.contracts import MAX_CHARS, REASONS, SECONDS, FileText, Reason
from knowledge.files.kinds import Kind

PROJECT = Path(__file__).resolve().parent.parent.parent
# A process each: more than there are processors would only take each other's time.
_free = threading.BoundedSemaphore(os.cpu_count() or 1)
_BY_SIGNAL: dict[int, Reason] = {
    signal.SIGXCPU: "too_slow",
    signal.SIGKILL: "too_slow",
    # What calls abort() when it gets no more memory.
    signal.SIGABRT: "too_much_memory",
}


def read(kind: Kind, file: IO[bytes], *, seconds: float = SECONDS) -> FileText:
    """The text of `file`, from its start. Whatever is in it, the answer comes within about
    `seconds` and costs this process no more than the text. Never raises for what a stranger
    may have made."""
    with _free, TemporaryFile() as answer:
        file.seek(0)
        try:
            done = subprocess.run(
                [sys.executable, "-m", "knowledge.files.child", kind.name],
                stdin=file,
                stdout=answer,
                stderr=subprocess.DEVNULL,
                cwd=PROJECT,
                env={},  # no secrets
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return FileText(reason="too_slow")
        if done.returncode:
            return FileText(reason=_BY_SIGNAL.get(-done.returncode, "broken"))
        answer.seek(0)
        return _believed(answer.read(MAX_ANSWER_BYTES))


def _believed(answer: bytes) -> FileText:
    """A child that a file has taken over can still say nothing but text."""
    try:
        said: Any = json.loads(answer)
        text, reason, cut = said.get("text", ""), said["reason"], said.get("cut", False)
    except (ValueError, RecursionError, AttributeError, TypeError, KeyError):
        return FileText(reason="broken")
    if not isinstance(text, str) or (reason != "" and reason not in REASONS):
        return FileText(reason="broken")
    return FileText(text=text[:MAX_CHARS], reason=cast("Reason", reason), cut=cut is True)
