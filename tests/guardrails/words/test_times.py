"""The times that people name, as values."""

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, strategies as st

from guardrails.words import times
from guardrails.words.own import HOLE
from guardrails.words.vocabulary import MEANINGS

BERLIN = ZoneInfo("Europe/Berlin")
SAID_AT = datetime(2026, 11, 23, 14, 3, 20, tzinfo=BERLIN)  # a Monday


def heard(words: str, at: datetime = SAID_AT) -> times.Said:
    return times.read(words, said_at=at.isoformat(), zone="Europe/Berlin")


def local(words: str) -> set[str]:
    return {f"{at.astimezone(BERLIN):%d.%m.%y %H:%M}" for at in heard(words).times}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("Move it to Friday at 12", "27.11.26 12:00"),
        ("12:00 on 19 May 2027", "19.05.27 12:00"),
        ("December 4 at 3:30", "04.12.26 03:30|04.12.26 15:30"),
        ("tomorrow 9-10", "24.11.26 09:00|24.11.26 10:00|24.11.26 21:00|24.11.26 22:00"),
        ("in half an hour", "23.11.26 14:33|23.11.26 14:34"),
        ("in 3 days at 14:00", "26.11.26 14:00"),
        ("Move my meeting on Friday with Tom to 12", "27.11.26 12:00"),
        ("at 10:30 a.m. tomorrow", "24.11.26 10:30"),
        ("tomorrow morning at nine", "24.11.26 09:00"),
        ("Fri 3pm - 4pm", "27.11.26 15:00|27.11.26 16:00"),
        ("Friday 10:00", "27.11.26 10:00"),
        ("Friday at 10", "27.11.26 10:00|27.11.26 22:00"),
        ("tonight at 10:30", "23.11.26 22:30"),
        ("Friday 10:30-11:30 pm", "27.11.26 22:30|27.11.26 23:30"),
        ("Friday 10:30-23:00", "27.11.26 10:30|27.11.26 23:00"),
        ("Freitag um 10:15 Uhr", "27.11.26 10:15"),
        ("vendredi à 11h30", "27.11.26 11:30"),
        ("between 2 and 3 pm today", "23.11.26 14:00|23.11.26 15:00"),
        ("quarter to 4 pm on Tuesday", "24.11.26 15:45"),
        ("Monday the 30th of November at 16:00", "30.11.26 16:00"),
        ("on Friday the 4th at noon", "04.12.26 12:00"),
        ("the 27th at noon", "27.11.26 12:00"),
        ("am Freitag, den 4. um 14 Uhr", "04.12.26 14:00"),
        ("11/27/2026 4:30 PM", "27.11.26 16:30"),
        ("2026-11-27 16:00", "27.11.26 16:00"),
        ("Block 3pm for the gym", "23.11.26 15:00"),
        ("3pm EST on Friday", "27.11.26 21:00"),
        ("15:00 Europe/London on Friday", "27.11.26 16:00"),
        ("tonight at 8", "23.11.26 20:00"),
        ("Freitag um 14 Uhr", "27.11.26 14:00"),
        ("am Freitag, 27. November, 14 Uhr 30", "27.11.26 14:30"),
        ("morgen um halb drei", "24.11.26 02:30|24.11.26 14:30"),
        ("12.30 Uhr morgen", "24.11.26 12:30"),
        ("am Freitag Morgen um 9", "27.11.26 09:00"),
        ("heute Abend um 8", "23.11.26 20:00"),
        ("übermorgen von 14 bis 15 Uhr", "25.11.26 14:00|25.11.26 15:00"),
        ("le 3 mai à 15h", "03.05.27 15:00"),
        ("demain après-midi à 3 heures", "24.11.26 15:00"),
        ("vendredi de 14h à 15h30", "27.11.26 14:00|27.11.26 15:30"),
        ("dans une demi-heure", "23.11.26 14:33|23.11.26 14:34"),
        ("mañana a las 10 de la mañana", "24.11.26 10:00"),
        ("el viernes a las tres y media de la tarde", "27.11.26 15:30"),
        ("el 3 de mayo de 2027 a las 15:00", "03.05.27 15:00"),
        ("domani alle 14", "24.11.26 14:00"),
        ("mercoledì 2 dicembre dalle 14 alle 15:30", "02.12.26 14:00|02.12.26 15:30"),
        ("fra due ore", "23.11.26 16:03|23.11.26 16:04"),
    ],
)
def test_what_people_say_is_read_as_the_times_it_may_mean(words: str, said: str) -> None:
    assert local(words) == set(said.split("|"))


@pytest.mark.parametrize(
    "words",
    [
        "",
        "invite 2 to 3 people on Friday",
        "pay 300 by 3 people at 5 euros",
        "at once, and so on",
        "version 3.30 and 10-12 items, ratio 3/4",
        "call 030 1234567 tomorrow",
        "3pm London time on Friday",  # in a zone that nobody names exactly
        "3pm IST on Friday",
        "Friday, 28 November 2026 at 14:00",  # a Saturday
        "30 February 2027 at 14:00",
        "Monday and Friday, both rooms, one of them with coffee at 14:00",  # which day?
        "at 25:00 tomorrow",
        "tomorrow 192.168.12.30",
    ],
)
def test_in_doubt_no_time_is_read(words: str) -> None:
    assert local(words) == set()


