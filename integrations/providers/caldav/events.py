"""Events out of what a calendar server keeps: one resource is an event, or a series with all that
was moved in it (RFC 4791, 4.1). Read in a child process: strangers wrote it.

The place of an event is the path of its resource (`integrations.providers.calendars.places`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time

from pydantic import ValidationError

from integrations.child import Child, Unreadable
from integrations.contracts import Event, Rejected
from integrations.contracts.field_types import find_zone
from integrations.imports.calendar_files import MAX_ATTENDEES
from integrations.ports.calendar import occurrence_id
from integrations.providers.caldav import lines
from integrations.providers.caldav.child import FOUND, Found
from integrations.providers.calendars.ids import LATER, at_of, event_id, planned_in

CHILD = Child("integrations.providers.caldav.child")
MARK = "X-REMIT-ACTION"
MAX_RESOURCE_BYTES = 1024 * 1024
MAX_EVENTS = 500  # in one resource


def read(
    contents: Mapping[str, bytes], *, owner: str, zone: str, at: datetime | None = None
) -> dict[str, list[Event | Rejected]]:
    """By path: what is in each resource. `owner` made the events that name nobody else, and is
    empty where nobody knows; `at` is when they were read, which tells the newer of two. Raises
    integrations.child.Ended."""
    fitting = {path: raw for path, raw in contents.items() if len(raw) <= MAX_RESOURCE_BYTES}
    parsed = dict(zip(fitting, _parsed(list(fitting.values()), zone=zone), strict=True))
    return {
        path: _named(path, raw, parsed[path], _said(raw, owner=owner), at=at)
        if path in parsed
        else [Rejected(source_id=event_id(path), reason="too_large")]
        for path, raw in contents.items()
    }


def read_one(series: Event, raw: bytes, id: str, *, zone: str) -> Event | None:
    """One of a series that was not changed by itself: as the series is, at its planned start. None
    where the series has none then, or counting it out takes too long."""
    planned = planned_in(id)
    try:
        if CHILD.ask((raw, planned, zone)) != b"yes":
            return None
    except Unreadable:
        return None
    start = at_of(planned, zone=series.time_zone).astimezone(find_zone(series.time_zone))
    length = series.end - series.start
    if series.all_day:  # a day may have 23 hours
        days = series.end.date() - series.start.date()
        length = datetime.combine(start.date() + days, time(), start.tzinfo) - start
    return series.model_copy(
        update={
            "id": id,
            "series_id": series.id,
            "original_start": start,
            "start": start,
            "end": start + length,
            "recurrence": None,
        }
    )


def mark_of(raw: bytes) -> str:
    """The key of the write that made a resource what it is; empty for none of Remit's."""
    try:
        marks = [lines.find(event, MARK) for event in lines.read(raw).events]
    except lines.BadLines:
        return ""
    return next((one.value for one in marks if one), "")


def _parsed(contents: list[bytes], *, zone: str) -> Found:
    """All at once, or each by itself where one of them breaks the child."""
    try:
        return FOUND.validate_json(CHILD.ask((contents, zone)))
    except (Unreadable, ValidationError) as error:
        if len(contents) > 1:
            return [_parsed([one], zone=zone)[0] for one in contents]
        reason = error.reason if isinstance(error, Unreadable) else "malformed_event"
        return [[Rejected(source_id="", reason=reason)]] * len(contents)


@dataclass(frozen=True, kw_only=True)
class _Said:
    """What the lines of an event say besides: who made it (None: the event itself says so; empty:
    nobody knows, or people come to it whom nobody can list), and whether it was planned for a
    whole day of a series."""

    maker: str | None
    of_day: bool


def _said(raw: bytes, *, owner: str) -> list[_Said]:
    """Of each event, in their order; nothing at all of what cannot be taken apart."""
    try:
        events = lines.read(raw).events
    except lines.BadLines:
        return []
    return [
        _Said(
            maker=_maker(event, owner=owner),
            of_day=lines.is_day(lines.find(event, "RECURRENCE-ID")),
        )
        for event in events
    ]


def _maker(event: list[str], *, owner: str) -> str | None:
    people = [one.value for _, one in lines.properties(event) if one.name == "ATTENDEE"]
    if len(people) > MAX_ATTENDEES or not all(map(_is_mail, people)):
        return ""
    return None if lines.count(event, "ORGANIZER") else owner


def _is_mail(value: str) -> bool:
    return value.strip()[:7].lower() == "mailto:"


def _named(
    path: str,
    raw: bytes,
    found: Sequence[Event | Rejected],
    said: Sequence[_Said],
    *,
    at: datetime | None,
) -> list[Event | Rejected]:
    """The events under ids of their own. Raises nothing: what does not fit is rejected whole."""
    id = event_id(path)
    if not found and not said and b"BEGIN:VEVENT" not in raw.upper():
        return []  # a task, or a note
    if len(found) != len(said) or not 0 < len(found) <= MAX_EVENTS:
        return [Rejected(source_id=id, reason="malformed_event")]
    named: list[Event | Rejected] = []
    for one, about in zip(found, said, strict=True):
        if isinstance(one, Rejected):
            named.append(Rejected(source_id=id, reason=one.reason))
            continue
        ids: dict[str, object] = {"id": id}
        if one.original_start is not None:
            planned = one.original_start.date() if about.of_day else one.original_start
            later = LATER * one.this_and_future
            ids = {"id": f"{occurrence_id(id, planned)}{later}", "series_id": id}
        if about.maker is not None:
            ids["created_by"] = about.maker
        named.append(one.model_copy(update={**ids, "version": 0, "updated_at": at}))
    return named
