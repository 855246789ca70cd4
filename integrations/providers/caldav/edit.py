"""Events as texts: new ones, and changes of one in the text that its server keeps. Whatever nobody
here knows stays as it is. Every text carries the key of the write that made it (`events.MARK`).
Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from typing import Any

from integrations.contracts.field_types import find_zone
from integrations.exceptions import Rejected
from integrations.mail.addresses import is_addr_spec
from integrations.providers.caldav import lines, series
from integrations.providers.caldav.events import MARK
from integrations.providers.calendars.ids import planned_in

TEXTS = {"title": "SUMMARY", "description": "DESCRIPTION", "location": "LOCATION"}
KNOWN = frozenset({*TEXTS, "start", "end", "attendees", "status"})
_STATUS = {"confirmed": "CONFIRMED", "tentative": "TENTATIVE", "cancelled": "CANCELLED"}


@dataclass(frozen=True, kw_only=True)
class Author:
    """In whose name it is written, under which key, and when. `addresses` are all that name the
    user, in small letters; `tells`: the server itself tells people what is saved."""

    address: str
    name: str
    addresses: frozenset[str]
    zone: str
    key: str
    at: datetime
    tells: bool


def create(fields: Mapping[str, Any], *, by: Author) -> bytes:
    """A calendar with one new event. Raises integrations.exceptions.Rejected."""
    event = ["BEGIN:VEVENT", f"UID:{by.key}", "SEQUENCE:-1", "END:VEVENT"]
    _change(event, fields, by)
    found = lines.Resource(
        parts=[
            ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Remit//Remit//EN"],
            event,
            ["END:VCALENDAR"],
        ]
    )
    return found.to_bytes()


def change(raw: bytes, id: str, changes: Mapping[str, Any], *, by: Author) -> bytes:
    """The text with these fields of one event changed, or of one of a series alone. Raises Rejected
    where it cannot be, and changes nothing else then."""
    resource, event = _opened(raw, id, by=by)
    if not planned_in(id) and {"start", "end"} & changes.keys():
        _check_series(resource, event)
    _change(event, changes, by)
    return resource.to_bytes()


def cancel_one(raw: bytes, id: str, *, by: Author) -> bytes:
    """The text with one of a series cancelled. Raises Rejected."""
    resource, event = _opened(raw, id, by=by)
    _change(event, {"status": "cancelled"}, by)
    return resource.to_bytes()


def answer(raw: bytes, id: str, status: str, *, by: Author) -> bytes:
    """The text with the user's own answer to an invitation, and nothing else changed but the mark:
    more would be the organiser's to change (RFC 6638, 3.2.2.1). Raises Rejected."""
    if not by.tells:
        raise Rejected("This calendar's server tells nobody of an answer. Write to who invites.")
    resource, event = _opened(raw, id, by=by, own=False)
    new, found = [], False
    try:
        for number, one in lines.properties(event):
            if one.name != "ATTENDEE":
                continue
            line = event[number]
            if one.value.strip().lower().removeprefix("mailto:") in by.addresses:
                line, found = lines.with_parameter(line, "PARTSTAT", status.upper()), True
            new.append(line)
        if not found:
            raise Rejected("The user is not among those who are invited.")
        lines.put(event, "ATTENDEE", *new)
        lines.put(event, "DTSTAMP", f"DTSTAMP:{lines.in_utc(by.at)}")
        lines.put(event, MARK, f"{MARK}:{by.key}")
    except lines.BadLines as error:
        raise Rejected(f"This cannot be written into a calendar: {error}.") from error
    return resource.to_bytes()


def _opened(
    raw: bytes, id: str, *, by: Author, own: bool = True
) -> tuple[lines.Resource, list[str]]:
    """The lines of the event that is meant, in their calendar, which carries no mark any more.
    `own`: only who invited may do this."""
    planned = planned_in(id)
    try:
        resource = lines.read(raw)
        event = series.find(resource, planned, zone=by.zone)
        if event is None and planned:
            event = series.take_out(resource, planned, zone=by.zone)
    except (lines.BadLines, ValueError) as error:
        raise Rejected(f"This event cannot be changed safely: {error}.") from error
    if event is None:
        raise Rejected("The event is not as Remit knows it. Change it in your calendar program.")
    if own:
        _check_organiser(event, by)
    for other in resource.events:
        lines.put(other, MARK)
    return resource, event


