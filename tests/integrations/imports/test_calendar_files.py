import gzip
import json
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from integrations.contracts import Event, Rejected
from integrations.imports.calendar_files import NoEventsHere, load, read_events
from integrations.imports.imports import calendar_pages
from tests.corpus import CORPUS, needs_corpus

STOCKHOLM = ZoneInfo("Europe/Stockholm")
CUSTOM_ZONE = """\
BEGIN:VTIMEZONE
TZID:{name}
BEGIN:STANDARD
DTSTART:19701101T020000
RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU
TZOFFSETFROM:-0400
TZOFFSETTO:-0500
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:19700308T020000
RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU
TZOFFSETFROM:-0500
TZOFFSETTO:-0400
END:DAYLIGHT
END:VTIMEZONE
"""


def calendar(*events: str, head: str = "") -> bytes:
    body = "".join(f"BEGIN:VEVENT\n{text.strip()}\nEND:VEVENT\n" for text in events)
    text = f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//test//\n{head}{body}END:VCALENDAR\n"
    return text.replace("\n", "\r\n").encode()


def one(text: str, **more: Any) -> Event:
    [event] = read_events(calendar(text, **more), zone=STOCKHOLM)
    assert isinstance(event, Event)
    return event


def test_a_series_keeps_its_zone_its_rules_and_its_people() -> None:
    event = one(
        """
UID:standup@x
DTSTAMP:20260301T080000Z
SEQUENCE:2
DTSTART;TZID=America/New_York:20260302T093000
DTEND;TZID=America/New_York:20260302T094500
SUMMARY:Stand-up\\, daily
RRULE:FREQ=WEEKLY;BYDAY=MO,WE
EXDATE;TZID=America/New_York:20260304T093000
RDATE:20260305T150000Z
ORGANIZER;CN=Ann:mailto:ann@client.com
ATTENDEE;CN="Berg, Bob";PARTSTAT=NEEDS-ACTION:MAILTO:bob@client.com
STATUS:TENTATIVE
"""
    )

    assert (event.id, event.title, event.version) == ("standup@x", "Stand-up, daily", 3)
    assert (event.time_zone, event.status) == ("America/New_York", "tentative")
    assert event.start.isoformat() == "2026-03-02T09:30:00-05:00"
    assert event.end.isoformat() == "2026-03-02T09:45:00-05:00"
    assert event.recurrence == (
        "RRULE:FREQ=WEEKLY;BYDAY=MO,WE\nRDATE:20260305T150000Z\nEXDATE:20260304T143000Z"
    )
    assert event.created_by == "ann@client.com"
    [bob] = event.attendees
    assert (bob.email, bob.name, bob.status) == ("bob@client.com", "Berg, Bob", "needs_action")
    assert event.updated_at == datetime(2026, 3, 1, 8, tzinfo=UTC)


def test_one_of_a_series_names_the_series_and_when_it_would_have_begun() -> None:
    event = one(
        "UID:s@x\nRECURRENCE-ID;TZID=Europe/Stockholm:20260310T093000\n"
        "DTSTART:20260312T083000Z\nDURATION:PT15M\nSTATUS:CANCELLED"
    )

    assert (event.id, event.series_id) == ("s@x/20260310T083000Z", "s@x")
    assert event.original_start == datetime(2026, 3, 10, 8, 30, tzinfo=UTC)
    assert (event.end - event.start).total_seconds() == 900
    assert event.status == "cancelled"
    assert event.recurrence is None


def test_one_that_stands_for_all_later_ones_says_so_and_has_an_id_of_its_own() -> None:
    text = (
        "UID:s@x\nRECURRENCE-ID;{}TZID=Europe/Stockholm:20260310T093000\n"
        "DTSTART;TZID=Europe/Stockholm:20260311T100000\nDURATION:PT1H"
    )

    rest, single = one(text.format("RANGE=THISANDFUTURE;")), one(text.format(""))

    assert (rest.this_and_future, single.this_and_future) == (True, False)
    assert (rest.id, single.id) == ("s@x/20260310T083000Z/on", "s@x/20260310T083000Z")
    assert (rest.series_id, rest.recurrence) == ("s@x", None)
    assert rest.original_start == datetime(2026, 3, 10, 8, 30, tzinfo=UTC)
    assert rest.start.isoformat() == "2026-03-11T10:00:00+01:00"


def test_a_whole_day_has_no_end_but_its_own() -> None:
    event = one("UID:d\nDTSTART;VALUE=DATE:20260310\nSUMMARY:Birthday")

    assert event.all_day
    assert event.start.isoformat() == "2026-03-10T00:00:00+01:00"
    assert event.end.isoformat() == "2026-03-11T00:00:00+01:00"


