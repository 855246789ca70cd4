"""When a command says something is to be: a day, and from when to when, in four languages. Pure."""

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from sandbox.offline_model.rules import dates

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january januar janvier enero",
            "february februar février febrero",
            "march märz mars marzo",
            "april avril abril",
            "may mai mayo",
            "june juni juin junio",
            "july juli juillet julio",
            "august août agosto",
            "september septembre septiembre",
            "october oktober octobre octubre",
            "november novembre noviembre",
            "december dezember décembre diciembre",
        ),
        start=1,
    )
    for name in names.split()
}
_DAY = re.compile(
    rf"\b(?P<day>\d{{1,2}})(?:\.|st|nd|rd|th)?\s+(?:of\s+|de\s+)?(?P<month>{'|'.join(_MONTHS)})\b"
    r"(?:\s+(?:de\s+)?(?P<year>20\d\d))?",
    re.IGNORECASE,
)
_CLOCK = r"(?P<{0}h>\d{{1,2}})(?:[:.](?P<{0}m>\d\d)|\s?h(?:\s?(?P<{0}n>\d\d))?\b)?(?:\s*uhr)?"
_SPAN = re.compile(
    rf"\b{_CLOCK.format('a')}\s*(?:to|until|till|bis|à|a|-|\u2013)\s*{_CLOCK.format('b')}",
    re.IGNORECASE,
)
_ONE = re.compile(r"\b(?P<h>\d{1,2}):(?P<m>\d\d)\b")


@dataclass(frozen=True, kw_only=True)
class Hours:
    """A part of a day, in the user's time."""

    begins: datetime
    ends: datetime


def day_in(text: str, *, now: datetime) -> date | None:
    """The day that a command names: “16 March”, “tomorrow”, “Friday”."""
    if found := _DAY.search(text):
        month = _MONTHS[found["month"].casefold()]
        for year in (int(found["year"]),) if found["year"] else (now.year, now.year + 1):
            try:
                day = date(year, month, int(found["day"]))
            except ValueError:
                return None
            if found["year"] or day >= now.date():
                return day
        return None
    span = dates.span_in(text, now=now)
    return span.since if span and span.until - span.since == timedelta(days=1) else None


def hours_in(text: str, *, now: datetime) -> Hours | None:
    """From when to when; None where the day, the beginning or the end is not said."""
    day = day_in(text, now=now)
    found = _SPAN.search(_DAY.sub(" ", text))
    if day is None or found is None:
        return None
    begins, ends = (_at(day, found, end, now) for end in ("a", "b"))
    return Hours(begins=begins, ends=ends) if begins and ends and begins < ends else None


def clock_in(text: str) -> tuple[int, int] | None:
    """The one time of day that it names, such as 14:30."""
    found = _ONE.findall(text)
    return (int(found[0][0]), int(found[0][1])) if len(found) == 1 else None


def at(day: date, hour: int, minute: int, *, now: datetime) -> datetime | None:
    """This time of that day on the user's clock; None where there is none. Tools take a time
    without a zone for the user's."""
    try:
        return datetime(day.year, day.month, day.day, hour, minute, tzinfo=now.tzinfo)
    except ValueError:
        return None


def say(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M}"


def _at(day: date, found: re.Match[str], end: str, now: datetime) -> datetime | None:
    minute = found[f"{end}m"] or found[f"{end}n"] or 0
    return at(day, int(found[f"{end}h"]), int(minute), now=now)