@given(
    st.integers(0, 23),
    st.integers(0, 59),
    st.sampled_from(["Friday at", "Freitag um", "vendredi à"]),
)
def test_two_digits_and_minutes_are_one_time_of_a_clock_of_24_hours(
    hour: int, minute: int, words: str
) -> None:
    assert local(f"{words} {hour:02}:{minute:02}") == {f"27.11.26 {hour:02}:{minute:02}"}


@given(st.integers(1, 11), st.sampled_from(["Friday at", "Freitag um", "vendredi à"]))
def test_an_hour_alone_is_either_of_two_and_no_other(hour: int, words: str) -> None:
    assert local(f"{words} {hour}") == {f"27.11.26 {one:02}:00" for one in (hour, hour + 12)}


def test_a_weekday_may_be_today_or_in_a_week_and_next_one_may_be_either() -> None:
    assert local("Monday at 16:00") == {"23.11.26 16:00", "30.11.26 16:00"}
    assert local("next Friday at 16:00") == {"27.11.26 16:00", "04.12.26 16:00"}


def test_a_time_without_a_day_is_todays_if_it_is_still_to_come() -> None:
    assert local("block 13:00") == set()
    assert heard("block 13:00").clocks == {780: "13:00"}


def test_an_hour_that_comes_twice_is_both_and_days_are_the_persons_own() -> None:
    autumn = heard("2026-10-25 02:30", datetime(2026, 10, 1, tzinfo=UTC))
    assert {at.hour for at in autumn.times} == {0, 1}
    late = datetime(2026, 11, 23, 23, 30, tzinfo=UTC)  # Tuesday in Berlin
    assert {str(day) for day in heard("tomorrow", late).days} == {"2026-11-25"}


def test_lengths_are_read_in_minutes() -> None:
    assert heard("for 45 minutes").spans == {45: "45 minutes"}
    assert heard("anderthalb Stunden").spans == {90: "anderthalb Stunden"}
    assert heard("1 hour and 30 minutes").spans == {90: "1 hour and 30 minutes"}
    assert heard("1,5 Stunden").spans == {90: "1,5 Stunden"}
    assert heard("9999999999 weeks").spans == {}


def test_without_a_clock_or_a_zone_nothing_is_read() -> None:
    for at, zone in (("", "UTC"), ("2026-11-23", "UTC"), (SAID_AT.isoformat(), ""), ("x", "x/y")):
        assert times.read("Friday at 12", said_at=at, zone=zone) == times.Said()


def test_beside_something_that_was_taken_out_nothing_is_read() -> None:
    assert local(f"Friday at 12{HOLE}") == set()
    assert local(f"{HOLE} Friday at 12:00 please") == set()
    # Nor is a day for it looked for elsewhere: there may have been another one.
    assert local(f"on Friday {HOLE} we meet at 12:00") == set()
    assert local(f"Friday at 12:00 please {HOLE}") == {"27.11.26 12:00"}


spoken = st.lists(
    st.one_of(
        st.sampled_from(sorted(MEANINGS)),
        st.integers(0, 2030).map(str),
        st.sampled_from([",", ".", "-", ":", "/", "'", "x", "+1", "Tom", "\n", HOLE]),
    ),
    max_size=12,
)


@given(st.text(max_size=300))
def test_any_text_is_read_without_raising(text: str) -> None:
    heard(text)


@given(spoken, st.sampled_from([" ", ""]))
def test_a_time_that_the_words_do_not_say_is_never_found(parts: list[str], glue: str) -> None:
    words = glue.join(parts)
    said = heard(words)
    numbers = {int(one) for one in re.findall(r"\d{1,4}", words)}
    for name, meanings in MEANINGS.items():
        if name in words:
            numbers |= {one.value for one in meanings if one.kind == "number"}
            numbers |= {one.value // 60 for one in meanings if one.kind in ("clock", "unit")}
    for at, phrase in said.times.items():
        assert all(part in words for part in phrase.removesuffix("…").split(" … ")) or "\n" in words
        hour = at.astimezone(BERLIN).hour
        moved = {one + step for one in numbers for step in (-1, 0)}  # “halb drei”
        spans = any(one.kind == "in" for part in parts for one in MEANINGS.get(part, ()))
        zoned = "T" in words
        assert spans or zoned or {hour, hour - 12, hour + 12} & moved


def test_only_so_many_times_are_read() -> None:
    for text in ("9-" * 1_000, "de la " * 1_000, "Friday at 12 " * 1_000, "1." * 1_000):
        assert len(heard(text).times) < times.MOST_PIECES * 4


@given(
    minute=st.sampled_from(("9999-12-31T23:59", "0001-01-01T00:00")),
    offset=st.integers(-14, 14),
    zone=st.timezone_keys(),
    words=st.sampled_from(("tomorrow at 9", "last Friday", "in 3 weeks", "5 Jan", "9999-12-31")),
    past=st.booleans(),
)
def test_words_said_at_the_end_of_time_are_read_without_raising(
    minute: str, offset: int, zone: str, words: str, past: bool
) -> None:
    at = f"{minute}{offset:+03d}:00"
    times.read(words, said_at=at, zone=zone, past=past)
    times.days_named(words, said_at=at, zone=zone)


def test_what_is_said_outside_the_years_that_count_is_not_read() -> None:
    for year, days in ((1969, 0), (1970, 1), (2199, 1), (2200, 0), (9999, 0)):
        said = times.read("today", said_at=f"{year}-12-31T09:00:00Z", zone="Europe/Berlin")
        assert len(said.days) == days
