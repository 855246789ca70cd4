from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, strategies as st

from knowledge.times.recurrence import Rest, Timetable, occurrences
from knowledge.times.recurrence_rules import MAX_OCCURRENCES, NotExpandable

STOCKHOLM = ZoneInfo("Europe/Stockholm")
MONDAY = datetime(2026, 3, 16, 9, tzinfo=STOCKHOLM)


def times(
    recurrence: str,
    *,
    start: datetime = MONDAY,
    since: datetime = datetime(2026, 3, 20, tzinfo=UTC),
    until: datetime = datetime(2026, 4, 10, tzinfo=UTC),
    length: timedelta = timedelta(hours=1),
    all_day: bool = False,
    except_at: tuple[datetime, ...] = (),
    all_day_zone: ZoneInfo = STOCKHOLM,
) -> list[str]:
    """When it begins, in UTC."""
    timetable = Timetable(
        start=start,
        end=start + length,
        all_day=all_day,
        all_day_zone=all_day_zone,
        recurrence=recurrence,
        except_at=except_at,
    )
    found = occurrences(timetable, since=since, until=until)
    return [f"{one.starts_at:%m-%d %H:%M}" for one in found]


def test_a_weekly_meeting_at_nine_stays_at_nine_when_the_clocks_change() -> None:
    assert times("RRULE:FREQ=WEEKLY") == ["03-23 08:00", "03-30 07:00", "04-06 07:00"]


def test_a_rule_may_stand_without_its_name() -> None:
    assert times("FREQ=WEEKLY") == times("RRULE:FREQ=WEEKLY")


def test_every_other_week_is_counted_from_the_first_one_however_long_ago() -> None:
    long_ago = datetime(1999, 3, 1, 9, tzinfo=STOCKHOLM)
    found = times("FREQ=WEEKLY;INTERVAL=2", start=long_ago)
    days = [datetime.fromisoformat(f"2026-{text}:00+00:00").date() for text in found]

    assert days
    assert all((day - long_ago.date()).days % 14 == 0 for day in days)


def test_some_are_left_out_moved_or_added() -> None:
    rules = (
        "RRULE:FREQ=WEEKLY\nEXDATE;TZID=Europe/Stockholm:20260323T090000\nRDATE:20260324T120000Z"
    )
    moved = datetime(2026, 3, 30, 7, tzinfo=UTC)

    assert times(rules, except_at=(moved,)) == ["03-24 12:00", "04-06 07:00"]


def test_until_counts_the_last_one_in() -> None:
    assert times("FREQ=WEEKLY;UNTIL=20260330T070000Z") == ["03-23 08:00", "03-30 07:00"]
    assert times("FREQ=WEEKLY;UNTIL=20260330") == ["03-23 08:00", "03-30 07:00"]
    assert times("FREQ=WEEKLY;UNTIL=20260330T065959Z") == ["03-23 08:00"]


def test_a_count_is_counted_from_the_first_one() -> None:
    assert times("FREQ=WEEKLY;COUNT=3") == ["03-23 08:00", "03-30 07:00"]


def test_the_last_friday_of_the_month() -> None:
    assert times("FREQ=MONTHLY;BYDAY=-1FR") == ["03-27 08:00"]


def test_what_began_before_the_span_and_reaches_into_it_is_in_it() -> None:
    since = datetime(2026, 3, 16, 8, 30, tzinfo=UTC)
    until = datetime(2026, 3, 17, tzinfo=UTC)

    assert times("", since=since, until=until) == ["03-16 08:00"]
    assert times("FREQ=WEEKLY", since=since, until=until) == ["03-16 08:00"]


def test_a_whole_day_is_the_days_of_who_looks_at_it() -> None:
    new_york = ZoneInfo("America/New_York")
    birthday = datetime(2025, 3, 25, tzinfo=UTC)
    day = timedelta(days=1)

    found = times("FREQ=YEARLY", start=birthday, length=day, all_day=True, all_day_zone=new_york)

    assert found == ["03-25 04:00"]


def test_a_whole_day_is_left_out_by_its_date() -> None:
    day = timedelta(days=1)
    start = datetime(2026, 3, 23, tzinfo=UTC)
    rules = "RRULE:FREQ=DAILY;COUNT=3\nEXDATE;VALUE=DATE:20260324"

    assert times(rules, start=start, length=day, all_day=True) == ["03-22 23:00", "03-24 23:00"]


def test_the_night_without_two_o_clock_has_the_meeting_all_the_same() -> None:
    start = datetime(2026, 3, 27, 2, 30, tzinfo=STOCKHOLM)

    assert times("FREQ=DAILY;COUNT=3", start=start) == ["03-27 01:30", "03-28 01:30", "03-29 01:30"]


