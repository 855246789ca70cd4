"""Values that the words name, however they are written."""

import pytest

from guardrails.words import times, values

SAID = times.read("Friday at 12", said_at="2026-11-23T14:03:20+01:00", zone="Europe/Berlin")


@pytest.mark.parametrize(
    "value", ["2026-11-27T12:00:00+01:00", "2026-11-27T11:00:00+00:00", "2026-11-27T06:00-05:00"]
)
def test_a_time_is_compared_as_a_moment_and_the_reading_says_which(value: str) -> None:
    assert values.time_said(value, SAID) == (
        "“Friday at 12” read as Fri 27 Nov 2026, 12:00 Europe/Berlin"
    )


def test_a_day_is_compared_as_a_day() -> None:
    assert values.time_said("2026-11-27", SAID) == "“Friday at 12” read as Fri 27 Nov 2026"


@pytest.mark.parametrize(
    "value",
    ["", "2026-11-27T12:00:00", "2026-11-27T12:01:00+01:00", "2026-11-28", "27.11.2026", "Friday"],
)
def test_another_time_and_one_without_a_zone_are_not_said(value: str) -> None:
    assert values.time_said(value, SAID) == ""


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("1000", "1,000 pieces"),
        ("1000", "about 1.000 Stück"),
        ("1000.5", "1.000,50 Euro"),
        ("12.5", "12,5 percent"),
        ("30", "30 of them"),
        ("-3", "-3 degrees"),
        ("1234567", "1 234 567 pieces"),
    ],
)
def test_a_number_is_compared_as_a_number(value: str, words: str) -> None:
    assert values.number_said(value, words).endswith(f"read as {value}")


@pytest.mark.parametrize(
    ("value", "words"),
    [("1000", "10,00"), ("30", "x30"), ("30", "130"), ("30", ""), ("nan", "nan"), ("5", "1.5")],
)
def test_another_number_is_not_said(value: str, words: str) -> None:
    assert values.number_said(value, words) == ""
