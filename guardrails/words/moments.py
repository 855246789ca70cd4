"""Moments, days and zones, from text and for people. Pure."""

from datetime import UTC, date, datetime, tzinfo
from zoneinfo import ZoneInfo

from guardrails.facts.phrases import phrase

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
YEARS = range(1970, 2200)  # what no zone and no “next month” leads out of what Python can count


def zone_of(name: str) -> tzinfo | None:
    """The zone of this name; None where there is none."""
    try:
        return ZoneInfo(name) if name else None
    except (KeyError, ValueError, OSError):
        return None


def instant(value: str) -> datetime | None:
    """The moment that a text in ISO 8601 names, in UTC; None where it names none of these years."""
    try:
        at = datetime.fromisoformat(value) if 16 <= len(value) <= 40 else None
        return at.astimezone(UTC) if at and at.tzinfo and at.year in YEARS else None
    except ValueError:
        return None


def clock_of(at: datetime, zone: tzinfo) -> str:
    """A moment as people read it, with the zone it is in: Fri 27 Nov 2026, 12:00 Europe/Berlin."""
    local = at.astimezone(zone)
    return phrase(
        "%(day)s, %(time)s %(zone)s",
        day=day_of(local.date()),
        time=f"{local:%H:%M}",
        zone=zone,
    )


def day_of(day: date) -> str:
    return phrase(
        "%(weekday)s %(day)s %(month)s %(year)s",
        weekday=phrase(WEEKDAYS[day.weekday()]),
        day=day.day,
        month=phrase(MONTHS[day.month - 1]),
        year=day.year,
    )
