"""Which of a series there are, and one of them taken out of it."""

import pytest

from integrations.child import Child, Unreadable
from integrations.providers.caldav import lines, series
from tests.calendar_world import event

ZONE = "Europe/Stockholm"


def weekly(*more: str, start: str = "DTSTART:20260309T100000Z") -> bytes:
    text = event("Weekly", *more)
    return text.replace("DTSTART:20260309T100000Z", start).encode()


@pytest.mark.parametrize(
    ("raw", "planned", "expected"),
    [
        (weekly("RRULE:FREQ=WEEKLY"), "20260309T100000Z", True),
        (weekly("RRULE:FREQ=WEEKLY"), "20260316T100000Z", True),
        (weekly("RRULE:FREQ=WEEKLY"), "20260316T110000Z", False),
        (weekly("RRULE:FREQ=WEEKLY"), "20260302T100000Z", False),
        (weekly("RRULE:FREQ=WEEKLY"), "20260316", False),
        (weekly("RRULE:FREQ=WEEKLY;COUNT=2"), "20260323T100000Z", False),
        (weekly("RRULE:FREQ=WEEKLY;UNTIL=20260316T100000Z"), "20260316T100000Z", True),
        (weekly("RRULE:FREQ=WEEKLY;UNTIL=20260316T100000Z"), "20260323T100000Z", False),
        (weekly("RRULE:FREQ=WEEKLY", "EXDATE:20260316T100000Z"), "20260316T100000Z", False),
        (weekly("RDATE:20260317T100000Z,20260318T100000Z"), "20260318T100000Z", True),
        (weekly("RRULE:FREQ=WEEKLY", start="DTSTART;VALUE=DATE:20260309"), "20260316", True),
        (weekly("RRULE:FREQ=WEEKLY", start="DTSTART;VALUE=DATE:20260309"), "20260317", False),
        # At the same time of day there, which is another in UTC after the change of clocks.
        (
            weekly("RRULE:FREQ=WEEKLY", start=f"DTSTART;TZID={ZONE}:20260309T100000"),
            "20260330T080000Z",
            True,
        ),
        (weekly(start="DTSTART;TZID=No/Where:20260309T100000"), "20260309T090000Z", False),
        (weekly("RRULE:FREQ=NEVER"), "20260316T100000Z", False),
        (b"no calendar", "20260316T100000Z", False),
        (weekly("RRULE:FREQ=WEEKLY"), "99999999T100000Z", False),
    ],
)
def test_a_series_has_one_where_its_rule_says_so(raw: bytes, planned: str, expected: bool) -> None:
    assert series.occurs(raw, planned, zone=ZONE) is expected


def test_a_rule_that_takes_for_ever_ends() -> None:
    child = Child("integrations.providers.caldav.child", seconds=1)
    raw = weekly("RRULE:FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30")

    with pytest.raises(Unreadable):
        child.ask((raw, "20990316T100000Z", ZONE))
    child.close()


@pytest.mark.parametrize(
    ("start", "planned", "expected"),
    [
        (
            "DTSTART:20260309T100000Z",
            "20260316T100000Z",
            ["RECURRENCE-ID:20260316T100000Z", "DTSTART:20260316T100000Z"],
        ),
        (
            f"DTSTART;TZID={ZONE}:20260309T100000",
            "20260330T080000Z",
            [f"RECURRENCE-ID;TZID={ZONE}:20260330T100000", f"DTSTART;TZID={ZONE}:20260330T100000"],
        ),
        (
            "DTSTART;VALUE=DATE:20260309",
            "20260316",
            ["RECURRENCE-ID;VALUE=DATE:20260316", "DTSTART;VALUE=DATE:20260316"],
        ),
        (
            "DTSTART:20260309T100000",
            "20260316T090000Z",
            ["RECURRENCE-ID:20260316T100000", "DTSTART:20260316T090000Z"],
        ),
    ],
)
def test_one_is_taken_out_in_the_form_of_its_series(
    start: str, planned: str, expected: list[str]
) -> None:
    resource = lines.read(weekly("RRULE:FREQ=WEEKLY", "X-OWN:1", start=start))

    one = series.take_out(resource, planned, zone=ZONE)

    assert [line for line in one if line.startswith(("RECURRENCE-ID", "DTSTART"))] == expected
    assert "X-OWN:1" in one
    assert not any(line.startswith("RRULE") for line in one)
    assert [part is one for part in resource.events] == [False, True]
    assert series.find(resource, planned, zone=ZONE) is one


def test_none_is_taken_out_of_a_series_in_a_zone_that_nobody_knows() -> None:
    resource = lines.read(weekly(start="DTSTART;TZID=No/Where:20260309T100000"))

    with pytest.raises(lines.BadLines):
        series.take_out(resource, "20260316T090000Z", zone=ZONE)
