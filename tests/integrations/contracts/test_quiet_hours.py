"""When quiet hours end, on the clocks of where somebody is."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, strategies as st

from integrations.contracts.preferences import DAYS, Day
from integrations.contracts.quiet_hours import MOST, QuietHours, quiet_until

BERLIN = "Europe/Berlin"
NIGHT = QuietHours(begins=time(22), ends=time(7), zone=BERLIN)
HALF_PAST_TWO = QuietHours(begins=time(2, 15), ends=time(2, 45), zone=BERLIN)
ZONES = (BERLIN, "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "Asia/Kolkata", "UTC")
# Around the days on which these clocks are changed, and days on which nothing happens.
MOMENTS = st.floats(0, 2 * 365 * 24 * 3600).map(
    lambda seconds: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
)
TIMES = st.builds(time, st.integers(0, 23), st.sampled_from([0, 1, 15, 30, 59]))


@st.composite
def hours(draw: st.DrawFn) -> QuietHours:
    begins, ends = draw(st.lists(TIMES, min_size=2, max_size=2, unique=True))
    days = draw(st.sets(st.sampled_from(DAYS), min_size=1))
    return QuietHours(
        begins=begins, ends=ends, zone=draw(st.sampled_from(ZONES)), days=frozenset(days)
    )


def utc(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text).replace(tzinfo=UTC) if text else None


def on_clock(moment: datetime, one: QuietHours) -> bool:
    """Read from a clock on the wall and a calendar, without any arithmetic of moments."""
    here = moment.astimezone(ZoneInfo(one.zone))
    at, today = here.time(), here.weekday()
    is_over = one.begins > one.ends
    if one.begins <= at and (is_over or at < one.ends):
        return DAYS[today] in one.days
    return is_over and at < one.ends and DAYS[today - 1] in one.days


def is_changed_near(moment: datetime, zone: str) -> bool:
    """Whether the clocks there are changed within two hours of it, or were."""
    beside = (moment + timedelta(hours=number) for number in (-2, 2))
    return len({one.astimezone(ZoneInfo(zone)).utcoffset() for one in beside}) > 1


@pytest.mark.parametrize(
    ("now", "begins", "ends", "zone", "expected"),
    [
        ("2026-11-27T19:30", "20:00", "07:00", BERLIN, "2026-11-28T06:00"),
        ("2026-11-27T05:59", "20:00", "07:00", BERLIN, "2026-11-27T06:00"),
        ("2026-11-27T06:00", "20:00", "07:00", BERLIN, None),
        ("2026-11-27T12:30", "12:00", "13:00", "UTC", "2026-11-27T13:00"),
        ("2026-11-27T13:00", "12:00", "13:00", "UTC", None),
        ("2026-03-28T22:00", "20:00", "07:00", BERLIN, "2026-03-29T05:00"),
        ("2026-10-24T22:00", "20:00", "07:00", BERLIN, "2026-10-25T06:00"),
    ],
)
def test_they_end_on_the_clock_of_the_place(
    now: str, begins: str, ends: str, zone: str, expected: str | None
) -> None:
    [one] = QuietHours.read(time.fromisoformat(begins), time.fromisoformat(ends), zone=zone)
    moment = utc(now)
    assert moment
    assert quiet_until(moment, one) == utc(expected)


def test_without_any_it_is_never_quiet() -> None:
    assert QuietHours.read(None, None, zone="UTC") == ()
    assert quiet_until(datetime.now(UTC)) is None


@pytest.mark.parametrize(
    ("now", "days", "expected"),
    [
        ("2026-11-27T22:00", ["friday"], "2026-11-28T06:00"),  # a Friday, 23:00
        ("2026-11-28T05:00", ["friday"], "2026-11-28T06:00"),  # the morning after it
        ("2026-11-28T22:00", ["friday"], None),
        ("2026-11-27T05:00", ["friday"], None),  # its own morning is of Thursday's night
        ("2026-11-30T05:00", ["sunday"], "2026-11-30T06:00"),  # over the end of the week
    ],
)
def test_a_night_is_of_the_day_on_which_it_begins(
    now: str, days: list[Day], expected: str | None
) -> None:
    night = QuietHours(begins=time(22), ends=time(7), zone=BERLIN, days=frozenset(days))
    moment = utc(now)
    assert moment
    assert quiet_until(moment, night) == utc(expected)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("2026-10-25T00:14", None),  # 02:14, for the first time
        ("2026-10-25T00:15", "2026-10-25T01:45"),  # 02:15, for the first time
        ("2026-10-25T00:50", "2026-10-25T01:45"),  # 02:50, for the first time
        ("2026-10-25T01:44", "2026-10-25T01:45"),  # 02:44, for the second time
        ("2026-10-25T01:45", None),
        ("2026-03-29T00:14", None),
        ("2026-03-29T00:15", "2026-03-29T01:45"),  # 02:15 is not there: until 03:45
        ("2026-03-29T01:45", None),
    ],
)
def test_where_clocks_are_changed_in_them_the_wider_reading_counts(
    now: str, expected: str | None
) -> None:
    moment = utc(now)
    assert moment
    assert quiet_until(moment, HALF_PAST_TWO) == utc(expected)


def test_the_wider_of_two_counts_and_hours_that_go_over_into_each_other_are_one() -> None:
    house = QuietHours(begins=time(20), ends=time(6), zone=BERLIN)
    lunch = QuietHours(begins=time(7), ends=time(8), zone=BERLIN)
    now = datetime(2026, 11, 27, 20, tzinfo=UTC)  # 21:00

    assert quiet_until(now, NIGHT) is None
    assert quiet_until(now, house, NIGHT) == datetime(2026, 11, 28, 6, tzinfo=UTC)
    assert quiet_until(now, house, NIGHT, lunch) == datetime(2026, 11, 28, 7, tzinfo=UTC)


def test_hours_that_never_end_are_cut() -> None:
    day = QuietHours(begins=time(7), ends=time(22), zone=BERLIN)
    now = datetime(2026, 11, 27, 20, tzinfo=UTC)
    found = quiet_until(now, day, NIGHT)
    assert found
    assert MOST <= found - now < MOST + timedelta(days=1)


@given(MOMENTS, hours())
@example(datetime(2026, 10, 25, 0, 50, tzinfo=UTC), HALF_PAST_TWO)
@example(datetime(2026, 3, 29, 1, 30, tzinfo=UTC), HALF_PAST_TWO)
def test_it_is_quiet_when_the_clock_on_the_wall_says_so(moment: datetime, one: QuietHours) -> None:
    found = quiet_until(moment, one)

    if on_clock(moment, one):
        assert found
    elif not is_changed_near(moment, one.zone):
        assert found is None
    if found:  # the end is ahead, is no part of it, and no moment before it is free
        assert moment < found
        assert quiet_until(found, one) is None
        assert quiet_until(moment + (found - moment) / 2, one) == found
        assert quiet_until(found - timedelta(seconds=1), one) == found


@given(MOMENTS, hours(), hours())
def test_two_are_quiet_while_either_is(moment: datetime, one: QuietHours, two: QuietHours) -> None:
    ends = [found for found in (quiet_until(moment, one), quiet_until(moment, two)) if found]
    both = quiet_until(moment, one, two)

    assert (both is None) == (not ends)
    if both:
        assert both >= max(ends)
        assert both - moment > MOST or (
            quiet_until(both, one) is None and quiet_until(both, two) is None
        )
    assert both == quiet_until(moment, two, one)
