"""Calendars line by line: one property is changed, and nothing else."""

import pytest
from hypothesis import given, strategies as st
from icalendar import Calendar

from integrations.providers.caldav import lines
from tests.calendar_world import event

TEXTS = st.text(st.characters(codec="utf-8"), max_size=200)


@given(text=TEXTS, name=TEXTS)
def test_whatever_is_put_in_is_one_value_and_changes_no_other(text: str, name: str) -> None:
    resource = lines.read(event("Plan", 'X-OWN;P="a:b;c":kept').encode())
    lines.put(resource.events[0], "DESCRIPTION", f"DESCRIPTION:{lines.escape(text)}")

    found = Calendar.from_ical(resource.to_bytes()).walk("VEVENT")[0]

    expected = "".join(
        one for one in text.replace("\r\n", "\n") if one.isprintable() or one in "\n\t"
    )
    assert str(found["DESCRIPTION"]) == expected
    assert (str(found["SUMMARY"]), str(found["X-OWN"])) == ("Plan", "kept")
    assert len(found.errors) == 0


@given(text=TEXTS)
def test_lines_are_folded_at_75_octets_and_unfolded_again(text: str) -> None:
    line = f"SUMMARY:{lines.escape(text)}"

    folded = lines.fold(line).encode()

    assert all(len(one) <= 75 for one in folded.split(b"\r\n"))
    whole = b"BEGIN:VCALENDAR\r\n" + folded + b"END:VCALENDAR\r\n"
    assert lines.read(whole).parts == [["BEGIN:VCALENDAR", line, "END:VCALENDAR"]]


def test_a_text_without_a_change_stays_as_it_is() -> None:
    raw = event("Plan " * 40, "X-OWN:1", "BEGIN:VALARM", "SUMMARY:Alarm", "END:VALARM").encode()
    resource = lines.read(raw)

    assert lines.read(resource.to_bytes()) == resource
    lines.put(resource.events[0], "SUMMARY", "SUMMARY:New")
    assert resource.events[0].count("SUMMARY:New") == 1
    assert "SUMMARY:Alarm" in resource.events[0]


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xff\xfe",
        b"BEGIN:VEVENT\r\nEND:VEVENT\r\n",
        b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nEND:VCALENDAR\r\n",
        b"BEGIN:VCALENDAR\r\nEND:VEVENT\r\n",
        b"BEGIN:VCALENDAR\r\n",
    ],
)
def test_what_is_no_whole_calendar_is_not_changed(raw: bytes) -> None:
    with pytest.raises(lines.BadLines):
        lines.read(raw)


def test_a_line_that_would_end_early_is_refused() -> None:
    resource = lines.read(event("Plan").encode())

    with pytest.raises(lines.BadLines):
        lines.put(resource.events[0], "SUMMARY", "SUMMARY:a\r\nATTENDEE:mailto:b@c.de")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("DTSTART:20260309T100000Z", "2026-03-09T10:00:00+00:00"),
        ("DTSTART;TZID=Europe/Stockholm:20260309T100000", "2026-03-09T10:00:00+01:00"),
        ('DTSTART;TZID="Europe/Stockholm":20260309T100000', "2026-03-09T10:00:00+01:00"),
        ("DTSTART:20260309T100000", "2026-03-09T10:00:00-04:00"),
        ("DTSTART;VALUE=DATE:20260309", "2026-03-09T00:00:00-04:00"),
        ("DTSTART;TZID=Nowhere/Else:20260309T100000", None),
        ("DTSTART:20261399T100000Z", None),
        ("DTSTART:soon", None),
    ],
)
def test_times_are_read_in_their_zone(line: str, expected: str | None) -> None:
    found = lines.find(["BEGIN:VEVENT", line, "END:VEVENT"], "DTSTART")

    at = lines.moment(found, zone="America/New_York")

    assert (at.isoformat() if at else None) == expected
