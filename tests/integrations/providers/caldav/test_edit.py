"""Events as texts: what is written, and what is left alone."""

from datetime import UTC, datetime
from typing import Any

import pytest

from integrations.exceptions import Rejected
from integrations.providers.caldav import edit
from integrations.providers.caldav.edit import Author
from tests.calendar_world import event

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)
ID = "event-1"
MEETING = ("ORGANIZER:mailto:nora@office.test", "ATTENDEE;PARTSTAT=ACCEPTED:mailto:tom@office.test")
THEIRS = ("ORGANIZER:mailto:tom@office.test", "ATTENDEE:mailto:nora@office.test")
SERIES = "RRULE:FREQ=WEEKLY;COUNT=5"


def author(*, tells: bool = True, key: str = "remit-1") -> Author:
    return Author(
        address="nora@office.test",
        name='Nora "N" Berg',
        addresses=frozenset({"nora@office.test", "nb@office.test"}),
        zone="Europe/Stockholm",
        key=key,
        at=AT,
        tells=tells,
    )


def changed(text: str, changes: dict[str, Any], **about: Any) -> list[str]:
    """The unfolded lines afterwards."""
    raw = edit.change(text.encode(), ID, changes, by=author(**about))
    return raw.decode().replace("\r\n ", "").split("\r\n")


def test_a_new_event_says_who_invites_and_by_which_action() -> None:
    fields = {
        "title": "Lunch",
        "start": "2026-03-09T12:00:00+01:00",
        "end": "2026-03-09T13:00:00+01:00",
        "attendees": ["tom@office.test"],
    }

    found = edit.create(fields, by=author()).decode().replace("\r\n ", "").split("\r\n")

    assert sorted(found[3:-2]) == sorted(
        [
            "BEGIN:VEVENT",
            "UID:remit-1",
            "DTSTAMP:20260301T090000Z",
            "LAST-MODIFIED:20260301T090000Z",
            "SEQUENCE:0",
            "DTSTART:20260309T110000Z",
            "DTEND:20260309T120000Z",
            "SUMMARY:Lunch",
            'ORGANIZER;CN="Nora N Berg":mailto:nora@office.test',
            "ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:tom@office.test",
            "X-REMIT-ACTION:remit-1",
            "END:VEVENT",
        ]
    )


def test_nobody_is_invited_where_nobody_gets_word() -> None:
    with pytest.raises(Rejected, match="tells nobody"):
        changed(event("Plan"), {"attendees": ["tom@office.test"]}, tells=False)

    found = changed(event("Plan", *MEETING), {"attendees": ["tom@office.test"]}, tells=False)
    assert MEETING[1] in found


def test_who_stays_keeps_the_answer_and_who_goes_goes() -> None:
    second = "ATTENDEE:mailto:ann@office.test"

    found = changed(
        event("Plan", *MEETING, second), {"attendees": ["tom@office.test", "eve@office.test"]}
    )

    assert [line for line in found if line.startswith("ATTENDEE")] == [
        MEETING[1],
        "ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:eve@office.test",
    ]


@pytest.mark.parametrize("address", ["tom", "tom@x.de\r\nATTENDEE:mailto:eve@x.de", "a@b@c", ""])
def test_what_is_no_plain_address_is_not_invited(address: str) -> None:
    with pytest.raises(Rejected):
        changed(event("Plan"), {"attendees": [address]})


def test_only_who_invited_changes_an_event() -> None:
    with pytest.raises(Rejected, match="Only who invited"):
        changed(event("Plan", *THEIRS), {"title": "Mine"})

    assert "SUMMARY:Mine" in changed(
        event("Plan", "ORGANIZER:MAILTO:NB@office.test"), {"title": "Mine"}
    )


def test_times_stay_in_their_zone_and_days_stay_days() -> None:
    zoned = event("Plan", start="20260309T100000Z").replace(
        "DTSTART:20260309T100000Z", "DTSTART;TZID=America/New_York:20260309T100000"
    )
    times = {"start": "2026-03-10T15:00:00+01:00", "end": "2026-03-10T16:00:00+01:00"}
    found = changed(zoned, times)
    assert "DTSTART;TZID=America/New_York:20260310T100000" in found
    assert "DTEND;TZID=America/New_York:20260310T110000" in found
    assert not any(line.startswith("DURATION") for line in found)
    assert "SEQUENCE:1" in found

    day = event("Trip").replace("DTSTART:20260309T100000Z", "DTSTART;VALUE=DATE:20260309")
    days = {"start": "2026-03-11T00:00:00+01:00", "end": "2026-03-12T00:00:00+01:00"}
    found = changed(day, days)
    assert "DTSTART;VALUE=DATE:20260311" in found
    assert "DTEND;VALUE=DATE:20260312" in found


@pytest.mark.parametrize("moved", ["EXDATE:20260316T100000Z", "RDATE:20260317T100000Z"])
def test_the_times_of_a_series_with_exceptions_are_left_alone(moved: str) -> None:
    times = {"start": "2026-03-09T12:00:00+01:00", "end": "2026-03-09T13:00:00+01:00"}
    assert "DTSTART:20260309T110000Z" in changed(event("Weekly", SERIES), times)

    with pytest.raises(Rejected, match="moved or left out"):
        changed(event("Weekly", SERIES, moved), times)
    assert "SUMMARY:New" in changed(event("Weekly", SERIES, moved), {"title": "New"})


def test_the_mark_is_of_the_last_write_alone() -> None:
    found = changed(event("Plan", "X-REMIT-ACTION:remit-0"), {"title": "New"})

    assert [line for line in found if line.startswith("X-REMIT")] == ["X-REMIT-ACTION:remit-1"]


def test_a_text_that_is_taken_away_leaves_no_line() -> None:
    found = changed(event("Plan", "LOCATION:Room 1"), {"location": None})

    assert not any(line.startswith("LOCATION") for line in found)


def test_an_answer_changes_the_users_own_line_and_nothing_else() -> None:
    second = "ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:ann@office.test"
    mine = 'ATTENDEE;CN="Nora B";PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:NB@office.test'
    before = event("Plan", THEIRS[0], second, mine)

    found = edit.answer(before.encode(), ID, "declined", by=author()).decode()

    lines = found.replace("\r\n ", "").split("\r\n")
    new = set(lines) - set(before.replace("\r\n ", "").split("\r\n"))
    assert new == {
        'ATTENDEE;CN="Nora B";RSVP=TRUE;PARTSTAT=DECLINED:mailto:NB@office.test',
        "X-REMIT-ACTION:remit-1",
    }
    assert second in lines


def test_no_answer_is_written_where_nobody_hears_of_it_or_nobody_asked() -> None:
    with pytest.raises(Rejected, match="tells nobody of an answer"):
        edit.answer(event("Plan", *THEIRS).encode(), ID, "accepted", by=author(tells=False))
    with pytest.raises(Rejected, match="not among those who are invited"):
        edit.answer(event("Plan", *MEETING).encode(), ID, "accepted", by=author())
