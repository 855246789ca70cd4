"""What strangers wrote into calendars, read: each event by itself, none believed too much."""

from datetime import UTC, datetime

import pytest

from integrations.contracts import Event, Rejected
from integrations.providers.caldav import events
from integrations.providers.calendars.ids import event_id, place_id
from tests.calendar_world import event

PATH = "/nora/work/a.ics"
OWNER = "nora@office.test"
AT = datetime(2026, 3, 1, 9, tzinfo=UTC)


def read(*texts: str | bytes, owner: str = OWNER) -> list[list[Event | Rejected]]:
    contents = {
        f"/nora/work/{number}.ics": text.encode() if isinstance(text, str) else text
        for number, text in enumerate(texts)
    }
    return list(events.read(contents, owner=owner, zone="Europe/Stockholm", at=AT).values())


def only(text: str, *, owner: str = OWNER) -> Event:
    ((found,),) = read(text, owner=owner)
    assert isinstance(found, Event)
    return found


def reasons(found: list[Event | Rejected]) -> list[str]:
    return [one.reason for one in found if isinstance(one, Rejected)]


def test_an_event_without_an_organiser_is_the_owners() -> None:
    found = only(event("Plan"))

    assert (found.title, found.created_by, found.updated_at) == ("Plan", OWNER, AT)
    assert found.id == event_id("/nora/work/0.ics")
    assert only(event("Plan"), owner="").created_by == ""


@pytest.mark.parametrize(
    "people",
    [
        ["ATTENDEE:urn:uuid:4711"],
        ["ATTENDEE:/principals/users/tom/"],
        ["ATTENDEE:mailto:tom@x.de", "ATTENDEE:https://x.de/room"],
        [f"ATTENDEE:mailto:p{number}@x.de" for number in range(201)],
    ],
)
def test_people_whom_nobody_can_list_make_all_of_them_unknown(people: list[str]) -> None:
    found = only(event("Plan", "ORGANIZER:mailto:nora@office.test", *people))

    assert found.created_by == ""


def test_an_organiser_without_an_address_is_nobody_known() -> None:
    assert only(event("Plan", "ORGANIZER:urn:uuid:4711")).created_by == ""


def test_one_that_was_moved_in_a_series_names_it_and_its_planned_start() -> None:
    moved = "\r\n".join(
        [
            "BEGIN:VEVENT",
            "UID:uid@office.test",
            "RECURRENCE-ID:20260316T100000Z",
            "DTSTART:20260317T100000Z",
            "SUMMARY:Moved",
            "END:VEVENT",
            "END:VCALENDAR",
        ]
    )
    text = event("Weekly", "RRULE:FREQ=WEEKLY").replace("END:VCALENDAR", moved)

    ((series, one),) = read(text)

    assert isinstance(series, Event)
    assert isinstance(one, Event)
    assert series.recurrence == "RRULE:FREQ=WEEKLY"
    assert (one.id, one.series_id) == (f"{series.id}_20260316T100000Z", series.id)
    assert place_id(one.id) == series.id


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (event("X").replace("DTSTART:20260309T100000Z\r\n", ""), "no_start"),
        (event("X").replace("DTSTART:2026", "DTSTART:9999"), "malformed_event"),
        (event("X").replace("END:VEVENT\r\n", ""), "malformed_event"),
        (b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n" * 2000, "malformed_event"),
        (event("X" * 1024 * 1024), "too_large"),
        (b"BEGIN:VEVENT\r\n\xff\xfe", "malformed_event"),
    ],
)
def test_what_cannot_be_read_is_rejected_by_itself(raw: str | bytes, reason: str) -> None:
    good, bad = read(event("Good"), raw)

    assert [one.title for one in good if isinstance(one, Event)] == ["Good"]
    assert set(reasons(bad)) == {reason}


def test_a_zone_that_nobody_knows_keeps_its_event() -> None:
    text = event("X").replace("DTSTART:20260309T100000Z", "DTSTART;TZID=No/Where:20260309T100000")

    assert only(text).title == "X"


def test_what_is_no_event_is_left_out() -> None:
    task = event("X").replace("VEVENT", "VTODO")

    assert read(task) == [[]]


def test_a_resource_with_too_many_events_is_rejected_whole() -> None:
    one = event("X").split("\r\n", 3)[3].removesuffix("END:VCALENDAR\r\n")
    text = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n" + one * 501 + "END:VCALENDAR\r\n"

    (found,) = read(text)

    assert reasons(found) == ["malformed_event"]


def test_a_uid_of_somebody_elses_choice_is_no_id() -> None:
    first, second = read(event("A"), event("B"))

    ids = {one.id for one in (*first, *second) if isinstance(one, Event)}
    assert len(ids) == 2


def test_the_mark_is_the_key_of_the_last_write() -> None:
    assert events.mark_of(event("A", "X-REMIT-ACTION:remit-1").encode()) == "remit-1"
    assert events.mark_of(event("A").encode()) == ""
    assert events.mark_of(b"\xff") == ""
