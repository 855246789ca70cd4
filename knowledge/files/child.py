"""The program that reads one file: bytes from standard input, JSON to standard output.

It is a process of its own because the file is a stranger's: a parser that hangs is killed, one
that eats memory dies alone, and it sees neither settings nor secrets nor the database.

    python -m knowledge.files.child pdf < bytes
"""

import contextlib
import io
import json
import logging
import resource
import sys
import warnings
from collections.abc import Iterator

from knowledge.files.contracts import MAX_BYTES, MAX_CHARS, MEMORY_BYTES, SECONDS
from knowledge.files.exceptions import Cut, Unreadable
from knowledge.files.kinds import KINDS, Kind

MAX_ANSWER_BYTES = 16 * MAX_CHARS


def main(name: str) -> None:
    _limit()
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    kind = next(kind for kind in KINDS if kind.name == name)
    print(json.dumps(_answer(kind, sys.stdin.buffer.read(MAX_BYTES + 1))))


def _limit() -> None:
    for what, most in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CPU, SECONDS),
        (resource.RLIMIT_FSIZE, MAX_ANSWER_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        # Not every system has every limit; the one of time is kept from outside as well.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(what, (most, most))


def _answer(kind: Kind, data: bytes) -> dict[str, object]:
    try:
        text, cut = _beginning(kind.read(io.BytesIO(data)))
    except Unreadable as error:
        return {"reason": error.reason}
    except MemoryError:
        return {"reason": "too_much_memory"}
    except Exception:  # noqa: BLE001  # the libraries raise whatever they trip over
        return {"reason": "broken"}
    text = text.strip()
    return {"text": text, "cut": cut, "reason": "" if text else "empty"}


def _beginning(pieces: Iterator[str]) -> tuple[str, bool]:
    """As much as is kept, and whether there is more."""
    text = ""
    try:
        for piece in pieces:
            text += piece
            if len(text) > MAX_CHARS:
                return text[:MAX_CHARS], True
    except Cut:
        return text, True
    return text, False


if __name__ == "__main__":
    main(sys.argv[1])
