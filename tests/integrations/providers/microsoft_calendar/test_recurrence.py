"""Microsoft's rules of a series as lines of RFC 5545."""

from datetime import datetime
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from dateutil.rrule import rrulestr

from integrations.network.answers import parse
from integrations.providers.microsoft_calendar.answers import RecurrenceSaid
from integrations.providers.microsoft_calendar.recurrence import rule_of

BERLIN = ZoneInfo("Europe/Berlin")
NO_END = {"type": "noEnd", "endDate": "0001-01-01", "numberOfOccurrences": 0}


def rule(pattern: dict[str, Any], ends: dict[str, Any], *, of_days: bool = False) -> str:
    said = parse(RecurrenceSaid, {"pattern": pattern, "range": ends})
    found = rule_of(said, zone=BERLIN, of_days=of_days)
    first = datetime(2026, 1, 1, tzinfo=None if of_days else BERLIN)
    assert list(islice(rrulestr(found, dtstart=first), 1))
    return found


WEEK: dict[str, Any] = {"daysOfWeek": ["monday", "friday"], "firstDayOfWeek": "monday"}
LAST_TUESDAY: dict[str, Any] = {"daysOfWeek": ["tuesday"], "index": "last"}
FOURTH_THURSDAY: dict[str, Any] = {"daysOfWeek": ["thursday"], "index": "fourth", "month": 11}


@pytest.mark.parametrize(
    ("kind", "more", "said"),
    [
        ("daily", {"interval": 2}, "FREQ=DAILY;INTERVAL=2"),
        ("weekly", WEEK, "FREQ=WEEKLY;BYDAY=MO,FR;WKST=MO"),
        ("absoluteMonthly", {"dayOfMonth": 15}, "FREQ=MONTHLY;BYMONTHDAY=15"),
        ("absoluteMonthly", {"dayOfMonth": 30}, "FREQ=MONTHLY;BYMONTHDAY=28,29,30;BYSETPOS=-1"),
        ("relativeMonthly", LAST_TUESDAY, "FREQ=MONTHLY;BYDAY=TU;BYSETPOS=-1"),
        ("absoluteYearly", {"dayOfMonth": 24, "month": 12}, "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24"),
        ("relativeYearly", FOURTH_THURSDAY, "FREQ=YEARLY;BYMONTH=11;BYDAY=TH;BYSETPOS=4"),
    ],
)
def test_each_pattern_has_its_rule(kind: str, more: dict[str, Any], said: str) -> None:
    assert rule({"type": kind, "interval": 1, **more}, NO_END) == f"RRULE:{said}"


def test_a_series_ends_with_its_last_day_or_after_some_times() -> None:
    daily = {"type": "daily", "interval": 1}
    until = {"type": "endDate", "endDate": "2026-07-31"}
    assert rule(daily, until).endswith(";UNTIL=20260731T215959Z")
    assert rule(daily, until, of_days=True).endswith(";UNTIL=20260731")
    assert rule(daily, {"type": "numbered", "numberOfOccurrences": 4}).endswith(";COUNT=4")


@pytest.mark.parametrize(
    "pattern",
    [
        {"type": "lunar", "interval": 1},
        {"type": "weekly", "interval": 1, "daysOfWeek": []},
        {"type": "absoluteMonthly", "interval": 1, "dayOfMonth": 0},
    ],
)
def test_what_no_rule_can_say_is_refused(pattern: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"no|kind"):
        rule(pattern, NO_END)
