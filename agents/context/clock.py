"""Times on the user's clock. Pure."""

from datetime import date, datetime, time
from zoneinfo import ZoneInfo


def aware(given: datetime | date, zone: str) -> datetime:
    """A time with its zone; without one it is in this zone, and a day is its first moment there."""
    if not isinstance(given, datetime):
        given = datetime.combine(given, time())
    return given if given.tzinfo else given.replace(tzinfo=ZoneInfo(zone))


def show(moment: datetime, zone: str) -> str:
    """A time with its weekday, on the clock of this zone."""
    there = moment.astimezone(ZoneInfo(zone))
    return f"{there:%a} {there.isoformat(timespec='minutes')}"
