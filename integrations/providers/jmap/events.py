"""Server-sent events (WHATWG HTML, 9.2) out of the bytes of an answer. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from integrations.exceptions import Malformed

MOST_BYTES = 1024 * 1024  # of one event


@dataclass(frozen=True)
class Event:
    name: str
    data: str


def read(chunks: Iterable[bytes]) -> Iterator[Event]:
    """The events, each as soon as it is whole. Raises Malformed for one that has no end."""
    data: list[str] = []
    name, size = "", 0
    for line in _lines(chunks):
        size += len(line)
        if size > MOST_BYTES:
            raise Malformed("an event without end")
        if not line:
            if data:
                yield Event(name or "message", "\n".join(data))
            name, data, size = "", [], 0
            continue
        field, _, value = line.decode(errors="replace").partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Lines end with CR, LF or both."""
    rest = b""
    for chunk in chunks:
        # What comes behind a CR tells whether it is a line's end by itself.
        lines = (rest + chunk).replace(b"\r\n", b"\n")
        held = lines.endswith(b"\r")
        lines = lines.removesuffix(b"\r").replace(b"\r", b"\n")
        *whole, rest = lines.split(b"\n")
        yield from whole
        rest += b"\r" * held
        if len(rest) > MOST_BYTES:
            raise Malformed("an event without end")
