"""Writes to calendars on real servers: what those hold afterwards is what counts."""

from email import message_from_bytes, policy

import pytest

from integrations.exceptions import NotFound, Rejected
from integrations.models import CalendarWrite
from integrations.ports.evidence import Performed
from tests.calendar_world import event
from tests.integrations.providers.caldav.box import Box

pytestmark = pytest.mark.django_db

LUNCH = {
    "title": "Lunch, with; signs",
    "start": "2026-03-09T12:00:00+01:00",
    "end": "2026-03-09T13:00:00+01:00",
    "description": "First\nsecond",
}


def test_a_change_keeps_what_nobody_here_knows(box: Box) -> None:
    box.server.put(
        "plan",
        event(
            "Plan",
            "X-OWN:kept",
            "BEGIN:VALARM",
            "ACTION:DISPLAY",
            "DESCRIPTION:Plan",
            "TRIGGER:-PT5M",
            "END:VALARM",
        ),
    )
    before = box.only()

    changed = box.writer.change_event(
        before.id, {"title": "New plan"}, revision=before.revision, key="remit-2"
    )

    (text,) = box.server.held().values()
    assert "X-OWN:kept" in text
    assert "TRIGGER:-PT5M" in text
    assert "X-REMIT-ACTION:remit-2" in text
    found = box.reader.event(before.id)
    assert (found.title, found.start, found.end) == ("New plan", before.start, before.end)
    assert found.revision == changed["revision"] != before.revision


def mails(box: Box) -> list[tuple[str, str]]:
    """Who got which kind of invitation (its METHOD) from the calendar server itself."""
    found = []
    for _, receivers, content in box.server.sink.taken:
        parts = message_from_bytes(content, policy=policy.default).walk()
        calendars = [one for one in parts if one.get_content_type() == "text/calendar"]
        found += [(to, str(calendars[0].get_param("method"))) for to in receivers]
    return found


def test_people_are_invited_only_where_the_server_sends_invitations(box: Box) -> None:
    invited = {**LUNCH, "attendees": ["tom@elsewhere.test"]}
    if box.server.name == "radicale":
        with pytest.raises(Rejected, match="tells nobody"):
            box.writer.create_event(invited, key="remit-6")
        assert (box.server.held(), mails(box)) == ({}, [])
        return

    made = box.writer.create_event(invited, key="remit-6")

    assert mails(box) == [("tom@elsewhere.test", "REQUEST")]
    found = box.reader.event(made["id"])
    assert [one.email for one in found.attendees] == ["tom@elsewhere.test"]
    assert found.created_by == "nora@office.test"
    CalendarWrite.objects.update(done=False)
    box.writer.create_event(invited, key="remit-6")
    assert len(mails(box)) == 1
    box.writer.cancel_event(found.id, revision=found.revision, key="remit-11")
    assert mails(box)[1:] == [("tom@elsewhere.test", "CANCEL")]


WEEKLY = event("Weekly", "RRULE:FREQ=WEEKLY;COUNT=3", "X-OWN:kept", start="20260309T100000Z")
SECOND = "_20260316T100000Z"


def test_one_of_a_series_is_read_changed_and_put_back_alone(box: Box) -> None:
    box.server.put("weekly", WEEKLY)
    series = box.only()
    one = box.reader.event(series.id + SECOND)
    assert (one.series_id, one.recurrence, one.revision) == (series.id, None, series.revision)
    assert one.start.isoformat() == "2026-03-16T10:00:00+00:00"
    later = {"start": "2026-03-16T15:00:00+01:00", "end": "2026-03-16T16:00:00+01:00"}

    answer = box.writer.change_event(one.id, later, revision=one.revision, key="remit-7")

    moved = box.reader.event(one.id)
    assert answer == {"id": one.id, "revision": moved.revision}
    assert (moved.id, moved.series_id) == (one.id, series.id)
    assert moved.start.isoformat() == "2026-03-16T14:00:00+00:00"
    (text,) = box.server.held().values()
    assert text.count("BEGIN:VEVENT") == 2
    assert text.count("RRULE:") == 1
    assert "RECURRENCE-ID:20260316T100000Z" in text
    assert {one.id for one in box.page().items} == {series.id, moved.id}

    back = {"start": one.start.isoformat(), "end": one.end.isoformat()}
    box.writer.change_event(one.id, back, revision=moved.revision, key="remit-8")
    again = box.reader.event(one.id)
    assert (again.start, again.end) == (one.start, one.end)


def test_one_of_a_series_is_cancelled_alone_and_takes_place_again(box: Box) -> None:
    box.server.put("weekly", WEEKLY)
    one = box.reader.event(box.only().id + SECOND)

    answer = box.writer.cancel_event(one.id, revision=one.revision, key="remit-9")

    gone = box.reader.event(one.id)
    assert (gone.status, gone.revision) == ("cancelled", answer["revision"])
    assert box.reader.event(f"{one.series_id}_20260323T100000Z").status == "confirmed"
    CalendarWrite.objects.update(done=False)
    assert isinstance(box.reader.evidence("remit-9"), Performed)

    box.writer.change_event(one.id, {"status": "confirmed"}, revision=gone.revision, key="remit-10")
    assert box.reader.event(one.id).status == "confirmed"


def test_a_series_has_none_at_another_time(box: Box) -> None:
    box.server.put("weekly", WEEKLY)
    id = box.only().id

    for planned in ("_20260317T100000Z", "_20260330T100000Z", "_20260316", "_soon", "/x"):
        with pytest.raises(NotFound):
            box.reader.event(id + planned)
