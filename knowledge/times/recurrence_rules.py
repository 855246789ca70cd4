"""The times that one line of a recurrence names (RRULE, EXRULE, RDATE, EXDATE of RFC 5545). Pure,
and bounded: the lines come from strangers.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, time, timedelta, tzinfo
from itertools import islice, takewhile

from dateutil.rrule import rrulestr

from integrations.contracts.field_types import find_zone

MAX_OCCURRENCES = 2_000
MAX_DATES = 2_000
MAX_RULE_CHARS = 1_000
MAX_STEPS = 20_000  # of a rule that must be followed from its first time
# Steps are days where the rule says so; the longer ones take few.
_STEP_DAYS = {"DAILY": 1, "WEEKLY": 7, "MONTHLY": 28, "YEARLY": 365}
# The calendar repeats itself every 400 years, days of the week included. A rule that no day fits
# is followed to the year 9999: so it is followed near there.
_LATE = timedelta(days=19 * 146_097)
_DATE = re.compile(r"\d{8}(T\d{6}Z?)?")
_KNOWN = frozenset(
    {"FREQ", "UNTIL", "COUNT", "INTERVAL", "WKST", "BYDAY", "BYMONTH", "BYMONTHDAY", "BYYEARDAY"}
    | {"BYWEEKNO", "BYSETPOS", "BYHOUR", "BYMINUTE", "BYSECOND"}
)
_PART = re.compile(r"([A-Z]+)=([A-Z0-9,+:-]+)")


class NotExpandable(ValueError):
    """The rules are broken, or too much work. The series is known by its first time alone."""


def taken_apart(line: str) -> tuple[str, dict[str, str], str]:
    """Name, parameters and value of one line; a bare rule has no name before it."""
    head, colon, value = line.partition(":")
    if not colon:
        head, value = "RRULE", line
    name, *pairs = head.upper().split(";")
    parameters = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
    if "TZID" in parameters:
        parameters["TZID"] = line[line.upper().index("TZID=") + 5 :].partition(":")[0].strip('"')
        parameters["TZID"] = parameters["TZID"].partition(";")[0].strip('"')
    return name, parameters, value.strip()


def dates(
    value: str, parameters: dict[str, str], zone: tzinfo, first: datetime
) -> Iterator[datetime]:
    entries = value.split(",")
    if len(entries) > MAX_DATES:
        raise NotExpandable("too many dates")
    for entry in entries:
        text = entry.strip().upper().partition("/")[0]  # of a period its beginning
        if not _DATE.fullmatch(text):
            raise NotExpandable("a date that is none")
        try:
            moment = datetime.strptime(text[:15].ljust(15, "?"), "%Y%m%dT%H%M%S")  # noqa: DTZ007
        except ValueError:
            moment = _day(text, first)
        if text.endswith("Z"):
            moment = moment.replace(tzinfo=UTC).astimezone(zone).replace(tzinfo=None)
        elif parameters.get("TZID"):
            moment = moment.replace(tzinfo=find_zone(parameters["TZID"]) or zone).astimezone(zone)
            moment = moment.replace(tzinfo=None)
        yield moment


def _day(text: str, first: datetime) -> datetime:
    try:
        day = datetime.strptime(text[:8], "%Y%m%d")  # noqa: DTZ007
    except ValueError as error:
        raise NotExpandable("a date that is none") from error
    return datetime.combine(day.date(), first.time())


def ruled(
    text: str, first: datetime, zone: tzinfo, *, low: datetime, high: datetime
) -> list[datetime]:
    parts = _parts(text)
    step = _STEP_DAYS.get(parts.get("FREQ", ""))
    if step is None:
        raise NotExpandable("recurs more often than daily, or never")
    until = _until(parts.pop("UNTIL", ""), zone)
    limit = min(high, until) if until else high
    begin = first
    if "COUNT" not in parts:
        begin = _later(first, low, parts, step)
    if (limit - begin) / timedelta(days=step) > MAX_STEPS:
        raise NotExpandable("its first time is too long ago")
    rule = ";".join(f"{name}={value}" for name, value in parts.items())
    try:
        moments: Iterable[datetime] = rrulestr(rule, dtstart=begin + _LATE)
        in_time = takewhile(lambda moment: moment <= limit + _LATE, moments)
        followed = list(islice(in_time, MAX_STEPS + 1))
    except (ValueError, TypeError, KeyError, IndexError, OverflowError) as error:
        raise NotExpandable("a rule that is none") from error
    found = [moment - _LATE for moment in followed if moment - _LATE >= low]
    if len(followed) > MAX_STEPS or len(found) > MAX_OCCURRENCES:
        raise NotExpandable("too often")
    return found


def _parts(text: str) -> dict[str, str]:
    if len(text) > MAX_RULE_CHARS:
        raise NotExpandable("too long a rule")
    parts: dict[str, str] = {}
    for part in filter(None, text.upper().replace(" ", "").split(";")):
        match = _PART.fullmatch(part)
        if match is None:
            raise NotExpandable("a rule that is none")
        parts[match[1]] = match[2]
    for name in ("INTERVAL", "COUNT"):
        if name in parts and not (parts[name].isdecimal() and 0 < int(parts[name]) < 10**6):
            raise NotExpandable(f"{name} is no number that can be counted to")
    # Other calendars' systems (RFC 7529) and whatever else changes the meaning.
    if not _KNOWN.issuperset(parts):
        raise NotExpandable("a rule of an unknown kind")
    times = 1
    for name in ("BYHOUR", "BYMINUTE", "BYSECOND"):
        times *= max(1, len(parts.get(name, "").split(",")))
    if times > 24:
        raise NotExpandable("too often in a day")
    return parts


def _until(text: str, zone: tzinfo) -> datetime | None:
    """The last time that counts, local. A date alone means all of that day."""
    if not text:
        return None
    try:
        if len(text) == 8:
            day = datetime.strptime(text, "%Y%m%d")  # noqa: DTZ007
            return datetime.combine(day.date(), time.max)
        moment = datetime.strptime(text.removesuffix("Z"), "%Y%m%dT%H%M%S")  # noqa: DTZ007
    except ValueError as error:
        raise NotExpandable("UNTIL is no time") from error
    if text.endswith("Z"):
        moment = moment.replace(tzinfo=UTC).astimezone(zone).replace(tzinfo=None)
    return moment


def _later(first: datetime, low: datetime, parts: dict[str, str], step: int) -> datetime:
    """A later first time from which the rule names the same times from `low` on: whole periods
    of days and weeks are skipped. Months and years are few."""
    if parts["FREQ"] not in ("DAILY", "WEEKLY"):
        return first
    period = timedelta(days=step * int(parts.get("INTERVAL", "1")))
    periods = (low - first) // period - 1
    return first + period * max(0, periods)
