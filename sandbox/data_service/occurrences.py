"""One of a series of events under an id of its own: the series' id, `_`, and when it would have
begun, in UTC (`event-1_20261127T090000Z`), of a whole day the date alone (`event-1_20261127`).

Until somebody changes it, it is made of the series; from then on it is an event that is stored.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from dateutil.rrule import rrulestr

from sandbox.data_service import objects
from sandbox.data_service.errors import Refusal
from sandbox.data_service.store import JsonObject, Store
from sandbox.data_service.times import instant, instant_text
from sandbox.data_service.values import EVENT, Kind

ID = re.compile(r"(.+)_([0-9]{8})(?:T([0-9]{6})Z)?", re.DOTALL)


def find(store: Store, *, user_id: str, kind: Kind, id: str) -> JsonObject:
    """The object with this id, one of a series among them. Refuses with 404."""
    try:
        return objects.find(store, user_id=user_id, kind=kind, id=id)
    except Refusal:
        found = one_of_series(store, user_id=user_id, id=id) if kind is EVENT else None
        if found is None:
            raise
        return found


def one_of_series(store: Store, *, user_id: str, id: str) -> JsonObject | None:
    """The event as its series has it, with the series' version. None where the id names no time
    at which the series takes place, and where an event of its own took that time's place."""
    named = ID.fullmatch(id)
    events = {one["id"]: one for one in objects.every(store, user_id=user_id, kind=EVENT)}
    series = events.get(named[1]) if named else None
    if id in events or named is None or series is None or not series["recurrence"]:
        return None
    start = _planned(series, named[2], named[3])
    if start is None or _is_taken(start, series["id"], events.values()):
        return None
    length = instant(series["end"]) - instant(series["start"])
    return series | {
        "id": id,
        "start": instant_text(start),
        "end": instant_text(start + length),
        "recurrence": None,
        "series_id": series["id"],
        "original_start": instant_text(start),
    }


def _planned(series: JsonObject, day: str, clock: str | None) -> datetime | None:
    """When the one that is named so begins; None where there is none, or the rules are broken."""
    zone = ZoneInfo(series["time_zone"] or "UTC")
    first = instant(series["start"]).astimezone(zone)
    try:
        if clock is None:
            wanted = datetime.strptime(day, "%Y%m%d").replace(tzinfo=zone)
            until = wanted + timedelta(days=1)
        else:
            wanted = datetime.strptime(day + clock, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
            until = wanted
        rules = rrulestr(series["recurrence"], dtstart=first, forceset=True)
        found = rules.between(wanted.astimezone(zone), until.astimezone(zone), inc=True)
    except (ValueError, TypeError, OverflowError):
        return None
    return found[0] if found and (clock is None or found[0] == wanted) else None


def _is_taken(start: datetime, series_id: str, events: Any) -> bool:
    """Whether an event of its own took its place, or that of the rest of the series."""
    parts = [one for one in events if one["series_id"] == series_id and one["original_start"]]
    begins = [(instant(one["original_start"]), one["this_and_future"]) for one in parts]
    return any(at == start or (rest and at <= start) for at, rest in begins)
