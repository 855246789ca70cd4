"""Events out of iCalendar files (RFC 5545). Pure, but for `load`: bytes in, values out.

Everything in a file was written by strangers: what cannot be read is rejected by itself, with its
reason, and the others are read.
"""

import re
import warnings
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from icalendar import Calendar, Component
from icalendar.timezone import tzid_from_tzinfo
from pydantic import ValidationError

from integrations.contracts import Event, Rejected
from integrations.contracts.field_types import find_zone

MAX_BYTES = 25 * 1024 * 1024
MAX_EVENTS = 100_000
MAX_ATTENDEES = 200
MAX_TEXT = 100_000
_STATUS = {"CANCELLED": "cancelled", "TENTATIVE": "tentative"}
_LOCAL, _DAY = "%Y%m%dT%H%M%S", "%Y%m%d"
# Parts of a file that cannot be read as one are looked for by their own lines.
_EDGE = re.compile(rb"(?im)^(BEGIN|END):VEVENT\b[^\n]*$")


class NoEventsHere(Exception):
    """There is no calendar file here. The message says what to do."""


class _Unreadable(ValueError):
    """Why an event cannot be read, as a code."""


def load(path: Path) -> bytes:
    """The file's bytes. Raises NoEventsHere."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise NoEventsHere(f"{path} is larger than {MAX_BYTES // 1024 // 1024} MiB.")
        raw = path.read_bytes()
    except OSError as error:
        raise NoEventsHere(f"{path} cannot be read: {error.strerror}.") from error
    if b"BEGIN:VCALENDAR" not in raw[:10_000].upper():
        raise NoEventsHere(f"{path} is not a calendar file. Give an .ics file.")
    return raw


def read_events(raw: bytes, *, zone: ZoneInfo) -> list[Event | Rejected]:
    """Every event in `raw`, in its order. A time without a zone is in that of the calendar, else
    in `zone`. An event without an id gets one from its content."""
    found: list[Event | Rejected] = []
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # about zones that the library knows only by the end of their names
        for component, calendar in islice(_components(raw), MAX_EVENTS):
            found.append(_read(component, calendar, zone))
    return found


def _components(raw: bytes) -> Iterator[tuple[Component | bytes, Component | None]]:
    """Each event and its calendar; bytes where an event could not be taken apart. Of a file that
    cannot be read as one, or breaks off, the events that are whole."""
    try:
        calendars = Calendar.from_ical(raw, multiple=True)
    except Exception:  # noqa: BLE001  # it raises whatever it trips over
        calendars = []
    whole = [(event, calendar) for calendar in calendars for event in calendar.walk("VEVENT")]
    yield from whole
    for event in () if whole else _whole_events(raw):
        try:
            yield Component.from_ical(event), None
        except Exception:  # noqa: BLE001
            yield event, None


def _whole_events(raw: bytes) -> Iterator[bytes]:
    """From the line that begins an event to the first that ends one."""
    start = None
    for edge in _EDGE.finditer(raw):
        if start is None and edge[1].upper() == b"BEGIN":
            start = edge.start()
        elif start is not None and edge[1].upper() == b"END":
            yield raw[start : edge.end()]
            start = None


def _read(
    component: Component | bytes, calendar: Component | None, zone: ZoneInfo
) -> Event | Rejected:
    if isinstance(component, bytes):
        return Rejected(source_id=f"(no id) {_digest(component)}", reason="malformed_event")
    name = _text(component, "UID")[:200]
    try:
        return _event(component, calendar, _zone_of(calendar) or zone)
    except _Unreadable as error:
        reason = str(error)
    except ValidationError:
        reason = "malformed_event"
    except Exception:  # noqa: BLE001  # values are taken apart when they are asked for
        reason = "malformed_event"
    return Rejected(source_id=name or f"(no id) {_digest(_bytes(component))}", reason=reason)


def _event(component: Component, calendar: Component | None, zone: ZoneInfo) -> Event:
    start = _moment(component, "DTSTART")
    if start is None:
        raise _Unreadable("no_start")
    all_day = not isinstance(start, datetime)
    end = _end(component, start)
    instead_of = _moment(component, "RECURRENCE-ID")
    uid = _text(component, "UID") or _digest(_bytes(component))
    begin, own_zone = _in_zone(start, zone)
    original = _in_zone(instead_of, zone)[0] if instead_of is not None else None
    rest = original is not None and _is_rest(component)
    method = _text(calendar, "METHOD").upper() if calendar is not None else ""
    status = _STATUS.get(_text(component, "STATUS").upper(), "confirmed")
    sequence = component.get("SEQUENCE", 0)
    return Event(
        id=_id(uid, original, rest=rest),
        version=sequence + 1 if isinstance(sequence, int) and 0 <= sequence < 2**31 else 0,
        updated_at=_changed_at(component),
        time_zone=own_zone,
        title=_text(component, "SUMMARY"),
        description=_text(component, "DESCRIPTION"),
        start=begin,
        end=_in_zone(end, zone)[0],
        all_day=all_day,
        status="cancelled" if method == "CANCEL" else status,
        location=_text(component, "LOCATION"),
        attendees=tuple(_attendees(component)),
        recurrence=None if original else _recurrence(component) or None,
        series_id=uid[:500] if original else None,
        original_start=original,
        this_and_future=rest,
        created_by=_address(component.get("ORGANIZER")),
    )


def _is_rest(component: Component) -> bool:
    """Whether it stands for all later ones of its series too. Raises _Unreadable for another
    range: THISANDPRIOR, which RFC 5545 took out."""
    named = str(component["RECURRENCE-ID"].params.get("RANGE", "")).upper()
    if named not in ("", "THISANDFUTURE"):
        raise _Unreadable("unknown_range")
    return bool(named)


def _id(uid: str, original: datetime | None, *, rest: bool) -> str:
    """An id of its own for one of a series, or for all from it on; long ones by their digest."""
    own = f"{uid}/{original.astimezone(UTC):{_LOCAL}}Z" if original else uid
    own += "/on" if rest else ""
    return own if len(own) <= 500 and own.isprintable() else _digest(own.encode())


def _moment(component: Component, name: str) -> datetime | date | None:
    value = component.get(name)
    if value is None:
        return None
    if isinstance(value, list):
        raise _Unreadable("two_times")
    found = value.dt
    if not isinstance(found, date):
        raise _Unreadable("malformed_event")
    return found


def _end(component: Component, start: date) -> date:
    """A day has no end but its own; what lasts no time ends when it begins."""
    end = _moment(component, "DTEND")
    if end is not None and isinstance(end, datetime) is isinstance(start, datetime):
        return max(start, end) if _comparable(start, end) else end
    length = component.get("DURATION")
    if length is not None and isinstance(length.dt, timedelta) and length.dt >= timedelta():
        return start + length.dt
    return start if isinstance(start, datetime) else start + timedelta(days=1)


def _comparable(start: date, end: date) -> bool:
    if isinstance(start, datetime) and isinstance(end, datetime):
        return (start.tzinfo is None) is (end.tzinfo is None)
    return True


def _in_zone(moment: date, zone: ZoneInfo) -> tuple[datetime, str]:
    """An aware time and the IANA name of its zone. A zone that only the file describes is the
    one of that behaviour; where there is none its offset at this time counts, without a name."""
    if not isinstance(moment, datetime):
        return datetime.combine(moment, time(), zone), zone.key
    if moment.tzinfo is None:
        return moment.replace(tzinfo=zone), zone.key
    name = tzid_from_tzinfo(moment.tzinfo) or ""
    known = find_zone(name)
    if known is not None and moment.astimezone(known).utcoffset() == moment.utcoffset():
        return moment.astimezone(known), known.key
    return moment, ""


def _zone_of(calendar: Component | None) -> ZoneInfo | None:
    return find_zone(_text(calendar, "X-WR-TIMEZONE")) if calendar is not None else None


def _recurrence(component: Component) -> str:
    """The rules as lines of RFC 5545, each date in UTC or local to the event."""
    lines = []
    for name in ("RRULE", "EXRULE"):
        lines += [f"{name}:{one.to_ical().decode()}" for one in _each(component.get(name))]
    for name in ("RDATE", "EXDATE"):
        dates = [_date(one.dt) for line in _each(component.get(name)) for one in line.dts]
        if dates:
            lines.append(f"{name}:{','.join(dates)}")
    return "\n".join(lines)


def _date(value: Any) -> str:
    moment = value[0] if isinstance(value, tuple) else value
    if isinstance(moment, datetime) and moment.tzinfo is not None:
        return f"{moment.astimezone(UTC):{_LOCAL}}Z"
    return f"{moment:{_LOCAL if isinstance(moment, datetime) else _DAY}}"


def _attendees(component: Component) -> Iterator[dict[str, str]]:
    for one in _each(component.get("ATTENDEE"))[:MAX_ATTENDEES]:
        if address := _address(one):
            params = one.params
            yield {
                "email": address,
                "name": str(params.get("CN", ""))[:200],
                "status": str(params.get("PARTSTAT", "")).lower().replace("-", "_")[:20],
            }


def _address(value: Any) -> str:
    text = str(value or "").strip()
    return text[7:] if text[:7].lower() == "mailto:" else ""


def _each(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _text(component: Component, name: str) -> str:
    value = _each(component.get(name))
    return str(value[0])[:MAX_TEXT] if value else ""


def _changed_at(component: Component) -> datetime | None:
    for name in ("LAST-MODIFIED", "DTSTAMP"):
        try:
            found = _moment(component, name)
        except Exception:  # noqa: BLE001, S112  # a time that cannot be read is none
            continue
        if isinstance(found, datetime):
            return found if found.tzinfo else found.replace(tzinfo=UTC)
    return None


def _bytes(component: Component) -> bytes:
    try:
        return bytes(component.to_ical())
    except Exception:  # noqa: BLE001
        return repr(sorted(component.keys())).encode()


def _digest(data: bytes) -> str:
    return f"event-{sha256(data).hexdigest()[:32]}"
