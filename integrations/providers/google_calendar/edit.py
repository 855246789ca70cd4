"""Changes of events as Google takes them: a field that is not named stays as it is. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime, time
from typing import Any

from integrations.contracts.field_types import find_zone
from integrations.exceptions import Rejected
from integrations.mail.addresses import is_addr_spec
from integrations.providers.google_calendar.answers import EventSaid, When

TEXTS = {"title": "summary", "description": "description", "location": "location"}
KNOWN = frozenset({*TEXTS, "start", "end", "attendees", "status"})
STATUS = frozenset({"confirmed", "tentative", "cancelled"})


def changes_of(changes: Mapping[str, Any], before: EventSaid | None) -> dict[str, Any]:
    """Raises Rejected where it cannot be. Without a `before`, of a new event."""
    if not changes.keys() <= KNOWN:
        raise Rejected("a field that a calendar does not keep")
    found = {name: changes[field] or "" for field, name in TEXTS.items() if field in changes}
    if "start" in changes and "end" in changes:
        found |= _times(changes["start"], changes["end"], before)
    elif {"start", "end"} & changes.keys():
        raise Rejected("Start and end go together.")
    if "status" in changes:
        if changes["status"] not in STATUS:
            raise Rejected("no such status")
        found["status"] = changes["status"]
    if "attendees" in changes:
        found["attendees"] = list(_people(changes["attendees"], before))
    return found


def has_others(said: EventSaid) -> bool:
    return said.people_left_out or any(not one.is_self for one in said.attendees)


def check_series(said: EventSaid, *, parts: Sequence[str]) -> None:
    """The times of a whole series stay where some of it were moved or left out: those name the
    times that it has now. Raises Rejected."""
    if parts or any(not line.startswith("RRULE") for line in said.recurrence):
        raise Rejected(
            "Some events of this series were moved or left out, so its times are not changed here. "
            "Change them in your calendar program."
        )


def _times(start: str, end: str, before: EventSaid | None) -> dict[str, Any]:
    """In the zone that the event had. Days stay days where both times are midnight."""
    begin, finish = datetime.fromisoformat(start), datetime.fromisoformat(end)
    if begin.tzinfo is None or finish.tzinfo is None:
        raise Rejected("a time without its zone")
    of_days = before is not None and before.start.day is not None
    if of_days and begin < finish and begin.time() == finish.time() == time():
        days = {"start": begin, "end": finish}
        return {name: {"date": f"{at:%Y-%m-%d}"} for name, at in days.items()}
    old = (before.start, before.end) if before is not None else (When(), When())
    return {
        name: _moment(at, was.zone, was_day=of_days)
        for name, at, was in zip(("start", "end"), (begin, finish), old, strict=True)
    }


def _moment(at: datetime, zone: str, *, was_day: bool) -> dict[str, Any]:
    local = find_zone(zone)
    found: dict[str, Any] = {"dateTime": (at.astimezone(local) if local else at).isoformat()}
    found |= {"timeZone": zone} if local else {}
    return found | ({"date": None} if was_day else {})


def _people(wanted: Sequence[str], before: EventSaid | None) -> list[dict[str, Any]]:
    """Who stays keeps the answer that was given. The calendar's own user stays."""
    known = {one.email.lower(): one for one in before.attendees} if before is not None else {}
    if before is not None and before.people_left_out:
        raise Rejected("Google does not tell who else comes to this event.")
    own = [one.email for one in known.values() if one.is_self]
    found = []
    for address in dict.fromkeys([*own, *wanted]):
        person = known.get(address.lower())
        if person is None and not is_addr_spec(address):
            raise Rejected("an attendee without a plain address")
        answer = {"responseStatus": person.answered} if person and person.answered else {}
        found.append({"email": address, **answer})
    return found
