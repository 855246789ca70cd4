"""Microsoft's rules of a series as lines of RFC 5545. Pure."""

from datetime import UTC, datetime, time, tzinfo

from integrations.providers.microsoft_calendar.answers import PatternSaid, RangeSaid, RecurrenceSaid

NUMBERS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": -1}
SHORTEST_MONTH = 28


def rule_of(said: RecurrenceSaid, *, zone: tzinfo, of_days: bool) -> str:
    """Raises ValueError for one that it does not know."""
    parts = [*_pattern(said.pattern), *_end(said.range, zone=zone, of_days=of_days)]
    return f"RRULE:{';'.join(parts)}"


def _pattern(said: PatternSaid) -> list[str]:
    every = [] if said.interval == 1 else [f"INTERVAL={said.interval}"]
    month = [f"BYMONTH={said.month}"]
    match said.kind:
        case "daily":
            return ["FREQ=DAILY", *every]
        case "weekly":
            return ["FREQ=WEEKLY", *every, _days(said), f"WKST={_day(said.first_day or 'sunday')}"]
        case "absoluteMonthly":
            return ["FREQ=MONTHLY", *every, *_day_of_month(said.day_of_month)]
        case "relativeMonthly":
            return ["FREQ=MONTHLY", *every, _days(said), _position(said)]
        case "absoluteYearly":
            return ["FREQ=YEARLY", *every, *month, *_day_of_month(said.day_of_month)]
        case "relativeYearly":
            return ["FREQ=YEARLY", *every, *month, _days(said), _position(said)]
    raise ValueError("a rule of another kind")


def _day_of_month(day: int) -> list[str]:
    """Outlook takes the last day of a month that is shorter."""
    if not 1 <= day <= 31:
        raise ValueError("no day of a month")
    if day <= SHORTEST_MONTH:
        return [f"BYMONTHDAY={day}"]
    days = ",".join(str(one) for one in range(SHORTEST_MONTH, day + 1))
    return [f"BYMONTHDAY={days}", "BYSETPOS=-1"]


def _days(said: PatternSaid) -> str:
    if not said.days:
        raise ValueError("no days of the week")
    return f"BYDAY={','.join(_day(one) for one in said.days)}"


def _day(name: str) -> str:
    return name[:2].upper()


def _position(said: PatternSaid) -> str:
    return f"BYSETPOS={NUMBERS[said.index or 'first']}"


def _end(said: RangeSaid, *, zone: tzinfo, of_days: bool) -> list[str]:
    if said.kind == "numbered":
        if not said.times:
            raise ValueError("a number of times that is none")
        return [f"COUNT={said.times}"]
    if said.kind == "noEnd":
        return []
    if said.ends is None:
        raise ValueError("no last day")
    if of_days:
        return [f"UNTIL={said.ends:%Y%m%d}"]
    last = datetime.combine(said.ends, time(23, 59, 59), zone).astimezone(UTC)
    return [f"UNTIL={last:%Y%m%dT%H%M%SZ}"]
