"""Changes of events as Graph takes them: a field that is not named stays as it is. Pure."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time
from typing import Any

from integrations.exceptions import Rejected
from integrations.mail.addresses import is_addr_spec
from integrations.providers.microsoft_calendar.answers import EventSaid
from integrations.providers.microsoft_calendar.events import zone_of

KNOWN = frozenset({"title", "description", "location", "start", "end", "attendees", "status"})


def changes_of(
    changes: Mapping[str, Any], before: EventSaid | None, *, me: str = ""
) -> dict[str, Any]:
    """Raises Rejected where it cannot be. Without a `before`, of a new event. `me`: the address of
    the user."""
    if not changes.keys() <= KNOWN:
        raise Rejected("a field that a calendar does not keep")
    if "status" in changes:
        raise Rejected(
            "Microsoft lets nothing take place again that was cancelled. Make a new event."
        )
    found: dict[str, Any] = {}
    if "title" in changes:
        found["subject"] = changes["title"] or ""
    if "description" in changes:
        found["body"] = _body(changes["description"] or "", before)
    if "location" in changes:
        found["location"] = {"displayName": changes["location"] or ""}
    if "start" in changes and "end" in changes:
        found |= _times(changes["start"], changes["end"], before)
    elif {"start", "end"} & changes.keys():
        raise Rejected("Start and end go together.")
    if "attendees" in changes:
        found["attendees"] = list(_people(changes["attendees"], before, me.casefold()))
    return found


def moment(text: str, zone_name: str = "UTC") -> dict[str, str]:
    """In this zone, as Microsoft calls it. Raises Rejected."""
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise Rejected("a time without its zone")
    local = at.astimezone(zone_of(zone_name) or UTC)
    return {"dateTime": f"{local:%Y-%m-%dT%H:%M:%S}", "timeZone": zone_name}


def _body(text: str, before: EventSaid | None) -> dict[str, str]:
    if before is not None and before.is_online:
        raise Rejected(
            "The text of an online meeting says how to take part in it, so it is not changed here. "
            "Change it in your calendar program."
        )
    return {"contentType": "text", "content": text}


def _times(start: str, end: str, before: EventSaid | None) -> dict[str, Any]:
    """In the zone that the event had. Days stay days where both times are midnight."""
    if before is not None and before.recurrence:
        raise Rejected(
            "The times of a whole series at Microsoft are not changed here. Change them in your "
            "calendar program."
        )
    zone = (before.zone if before is not None else None) or "UTC"
    zone = zone if zone_of(zone) else "UTC"
    if before is not None and before.of_days:
        begin, finish = datetime.fromisoformat(start), datetime.fromisoformat(end)
        if begin < finish and begin.time() == finish.time() == time():
            days = {"start": begin, "end": finish}
            return {
                name: {"dateTime": f"{at:%Y-%m-%dT00:00:00}", "timeZone": zone}
                for name, at in days.items()
            }
    times = {"start": moment(start, zone), "end": moment(end, zone)}
    return times | ({"isAllDay": False} if before is not None and before.of_days else {})


def _people(wanted: Sequence[str], before: EventSaid | None, me: str) -> list[dict[str, Any]]:
    """Who stays is what they were: needed, wanted or a room. The user stays where they are named
    among the guests."""
    known = {(one.mail.address or "").casefold(): one for one in before.attendees} if before else {}
    own = [me] if me in known else []
    found = []
    for address in dict.fromkeys([*own, *(one for one in wanted if one.casefold() != me)]):
        person = known.get(address.casefold())
        if person is None and not is_addr_spec(address):
            raise Rejected("an attendee without a plain address")
        mail = {"address": address}
        if person is not None and person.mail.name:
            mail["name"] = person.mail.name
        kind = (person.kind if person is not None else None) or "required"
        found.append({"emailAddress": mail, "type": kind})
    return found
