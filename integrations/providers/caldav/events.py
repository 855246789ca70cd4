"""Events out of what a calendar server keeps: one resource is an event, or a series with all that
was moved in it (RFC 4791, 4.1). Read in a child process: strangers wrote it.

The id of an event is made from the path of its resource, never from its UID, which is chosen by
who invites. One that was moved within a series has the id of the series and its planned start.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256

from pydantic import ValidationError

from integrations.child import Child, Unreadable
from integrations.contracts import Event, Rejected
from integrations.imports.calendar_files import MAX_ATTENDEES
from integrations.providers.caldav import lines
from integrations.providers.caldav.child import FOUND, Found

CHILD = Child("integrations.providers.caldav.child")
MARK = "X-REMIT-ACTION"
MAX_RESOURCE_BYTES = 1024 * 1024
MAX_EVENTS = 500  # in one resource
ID_CHARS = 32


def event_id(path: str) -> str:
    return f"event-{sha256(path.encode()).hexdigest()[:ID_CHARS]}"


def place_id(id: str) -> str:
    """The id of the resource that an event is in."""
    return id.partition("/")[0]


def read(
    contents: Mapping[str, bytes], *, owner: str, zone: str, at: datetime | None = None
) -> dict[str, list[Event | Rejected]]:
    """By path: what is in each resource. `owner` made the events that name nobody else, and is
    empty where nobody knows; `at` is when they were read, which tells the newer of two. Raises
    integrations.child.Ended."""
    fitting = {path: raw for path, raw in contents.items() if len(raw) <= MAX_RESOURCE_BYTES}
    parsed = dict(zip(fitting, _parsed(list(fitting.values()), zone=zone), strict=True))
    return {
        path: _named(path, raw, parsed[path], _makers(raw, owner=owner), at=at)
        if path in parsed
        else [Rejected(source_id=event_id(path), reason="too_large")]
        for path, raw in contents.items()
    }


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


def _makers(raw: bytes, *, owner: str) -> list[str | None]:
    """Who made each event, in their order: None where the event itself says so, empty where nobody
    knows, or where people come to it whom nobody can list. None at all for what cannot be taken
    apart."""
    try:
        events = lines.read(raw).events
    except lines.BadLines:
        return []
    return [_maker(event, owner=owner) for event in events]


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
    makers: Sequence[str | None],
    *,
    at: datetime | None,
) -> list[Event | Rejected]:
    """The events under ids of their own. Raises nothing: what does not fit is rejected whole."""
    id = event_id(path)
    if not found and not makers and b"BEGIN:VEVENT" not in raw.upper():
        return []  # a task, or a note
    if len(found) != len(makers) or not 0 < len(found) <= MAX_EVENTS:
        return [Rejected(source_id=id, reason="malformed_event")]
    named: list[Event | Rejected] = []
    for one, maker in zip(found, makers, strict=True):
        if isinstance(one, Rejected):
            named.append(Rejected(source_id=id, reason=one.reason))
            continue
        ids: dict[str, object] = {"id": id}
        if one.original_start is not None:
            planned = f"{one.original_start.astimezone(UTC):%Y%m%dT%H%M%SZ}"
            ids = {"id": f"{id}/{planned}{'/on' * one.this_and_future}", "series_id": id}
        if maker is not None:
            ids["created_by"] = maker
        named.append(one.model_copy(update={**ids, "version": 0, "updated_at": at}))
    return named