@pytest.mark.parametrize(
    "rules",
    [
        "FREQ=SECONDLY",
        "FREQ=MINUTELY;INTERVAL=5",
        "FREQ=HOURLY",
        "RRULE:",
        "FREQ=WEEKLY;INTERVAL=0",
        "FREQ=WEEKLY;INTERVAL=99999999999999999999",
        "FREQ=WEEKLY;COUNT=x",
        "FREQ=WEEKLY;UNTIL=soon",
        "FREQ=WEEKLY;BYEASTER=1",
        "FREQ=WEEKLY;RSCALE=CHINESE",
        "FREQ=MONTHLY;BYDAY=+9999MO",
        "FREQ=DAILY;BYHOUR=0,1,2,3,4,5,6,7,8,9,10,11;BYMINUTE=0,1,2",
        "FREQ=YEARLY;BYMONTHDAY=1,2,3,4,5,6,7,8,9,10;BYHOUR=1,2,3,4,5,6,7,8,9,10,11,12;INTERVAL=1;"
        "BYMONTH=1,2,3,4,5,6,7,8,9,10,11,12;BYMINUTE=1,2",
        "RDATE:never",
        "RDATE:20261341T250000",
        "RDATE:" + ",".join(["20260401T090000Z"] * 3_000),
        "X-RULE:FREQ=DAILY",
        "FREQ=DAILY" + ";WKST=MO" * 200,
        "\n".join(["RRULE:FREQ=YEARLY"] * 5),
        "\n".join(["RDATE:20260401T090000Z"] * 51),
    ],
)
def test_rules_that_are_broken_or_too_much_are_refused(rules: str) -> None:
    with pytest.raises(NotExpandable):
        times(rules, since=datetime(2024, 1, 1, tzinfo=UTC), until=datetime(2029, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize("start", [2, 1500, 9000])
def test_a_rule_that_no_day_fits_ends(start: int) -> None:
    """It would be followed to the year 9999, a day at a time."""
    first = datetime(start, 3, 1, 9, tzinfo=UTC)
    for rules in ("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "FREQ=WEEKLY;BYMONTH=13"):
        try:
            assert times(rules, start=first) == []
        except NotExpandable:
            assert start == 9000  # nothing of it lies before the year 9999


def test_a_count_from_too_long_ago_is_refused() -> None:
    with pytest.raises(NotExpandable):
        times("FREQ=DAILY;COUNT=999999", start=datetime(1700, 1, 1, tzinfo=UTC))


RULES = st.text("FREQ=DAILYWKTMOUNHCBSPIVEX;:,+-0123456789 \n", max_size=60)
PARTS = st.sampled_from(
    ["FREQ=DAILY", "FREQ=WEEKLY", "FREQ=MONTHLY", "FREQ=YEARLY", "BYDAY=MO,-1FR", "BYSETPOS=-1",
     "INTERVAL=3", "COUNT=40", "BYMONTHDAY=31,-1", "BYWEEKNO=53", "BYYEARDAY=366", "BYHOUR=0,23",
     "UNTIL=20270101", "WKST=SU", "BYMONTH=2"]
)  # fmt: skip


@given(
    rules=RULES | st.lists(PARTS, max_size=5).map(";".join),
    start=st.datetimes(timezones=st.just(STOCKHOLM)),
    length=st.timedeltas(timedelta(days=-2), timedelta(days=4)),
    all_day=st.booleans(),
)
def test_whatever_the_rules_they_are_refused_or_lie_in_the_span(
    rules: str, start: datetime, length: timedelta, all_day: bool
) -> None:
    start = start.replace(year=min(max(start.year, 3), 9990), day=min(start.day, 28))
    since, until = datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)
    timetable = Timetable(
        start=start,
        end=start + length,
        all_day=all_day,
        all_day_zone=STOCKHOLM,
        recurrence=rules,
    )
    try:
        found = occurrences(timetable, since=since, until=until)
    except NotExpandable:
        return
    begun = [one.starts_at for one in found]
    assert begun == sorted(set(begun))
    assert len(found) <= MAX_OCCURRENCES
    assert all(one.starts_at < until and one.ends_at >= since for one in found)
    assert all(one.starts_at <= one.ends_at for one in found)


# Every Monday at nine, from March 16 on; the clocks change on March 29.
def rest_of(
    *,
    instead_of: datetime = datetime(2026, 3, 23, 9, tzinfo=STOCKHOLM),
    start: datetime = datetime(2026, 3, 24, 10, 30, tzinfo=STOCKHOLM),
    length: timedelta = timedelta(minutes=30),
    all_day: bool = False,
    recurrence: str = "RRULE:FREQ=WEEKLY",
    series_all_day: bool = False,
    until: datetime = datetime(2026, 4, 16, tzinfo=UTC),
    **more: Any,
) -> list[str]:
    timetable = Timetable(
        start=MONDAY.replace(hour=0) if series_all_day else MONDAY,
        end=MONDAY + timedelta(hours=1),
        all_day=series_all_day,
        all_day_zone=STOCKHOLM,
        recurrence=recurrence,
        rest=Rest(instead_of=instead_of, start=start, end=start + length, all_day=all_day),
        **more,
    )
    found = occurrences(timetable, since=datetime(2026, 3, 1, tzinfo=UTC), until=until)
    return [f"{one.starts_at:%m-%d %H:%M}-{one.ends_at:%d %H:%M}" for one in found]


def test_the_rest_of_a_series_is_as_much_later_by_the_clock_when_the_clocks_change() -> None:
    assert rest_of() == [
        "03-24 09:30-24 10:00",
        "03-31 08:30-31 09:00",
        "04-07 08:30-07 09:00",
        "04-14 08:30-14 09:00",
    ]


def test_a_series_ends_before_the_rest_of_it_that_was_changed() -> None:
    timetable = Timetable(
        start=MONDAY,
        end=MONDAY + timedelta(hours=1),
        all_day=False,
        all_day_zone=STOCKHOLM,
        recurrence="RRULE:FREQ=WEEKLY",
        before=datetime(2026, 3, 30, 7, tzinfo=UTC),
    )
    found = occurrences(timetable, since=MONDAY, until=MONDAY + timedelta(days=90))

    assert [f"{one.starts_at:%m-%d %H:%M}" for one in found] == ["03-16 08:00", "03-23 08:00"]


def test_what_is_counted_is_counted_from_the_first_of_the_whole_series() -> None:
    found = rest_of(recurrence="RRULE:FREQ=WEEKLY;COUNT=3")

    assert found == ["03-24 09:30-24 10:00", "03-31 08:30-31 09:00"]


def test_days_that_were_cancelled_or_moved_alone_are_left_out_of_the_rest() -> None:
    found = rest_of(
        recurrence="RRULE:FREQ=WEEKLY\nEXDATE;TZID=Europe/Stockholm:20260330T090000",
        except_at=(datetime(2026, 4, 6, 7, tzinfo=UTC),),
    )

    assert found == ["03-24 09:30-24 10:00", "04-14 08:30-14 09:00"]


def test_the_rest_ends_where_it_was_changed_once_more() -> None:
    found = rest_of(before=datetime(2026, 4, 6, 9, tzinfo=STOCKHOLM))

    assert found == ["03-24 09:30-24 10:00", "03-31 08:30-31 09:00"]


def test_the_rest_in_another_zone_keeps_that_zones_clock() -> None:
    """New York has had summer time since March 8."""
    start = datetime(2026, 3, 23, 9, tzinfo=ZoneInfo("America/New_York"))

    assert rest_of(start=start, until=datetime(2026, 4, 7, tzinfo=UTC)) == [
        "03-23 13:00-23 13:30",
        "03-30 13:00-30 13:30",
        "04-06 13:00-06 13:30",
    ]


def test_the_rest_may_be_whole_days_and_the_rest_of_whole_days_may_move() -> None:
    tuesday = datetime(2026, 3, 24, tzinfo=STOCKHOLM)
    whole: dict[str, Any] = {"start": tuesday, "length": timedelta(days=2), "all_day": True}
    expected = ["03-23 23:00-25 23:00", "03-30 22:00-01 22:00", "04-06 22:00-08 22:00"]

    assert rest_of(**whole)[:3] == expected
    series: dict[str, Any] = {"instead_of": tuesday - timedelta(days=1), "series_all_day": True}
    assert rest_of(**whole, **series)[:3] == expected


def test_a_rest_that_no_day_of_the_series_begins_takes_place_at_its_own_time_too() -> None:
    wednesday = datetime(2026, 3, 25, 9, tzinfo=STOCKHOLM)
    found = rest_of(instead_of=wednesday, start=wednesday)

    assert found[:2] == ["03-25 08:00-25 08:30", "03-30 07:00-30 07:30"]


def test_a_rest_that_is_moved_for_ages_is_not_followed() -> None:
    with pytest.raises(NotExpandable, match="moved too far"):
        rest_of(start=datetime(2326, 3, 23, 9, tzinfo=STOCKHOLM))
