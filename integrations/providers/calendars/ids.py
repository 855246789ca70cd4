"""Ids of events. Pure.

The id of an event is made from where its server keeps it, never from its UID, which is chosen by
who invites. One of a series has the id of the series and its planned start.
"""

from datetime import UTC, date, datetime, time
from hashlib import sha256

from integrations.contracts.field_types import find_zone

LATER = "+on"  # in the id of one that stands for all later ones too
ID_CHARS = 32
_UTC, _DAY = "%Y%m%dT%H%M%SZ", "%Y%m%d"


def event_id(path: str) -> str:
    return f"event-{sha256(path.encode()).hexdigest()[:ID_CHARS]}"


def place_id(id: str) -> str:
    """The id of the place that an event is in."""
    return id.partition("_")[0]


def planned_in(id: str) -> str:
    """The planned start that an id names; empty for that of an event or a whole series."""
    return id.partition("_")[2].removesuffix(LATER)


def at_of(planned: str, *, zone: str) -> datetime:
    """The moment; of a day its beginning in this zone. Raises ValueError."""
    if "T" in planned:
        return datetime.strptime(planned, _UTC).replace(tzinfo=UTC)
    return datetime.combine(day_of(planned), time(), find_zone(zone) or UTC)


def day_of(planned: str) -> date:
    """Raises ValueError."""
    return datetime.strptime(planned, _DAY).date()  # noqa: DTZ007  # a day has no zone
