"""An iCalendar text as the lines it consists of (RFC 5545, 3.1), so that one property can be
changed and all others stay as they are, those that nobody here knows included. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time

from integrations.contracts.field_types import find_zone

OCTETS = 75  # of a line, before it is folded
_BREAK = re.compile(r"\r\n|\n|\r")
_LINE = re.compile(r'([A-Za-z0-9-]{1,100})((?:;[^:;"]*(?:"[^"]*"[^:;"]*)*)*):(.*)', re.DOTALL)
_PARAMETER = re.compile(r';([A-Za-z0-9-]+)=("[^"]*"|[^;"]*)')
_DAY = re.compile(r"\d{8}")
_TIME = re.compile(r"\d{8}T\d{6}Z?")
_LOCAL = "%Y%m%dT%H%M%S"


class BadLines(ValueError):
    """This is no calendar that can be changed line by line."""


@dataclass(frozen=True, kw_only=True)
class Property:
    name: str
    parameters: dict[str, str]
    value: str


@dataclass
class Resource:
    """A VCALENDAR: `parts` are its events, each a list of lines, and what stands between them."""

    parts: list[list[str]]

    @property
    def events(self) -> list[list[str]]:
        return [part for part in self.parts if is_event(part)]

    def to_bytes(self) -> bytes:
        return "".join(fold(line) for part in self.parts for line in part).encode()


def read(raw: bytes) -> Resource:
    """Raises BadLines."""
    try:
        lines = _unfolded(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise BadLines("it is not UTF-8") from error
    parts: list[list[str]] = [[]]
    inside: list[str] = []
    for line in lines:
        word, _, name = line.upper().partition(":")
        if word == "BEGIN":
            inside.append(name.strip())
            if inside == ["VCALENDAR", "VEVENT"]:
                parts.append([])
        parts[-1].append(line)
        if word == "END":
            if not inside or inside.pop() != name.strip():
                raise BadLines("its parts do not fit")
            if inside == ["VCALENDAR"] and name.strip() == "VEVENT":
                parts.append([])
    if inside or not lines or lines[0].upper() != "BEGIN:VCALENDAR":
        raise BadLines("it is no calendar")
    return Resource(parts=[part for part in parts if part])


def is_event(part: list[str]) -> bool:
    return part[0].upper() == "BEGIN:VEVENT"


def properties(event: list[str]) -> Iterator[tuple[int, Property]]:
    """Those of the event itself, each with the number of its line: not those of its alarms."""
    depth = 0
    for number, line in enumerate(event):
        found = _LINE.fullmatch(line)
        if found is None:
            continue
        name = found[1].upper()
        if name == "BEGIN":
            depth += 1
        elif name == "END":
            depth -= 1
        elif depth == 1:
            parameters = {
                one[1].upper(): one[2].strip('"') for one in _PARAMETER.finditer(found[2])
            }
            yield number, Property(name=name, parameters=parameters, value=found[3])


def find(event: list[str], name: str) -> Property | None:
    return next((one for _, one in properties(event) if one.name == name), None)


def count(event: list[str], name: str) -> int:
    return sum(one.name == name for _, one in properties(event))


def with_parameter(line: str, name: str, value: str) -> str:
    """The line of a property with this parameter, in place of one of the same name."""
    found = _LINE.fullmatch(line)
    if found is None:
        raise BadLines("a line that is no property")
    others = "".join(
        one[0] for one in _PARAMETER.finditer(found[2]) if one[1].upper() != name.upper()
    )
    return f"{found[1]}{others};{name}={value}:{found[3]}"


def put(event: list[str], name: str, *new: str) -> None:
    """Lines in the place of all of this name; none takes them away. Raises BadLines for a line
    that would end before its end."""
    if any(not line.replace("\t", " ").isprintable() for line in new):
        raise BadLines("a sign that has no place in a line")
    numbers = [number for number, one in properties(event) if one.name == name]
    where = numbers[0] if numbers else 1
    for number in reversed(numbers):
        del event[number]
    event[where:where] = new


def moment(found: Property | None, *, zone: str) -> datetime | None:
    """The time, or the beginning of the day, that a property says; `zone` is that of a time which
    names none. None for what cannot be read, such as a zone that only the calendar knows."""
    if found is None:
        return None
    value = found.value.strip().upper()
    named = find_zone(found.parameters.get("TZID", "") or zone)
    try:
        if _DAY.fullmatch(value):
            day = datetime.strptime(value, "%Y%m%d").date()  # noqa: DTZ007  # a day has no zone
            return datetime.combine(day, time(), find_zone(zone) or UTC)
        if not _TIME.fullmatch(value):
            return None
        naive = datetime.strptime(value.rstrip("Z"), _LOCAL)  # noqa: DTZ007  # it comes below
    except ValueError:
        return None
    if value.endswith("Z"):
        return naive.replace(tzinfo=UTC)
    return naive.replace(tzinfo=named) if named else None


def is_day(found: Property | None) -> bool:
    return found is not None and bool(_DAY.fullmatch(found.value.strip()))


def time_line(name: str, at: datetime, *, like: Property | None) -> str:
    """A time in the zone of the property that it replaces, where that is a known one."""
    named = like.parameters.get("TZID", "") if like else ""
    zone = find_zone(named)
    if zone is None:
        return f"{name}:{at.astimezone(UTC):{_LOCAL}}Z"
    return f"{name};TZID={named}:{at.astimezone(zone):{_LOCAL}}"


def day_line(name: str, day: date) -> str:
    return f"{name};VALUE=DATE:{day:%Y%m%d}"


def in_utc(at: datetime) -> str:
    return f"{at.astimezone(UTC):{_LOCAL}}Z"


def escape(text: str) -> str:
    """A text as a value (RFC 5545, 3.3.11)."""
    found = "".join(
        sign for sign in text.replace("\r\n", "\n") if sign.isprintable() or sign in "\n\t"
    )
    for sign, written in (("\\", "\\\\"), (";", "\\;"), (",", "\\,"), ("\n", "\\n")):
        found = found.replace(sign, written)
    return found


def fold(line: str) -> str:
    """The line as it is stored: no piece of it longer than OCTETS."""
    pieces, piece, size = [], "", 0
    for sign in line:
        width = len(sign.encode())
        if size + width > OCTETS:
            pieces.append(piece)
            piece, size = " ", 1
        piece += sign
        size += width
    return "\r\n".join([*pieces, piece]) + "\r\n"


def _unfolded(text: str) -> list[str]:
    lines: list[list[str]] = []
    for line in _BREAK.split(text):
        if line[:1] in (" ", "\t") and lines:
            lines[-1].append(line[1:])
        elif line:
            lines.append([line])
    return ["".join(pieces) for pieces in lines]
