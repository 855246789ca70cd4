"""Series of events, and one of a series by itself (RFC 5545, 3.8.4.4 and 3.8.5). Pure.

Which of a series is meant is said as the planned start in an id (`integrations.ports.calendar`):
`20261127T090000Z`, or `20261127` where the series is of whole days.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from dateutil.rrule import rrulestr

from integrations.contracts.field_types import find_zone
from integrations.providers.caldav import lines
from integrations.providers.caldav.lines import BadLines, Property
from integrations.providers.calendars.ids import at_of, day_of

OF_SERIES = ("RRULE", "EXRULE", "RDATE", "EXDATE")
_UTC, _DAY = "%Y%m%dT%H%M%SZ", "%Y%m%d"


def planned_of(found: Property | None, *, zone: str) -> str:
    """What a RECURRENCE-ID says; empty without one, and for one that cannot be read."""
    at = lines.moment(found, zone=zone)
    if at is None:
        return ""
    return f"{at:{_DAY}}" if lines.is_day(found) else f"{at.astimezone(UTC):{_UTC}}"


def find(resource: lines.Resource, planned: str, *, zone: str) -> list[str] | None:
    """The lines of one that was changed by itself; without a planned start those of the event or
    the whole series."""
    for event in resource.events:
        instead_of = lines.find(event, "RECURRENCE-ID")
        if planned and planned_of(instead_of, zone=zone) == planned:
            return event
        if not planned and instead_of is None:
            return event
    return None


def occurs(raw: bytes, planned: str, *, zone: str) -> bool:
    """Whether the series in a resource has one at this planned start. Takes as long as a stranger's
    rule makes it take: for a child process."""
    try:
        master = find(lines.read(raw), "", zone=zone)
        start = lines.find(master, "DTSTART") if master else None
        if master is None or start is None or lines.is_day(start) is ("T" in planned):
            return False
        begin, at = lines.moment(start, zone=zone), at_of(planned, zone=zone)
        if begin is None or at in _dates(master, "EXDATE", zone):
            return False
        return at == begin or at in _dates(master, "RDATE", zone) or _is_in_rule(master, begin, at)
    except (BadLines, ValueError, OverflowError):
        return False


def take_out(resource: lines.Resource, planned: str, *, zone: str) -> list[str]:
    """New lines, in the resource too, for one of its series: as the series is, at its planned
    start. Raises BadLines."""
    master = find(resource, "", zone=zone)
    start = lines.find(master, "DTSTART") if master else None
    begin = lines.moment(start, zone=zone)
    if master is None or start is None or begin is None:
        raise BadLines("the zone of its times is not known")
    one = list(master)
    at = at_of(planned, zone=zone)
    for name in OF_SERIES:
        lines.put(one, name)
    end = lines.moment(lines.find(master, "DTEND"), zone=zone)
    if lines.is_day(start):
        day = day_of(planned)
        if end:
            lines.put(one, "DTEND", lines.day_line("DTEND", day + (end.date() - begin.date())))
        lines.put(one, "DTSTART", lines.day_line("DTSTART", day))
        lines.put(one, "RECURRENCE-ID", lines.day_line("RECURRENCE-ID", day))
    else:
        if end:
            like = lines.find(master, "DTEND")
            lines.put(one, "DTEND", lines.time_line("DTEND", at + (end - begin), like=like))
        lines.put(one, "DTSTART", lines.time_line("DTSTART", at, like=start))
        lines.put(one, "RECURRENCE-ID", _recurrence_line(at, start, zone))
    number = next(number for number, part in enumerate(resource.parts) if part is master)
    resource.parts.insert(number + 1, one)
    return one


def _recurrence_line(at: datetime, start: Property, zone: str) -> str:
    """In the form of the series' start, because programs compare the two."""
    local = find_zone(zone)
    if "TZID" in start.parameters or start.value.strip().upper().endswith("Z") or local is None:
        return lines.time_line("RECURRENCE-ID", at, like=start)
    return f"RECURRENCE-ID:{at.astimezone(local):%Y%m%dT%H%M%S}"


def _is_in_rule(master: list[str], begin: datetime, at: datetime) -> bool:
    second = timedelta(seconds=1)
    for _, one in lines.properties(master):
        if one.name == "RRULE":
            rule = rrulestr(one.value, dtstart=begin, cache=False)
            if at in rule.between(at - second, at + second):
                return True
    return False


def _dates(master: list[str], name: str, zone: str) -> set[datetime]:
    return {at for one in _values(master, name) if (at := lines.moment(one, zone=zone))}


def _values(master: list[str], name: str) -> Iterator[Property]:
    for _, one in lines.properties(master):
        if one.name == name:
            for value in one.value.split(","):
                yield replace(one, value=value.partition("/")[0])
