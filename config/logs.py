"""Log lines: `component.action` and its fields, as one JSON object a line.

Nothing that a stranger wrote reaches a log. Of an exception stand its types and where it came
from, never its words: those of a database hold the row, those of a parser the mail. Of what a
library logs stand the place and its sentence before anything was put into it. Only fields passed
in `extra` by Remit's own modules are written, so that what a log line holds is decided where it is
written; message bodies and addresses never belong there.
"""

import json
import logging
import re
import sys
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings

from integrations.llm import telemetry

BASE_DIR = Path(__file__).resolve().parent.parent
OUR_APPS = frozenset({"agents", "audit", "config", "guardrails", "integrations", "knowledge"})
# The server says its own sentences, and ours on why it does not start.
TRUSTED = OUR_APPS | {"uvicorn"}
STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
# In the text of a traceback, as the task queue logs it.
PLACE = re.compile(r'^ +File "([^"\n]+\.py)", line (\d{1,6}), in ', re.MULTILINE)


class LineFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": event_of(record),
            "logger": record.name,
        }
        if settings.TELEMETRY and (trace := telemetry.trace_id()):
            line["trace_id"] = trace
        if is_trusted(record, OUR_APPS):
            fields = vars(record).items()
            line |= {key: wordless(value) for key, value in fields if key not in STANDARD}
        if not is_trusted(record, TRUSTED):
            line["place"] = f"{record.module}:{record.lineno}"
            if places := list(places_in(str(record.msg))):
                line["exception"] = places
        if record.exc_info and record.exc_info[1]:
            line["exception"] = list(describe(record.exc_info[1]))
        return json.dumps(line, default=str, ensure_ascii=False)


def is_trusted(record: logging.LogRecord, names: frozenset[str]) -> bool:
    return record.name.partition(".")[0] in names


def event_of(record: logging.LogRecord) -> str:
    """What was logged, as far as it is the words of a program. A library's sentence without
    arguments may have them in it already, so it stays away."""
    if is_trusted(record, TRUSTED):
        given = record.args if isinstance(record.args, tuple) else ()
        return str(record.msg) % tuple(map(wordless, given)) if given else str(record.msg)
    return str(record.msg) if record.args and isinstance(record.msg, str) else "library.message"


def wordless(value: object) -> object:
    """A value for a log line: exceptions without their words."""
    if isinstance(value, BaseException):
        return name_of(value)
    if isinstance(value, list | tuple | set | frozenset):
        return [wordless(part) for part in value]
    return value


def name_of(error: BaseException) -> str:
    """An exception's type, with what a database or the system calls it."""
    kind = type(error)
    state = getattr(error, "sqlstate", None) or getattr(error, "errno", None)
    return f"{kind.__module__}.{kind.__qualname__}" + (f" {state}" if state else "")


def describe(error: BaseException, seen: frozenset[int] = frozenset()) -> Iterator[str]:
    """The types of an exception and of what led to it, the first cause first, each with its
    frames: file, line and function."""
    if id(error) in seen:
        return
    seen |= {id(error)}
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before:
        yield from describe(before, seen)
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield from describe(part, seen)
    yield name_of(error)
    for frame in traceback.extract_tb(error.__traceback__):
        yield f"  {short(frame.filename)}:{frame.lineno} {frame.name}"


def places_in(text: str) -> Iterator[str]:
    """Where the frames of a traceback in `text` are, as far as they are files of this program:
    the rest of it may be anything."""
    for name, number in PLACE.findall(text):
        if name.startswith((f"{BASE_DIR}/", f"{sys.prefix}/")) and Path(name).is_file():
            yield f"  {short(name)}:{number}"


def short(name: str) -> str:
    return name.removeprefix(f"{BASE_DIR}/").rpartition("/site-packages/")[2]
