"""Messages out of mail files: mbox, maildir, .eml, folders of .eml, JSON Lines of raw mail.

Read lazily: a file of any size needs the memory of one message. Whatever stands where a
message should be is either yielded as one or counted as unreadable with its reason.
"""

import gzip
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Literal, cast

from integrations.mail.headers import parse_date
from integrations.mail.mail import MAX_MESSAGE_BYTES

UnreadableReason = Literal["too_large", "empty", "no_headers", "bad_line", "cannot_read"]

REASONS: dict[UnreadableReason, str] = {
    "too_large": "The message is larger than 25 MiB.",
    "empty": "There is nothing where a message should be.",
    "no_headers": "It does not begin with mail headers.",
    "bad_line": "The line is not a JSON object with a text `raw` in ISO-8859-1.",
    "cannot_read": "The file cannot be read to its end.",
}

# One byte of a message takes up to six in JSON (\u00e9).
_MAX_LINE_BYTES = 6 * MAX_MESSAGE_BYTES + 64 * 1024
_CHUNK = 64 * 1024
_FROM_LINE = re.compile(
    rb"From .*?((?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]?\d [ \d]?\d:\d\d(?::\d\d)?"
    rb"(?: [A-Za-z0-9+-]{1,10})? \d{4})[^\n]{0,40}\r?\n?"
)
_QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)
_HEADER = re.compile(rb"[!-9;-~]+[ \t]*:")


@dataclass(frozen=True, kw_only=True)
class RawMail:
    """The exact bytes of one message without its mbox "From " line.

    `date` (aware) is when the file says that it arrived: for a mail without a date of its own.
    """

    place: str
    raw: bytes
    date: datetime


@dataclass(frozen=True, kw_only=True)
class Unreadable:
    """Something that should have been a message, where it stands and why it is not one."""

    place: str
    reason: UnreadableReason


class NoMailHere(Exception):
    """There is no mail file of a known kind at this path. The message says what to do."""


def read_mail(path: Path) -> Iterator[RawMail | Unreadable]:
    """Every message at `path`, in the order of the file (or of the names in a folder).

    Raises NoMailHere before the first message when there is nothing to read.
    """
    if path.is_dir():
        files = _files_in(path)
        if not files:
            raise NoMailHere(f"{path} is neither a maildir nor a folder with .eml files.")
        return (mail for file in files for mail in _guarded(file, "eml"))
    if not path.is_file():
        raise NoMailHere(f"There is no file {path}. Give an mbox, maildir, .eml or .jsonl(.gz).")
    return _guarded(path, _kind(path))


def _files_in(folder: Path) -> list[Path]:
    if (folder / "cur").is_dir() and (folder / "new").is_dir():
        found = [*(folder / "new").iterdir(), *(folder / "cur").iterdir()]
    else:
        found = [file for file in folder.rglob("*") if file.suffix.lower() == ".eml"]
    return sorted(file for file in found if file.is_file() and not file.name.startswith("."))


def _kind(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    if suffixes[-1:] == [".jsonl"]:
        return "jsonl"
    if suffixes[-1:] == [".eml"]:
        return "eml"
    try:
        with _open(path) as file:
            start = file.read(5)
    except (OSError, EOFError, zlib.error) as error:
        raise NoMailHere(f"{path} cannot be read: {error}.") from error
    if start == b"From " or suffixes[-1:] == [".mbox"]:
        return "mbox"
    raise NoMailHere(
        f"{path} is not mail Remit can read. Give an mbox, maildir, .eml or .jsonl(.gz)."
    )


def _open(path: Path) -> IO[bytes]:
    return cast("IO[bytes]", (gzip.open if path.suffix.lower() == ".gz" else open)(path, "rb"))


def _guarded(path: Path, kind: str) -> Iterator[RawMail | Unreadable]:
    """The messages of one file; a file that breaks off ends with one unreadable."""
    try:
        arrived = datetime.fromtimestamp(path.stat().st_mtime, tz=UTC)
        with _open(path) as file:
            if kind == "jsonl":
                yield from _json_lines(file, path.name, arrived)
            elif kind == "mbox":
                yield from _mbox(file, path.name, arrived)
            else:
                yield _message(file.read(MAX_MESSAGE_BYTES + 1), path.name, arrived)
    except (OSError, EOFError, zlib.error):
        yield Unreadable(place=path.name, reason="cannot_read")


def _message(raw: bytes, place: str, arrived: datetime) -> RawMail | Unreadable:
    if from_line := _FROM_LINE.match(raw) if raw.startswith(b"From ") else None:
        arrived = parse_date(from_line[1].decode("ascii", "replace")) or arrived
    if raw.startswith(b"From "):
        raw = raw.partition(b"\n")[2]
    if len(raw) > MAX_MESSAGE_BYTES:
        return Unreadable(place=place, reason="too_large")
    if not raw.strip():
        return Unreadable(place=place, reason="empty")
    if not _HEADER.match(raw.lstrip(b"\r\n")):
        return Unreadable(place=place, reason="no_headers")
    return RawMail(place=place, raw=raw, date=arrived)


def _json_lines(file: IO[bytes], name: str, arrived: datetime) -> Iterator[RawMail | Unreadable]:
    number = 0
    while line := file.readline(_MAX_LINE_BYTES + 1):
        number += 1
        place = f"{name}, line {number}"
        if len(line) > _MAX_LINE_BYTES:
            while line and not line.endswith(b"\n"):
                line = file.readline(_CHUNK)
            yield Unreadable(place=place, reason="too_large")
        elif line.strip():
            raw = _raw_of(line)
            yield (
                Unreadable(place=place, reason="bad_line")
                if raw is None
                else _message(raw, place, arrived)
            )


def _raw_of(line: bytes) -> bytes | None:
    try:
        value = json.loads(line)
        return str(value["raw"]).encode("iso-8859-1") if isinstance(value["raw"], str) else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _mbox(file: IO[bytes], name: str, arrived: datetime) -> Iterator[RawMail | Unreadable]:
    """A message begins at a "From " line with a date, at the start or after an empty line."""
    number, size, lines = 0, 0, list[bytes]()
    after_blank, line_start = True, True
    while line := file.readline(_CHUNK):
        if after_blank and line_start and _FROM_LINE.match(line):
            if number:
                yield _mbox_message(lines, size, f"{name}, message {number}", arrived)
            number, size, lines = number + 1, 0, []
        size += len(line)
        if size <= MAX_MESSAGE_BYTES + _CHUNK:
            lines.append(line)
        number = number or 1
        after_blank, line_start = line_start and not line.strip(), line.endswith(b"\n")
    yield _mbox_message(lines, size, f"{name}, message {max(number, 1)}", arrived)


def _mbox_message(
    lines: list[bytes], size: int, place: str, arrived: datetime
) -> RawMail | Unreadable:
    if size > MAX_MESSAGE_BYTES:
        return Unreadable(place=place, reason="too_large")
    raw = b"".join(lines)
    # The empty line before the next "From " belongs to the format, and so does one ">".
    for blank in (b"\r\n", b"\n"):
        if raw.endswith(blank * 2):
            raw = raw.removesuffix(blank)
            break
    return _message(_QUOTED_FROM.sub(rb"\1", raw), place, arrived)