@pytest.mark.parametrize(
    ("zone", "head", "name", "start"),
    [
        ("W. Europe Standard Time", "", "Europe/Berlin", "2026-07-01T09:00:00+02:00"),
        ("/mozilla.org/20070129_1/Asia/Tokyo", "", "Asia/Tokyo", "2026-07-01T09:00:00+09:00"),
        (
            "Our own east",
            CUSTOM_ZONE.format(name="Our own east"),
            None,
            "2026-07-01T09:00:00-04:00",
        ),
    ],
)
def test_a_zone_is_known_by_windows_name_or_by_its_own_description(
    zone: str, head: str, name: str | None, start: str
) -> None:
    event = one(f'UID:z\nDTSTART;TZID="{zone}":20260701T090000', head=head)

    assert event.start.isoformat() == start
    if name:
        assert event.time_zone == name
    if event.time_zone:
        assert ZoneInfo(event.time_zone).utcoffset(event.start) == event.start.utcoffset()


def test_a_time_without_a_zone_is_in_that_of_the_calendar_else_of_the_user() -> None:
    text = "UID:f\nDTSTART:20260310T090000"

    assert one(text).start.isoformat() == "2026-03-10T09:00:00+01:00"
    there = one(text, head="X-WR-TIMEZONE:Asia/Tokyo\n")
    assert (there.start.isoformat(), there.time_zone) == ("2026-03-10T09:00:00+09:00", "Asia/Tokyo")


def test_a_cancelled_calendar_cancels_its_events() -> None:
    assert one("UID:c\nDTSTART:20260310T090000Z", head="METHOD:CANCEL\n").status == "cancelled"


def test_an_event_without_an_id_keeps_the_one_of_its_content() -> None:
    first, again = (one("DTSTART:20260310T090000Z\nSUMMARY:Lunch") for _ in range(2))

    assert first.id == again.id
    assert first.id != one("DTSTART:20260310T090000Z\nSUMMARY:Dinner").id


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("UID:b\nSUMMARY:x", "no_start"),
        ("UID:b\nDTSTART:soon", "malformed_event"),
        ("UID:b\nDTSTART:20260310T090000Z\nDTSTART:20260311T090000Z", "two_times"),
        (
            "UID:b\nRECURRENCE-ID;RANGE=THISANDPRIOR:20260310T090000Z\nDTSTART:20260311T090000Z",
            "unknown_range",
        ),
    ],
)
def test_what_cannot_be_read_is_rejected_alone_and_by_its_name(text: str, reason: str) -> None:
    good = "UID:good\nDTSTART:20260310T090000Z"

    found = read_events(calendar(good, text, good), zone=STOCKHOLM)

    assert [type(each) for each in found] == [Event, Rejected, Event]
    assert isinstance(found[1], Rejected)
    assert (found[1].source_id, found[1].reason) == ("b", reason)


def test_the_events_of_a_file_that_breaks_off_are_read(tmp_path: Path) -> None:
    whole = calendar("UID:a\nDTSTART:20260310T090000Z", "UID:b\nDTSTART:20260311T090000Z")
    path = tmp_path / "cut.ics"
    path.write_bytes(whole.partition(b"END:VCALENDAR")[0] + b"BEGIN:VEVENT\r\nUID:c\r\n")

    with closing(calendar_pages(path, zone=STOCKHOLM)) as pages:
        found = pages.page(None).items

    assert [event.id for event in found][:2] == ["a", "b"]


@pytest.mark.parametrize("content", [b"", b"Hello.", b"From x\n\nBEGIN"])
def test_what_is_no_calendar_is_said_to_be_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.ics"
    path.write_bytes(content)

    with pytest.raises(NoEventsHere, match="not a calendar file"):
        load(path)
    with pytest.raises(NoEventsHere, match="cannot be read"):
        load(tmp_path / "absent.ics")


@needs_corpus
def test_real_calendars_valid_and_broken_are_accounted_for() -> None:
    """240 files of three projects' own tests, broken ones among them."""
    events = rejected = 0
    reasons: set[str] = set()
    with gzip.open(CORPUS / "calendar.jsonl.gz", "rt") as lines:
        for line in lines:
            entry = json.loads(line)
            raw = entry["raw"].encode("iso-8859-1")
            if len(raw) > 300_000:
                continue  # one file of thousands of birthdays says nothing that others don't
            for found in read_events(raw, zone=STOCKHOLM):
                if isinstance(found, Rejected):
                    rejected += 1
                    reasons.add(found.reason)
                else:
                    events += 1
                    assert found.start.tzinfo is not None
                    assert found.end.tzinfo is not None
    assert (events, rejected) == (1751, 58)
    assert reasons == {"no_start", "malformed_event", "two_times"}


def test_events_that_begin_and_never_end_are_none() -> None:
    raw = b"BEGIN:VCALENDAR\n" + b"BEGIN:VEVENT\n" * 40

    assert read_events(raw, zone=STOCKHOLM) == []
