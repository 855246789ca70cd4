"""Writes to calendars on real servers: what those hold afterwards is what counts."""

import pytest

from integrations.exceptions import Changed, Rejected
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


def test_an_event_is_created_once_under_its_key(box: Box) -> None:
    first = box.writer.create_event(LUNCH, key="remit-1")
    CalendarWrite.objects.update(done=False)
    again = box.writer.create_event(LUNCH, key="remit-1")

    assert box.server.titles() == ["Lunch\\, with\\; signs"]
    assert again == first
    found = box.reader.event(first["id"])
    assert (found.title, found.description) == ("Lunch, with; signs", "First\nsecond")
    assert found.start.isoformat() == "2026-03-09T11:00:00+00:00"
    assert found.revision == first["revision"]
    assert found.created_by == "nora@office.test"


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


def test_what_has_changed_meanwhile_is_not_changed(box: Box) -> None:
    box.server.put("plan", event("Plan"))
    before = box.only()
    box.server.put("plan", event("Plan of somebody else"))

    with pytest.raises(Changed):
        box.writer.change_event(before.id, {"title": "X"}, revision=before.revision, key="remit-3")
    with pytest.raises(Changed):
        box.writer.cancel_event(before.id, revision=before.revision, key="remit-4")

    assert box.server.titles() == ["Plan of somebody else"]


def test_an_event_is_cancelled_once(box: Box) -> None:
    box.server.put("plan", event("Plan"))
    before = box.only()

    box.writer.cancel_event(before.id, revision=before.revision, key="remit-5")

    assert box.server.held() == {}
    CalendarWrite.objects.update(done=False)
    assert isinstance(box.reader.evidence("remit-5"), Performed)
    box.writer.cancel_event(before.id, revision=before.revision, key="remit-5")


def test_people_are_invited_only_where_the_server_tells_them(box: Box) -> None:
    invited = {**LUNCH, "attendees": ["tom@office.test"]}
    if box.server.name == "radicale":
        with pytest.raises(Rejected, match="tells nobody"):
            box.writer.create_event(invited, key="remit-6")
        assert box.server.held() == {}
        return
    made = box.writer.create_event(invited, key="remit-6")

    found = box.reader.event(made["id"])
    assert [one.email for one in found.attendees] == ["tom@office.test"]
    assert found.created_by == "nora@office.test"