def _change(event: list[str], changes: Mapping[str, Any], by: Author) -> None:
    if not changes.keys() <= KNOWN:
        raise Rejected("a field that a calendar server does not keep")
    try:
        for field, name in TEXTS.items():
            if field in changes:
                text = changes[field]
                lines.put(event, name, *([f"{name}:{lines.escape(text)}"] if text else []))
        if "start" in changes and "end" in changes:
            _put_times(event, changes["start"], changes["end"], zone=by.zone)
        elif {"start", "end"} & changes.keys():
            raise Rejected("Start and end go together.")
        if "status" in changes:
            lines.put(event, "STATUS", f"STATUS:{_STATUS[changes['status']]}")
        if "attendees" in changes:
            _put_people(event, changes["attendees"], by)
        lines.put(event, "DTSTAMP", f"DTSTAMP:{lines.in_utc(by.at)}")
        lines.put(event, "LAST-MODIFIED", f"LAST-MODIFIED:{lines.in_utc(by.at)}")
        lines.put(event, "SEQUENCE", f"SEQUENCE:{_sequence(event) + 1}")
        lines.put(event, MARK, f"{MARK}:{by.key}")
    except lines.BadLines as error:
        raise Rejected(f"This cannot be written into a calendar: {error}.") from error


def _put_times(event: list[str], start: str, end: str, *, zone: str) -> None:
    """In the zone that the event had. Days stay days where both times are midnight."""
    before = lines.find(event, "DTSTART")
    begin, finish = datetime.fromisoformat(start), datetime.fromisoformat(end)
    if begin.tzinfo is None or finish.tzinfo is None:
        raise Rejected("a time without its zone")
    if lines.is_day(before) and (days := _days(begin, finish, zone=zone)):
        new = [lines.day_line("DTSTART", days[0]), lines.day_line("DTEND", days[1])]
    else:
        old_end = lines.find(event, "DTEND")
        new = [
            lines.time_line("DTSTART", begin, like=before),
            lines.time_line("DTEND", finish, like=old_end or before),
        ]
    lines.put(event, "DURATION")
    lines.put(event, "DTEND", new[1])
    lines.put(event, "DTSTART", new[0])


def _days(begin: datetime, finish: datetime, *, zone: str) -> tuple[Any, Any] | None:
    """The days, where both times are the beginning of one: in the zone they came in, as they are
    shown, or in the account's."""
    own = find_zone(zone)
    for given in ((begin, finish), (begin.astimezone(own), finish.astimezone(own))):
        if all(one.time() == time() for one in given) and begin < finish:
            return given[0].date(), given[1].date()
    return None


def _put_people(event: list[str], attendees: Sequence[str], by: Author) -> None:
    """Who stays keeps the answer that was given."""
    present = {
        one.value.strip()[7:].lower(): event[number]
        for number, one in lines.properties(event)
        if one.name == "ATTENDEE"
    }
    new = []
    for address in attendees:
        line = present.get(address.lower())
        if line is None and not is_addr_spec(address):
            raise Rejected("an attendee without a plain address")
        invited = f"ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:{address}"
        if line is None and not by.tells:
            raise Rejected(
                "This calendar's server tells nobody of an invitation. Save the event without "
                "other people, and write to them."
            )
        new.append(line or invited)
    lines.put(event, "ATTENDEE", *new)
    if new and lines.find(event, "ORGANIZER") is None:
        lines.put(event, "ORGANIZER", f"ORGANIZER{_named(by.name)}:mailto:{by.address}")


def _named(name: str) -> str:
    """A quoted parameter holds neither quotes nor control characters (RFC 5545, 3.1)."""
    plain = "".join(sign for sign in name if sign.isprintable() and sign != '"')
    return f';CN="{plain}"' if plain else ""


def _check_organiser(event: list[str], by: Author) -> None:
    organiser = lines.find(event, "ORGANIZER")
    if organiser is None:
        return
    address = organiser.value.strip().lower().removeprefix("mailto:")
    if address not in by.addresses:
        raise Rejected("Only who invited to this event can change it. Write to them.")


def _check_series(resource: lines.Resource, event: list[str]) -> None:
    """The times of a whole series stay where some of it were moved or left out: those name the
    times that it has now."""
    if lines.find(event, "RRULE") is None and lines.find(event, "RDATE") is None:
        return
    if len(resource.events) > 1 or lines.count(event, "EXDATE") or lines.count(event, "RDATE"):
        raise Rejected(
            "Some events of this series were moved or left out, so its times are not changed here. "
            "Change them in your calendar program."
        )
    start = lines.find(event, "DTSTART")
    if start is not None and (named := start.parameters.get("TZID")) and not find_zone(named):
        raise Rejected("This series is in a time zone that only its calendar knows.")


def _sequence(event: list[str]) -> int:
    found = lines.find(event, "SEQUENCE")
    try:
        return int(found.value) if found else 0
    except ValueError:
        return 0
