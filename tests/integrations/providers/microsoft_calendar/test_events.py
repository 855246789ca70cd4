"""Which of a series is which, whatever Microsoft says of it."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from hypothesis import given, strategies as st

from integrations.providers.microsoft_calendar.answers import EventSaid
from integrations.providers.microsoft_calendar.edit import changes_of
from integrations.providers.microsoft_calendar.events import changed_in, planned_of, zone_of
from tests.microsoft_calendar_world import ADDRESS, when, zulu

ZONES = ("UTC", "W. Europe Standard Time", "Pacific Standard Time", "India Standard Time")
# No clock is changed by day.
HOURS = st.integers(min_value=4, max_value=22)
DAYS = st.dates(min_value=date(2020, 1, 1), max_value=date(2035, 1, 1))
NAMES = {
    "title": {"subject"},
    "description": {"body"},
    "location": {"location"},
    "attendees": {"attendees"},
}


def said(**more: Any) -> EventSaid:
    return EventSaid.model_validate({"id": "weekly", **more})


@given(zone=st.sampled_from(ZONES), hour=HOURS, first=DAYS, weeks=st.integers(0, 60))
def test_one_of_a_series_has_one_id_planned_moved_or_cancelled(
    zone: str, hour: int, first: date, weeks: int
) -> None:
    day = first + timedelta(weeks=weeks)
    begin, at = (datetime.combine(one, time(hour), zone_of(zone)) for one in (first, day))
    times = {"start": when(f"{begin.astimezone(UTC):%Y-%m-%dT%H:%M:%S}")}
    times["end"] = when(f"{begin.astimezone(UTC) + timedelta(hours=1):%Y-%m-%dT%H:%M:%S}")
    moved = {"id": "moved", "originalStart": zulu(at.astimezone(UTC)), **times}
    series = said(
        **times,
        originalStartTimeZone=zone,
        exceptionOccurrences=[moved],
        cancelledOccurrences=[f"OID.weekly.{day}"],
    )
    planned = said(start=when(f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S}"))

    ids = [planned_of(one) for one in (planned, *changed_in(series))]
    assert ids == [f"{at.astimezone(UTC):%Y%m%dT%H%M%SZ}"] * 3


@given(zone=st.sampled_from(ZONES), day=DAYS)
def test_a_day_of_a_series_is_that_day_whichever_midnight_is_meant(zone: str, day: date) -> None:
    midnights = (datetime.combine(day, time(), one) for one in (UTC, zone_of(zone)))
    for midnight in midnights:
        one = said(
            isAllDay=True,
            originalStartTimeZone=zone,
            originalStart=zulu(midnight.astimezone(UTC)),
        )
        assert planned_of(one) == f"{day:%Y%m%d}"


@given(names=st.sets(st.sampled_from(sorted(NAMES))))
def test_a_change_names_what_is_changed_and_nothing_else(names: set[str]) -> None:
    changes = {name: [] if name == "attendees" else "x" for name in names}
    wanted = {field for name in names for field in NAMES[name]}
    assert set(changes_of(changes, said(), me=ADDRESS)) == wanted
