"""Writes to calendars at Google: once, on the version that was looked at, and told to guests."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest
from django.utils import timezone

from integrations.exceptions import Changed, NotPermitted, Rejected, Unavailable
from integrations.models import CalendarWrite
from integrations.ports.evidence import CannotTell, NotPerformed, Performed
from integrations.providers.google_calendar.writer import id_of_key
from tests.google_calendar_world import ADDRESS, TEAM
from tests.integrations.providers.google_calendar.box import Box
from tests.scripts.operations import LUNCH, forget

pytestmark = pytest.mark.django_db
TOM, ANN = "tom@elsewhere.test", "ann@elsewhere.test"
BEFORE = timedelta(minutes=5)


def older() -> None:
    """What was under way is so no longer."""
    CalendarWrite.objects.update(changed_at=timezone.now() - BEFORE)


def test_guests_hear_of_each_write_and_nobody_does_where_there_are_none(box: Box) -> None:
    alone = box.writer.create_event(LUNCH, key="remit-1")
    assert box.google.told == []

    box.writer.change_event(alone["id"], {"attendees": [TOM]}, revision=None, key="remit-2")
    people = [{"email": TOM, "responseStatus": "accepted"}, {"email": ADDRESS, "self": True}]
    box.google.put(id_of_key("remit-1"), "Lunch", attendees=people)
    box.writer.change_event(alone["id"], {"attendees": [TOM, ANN]}, revision=None, key="remit-3")
    kept = box.google.events[ADDRESS, id_of_key("remit-1")]["attendees"]
    box.writer.cancel_event(alone["id"], revision=None, key="remit-4")

    both = sorted([ANN, TOM])
    assert [(how, set(people) - {ADDRESS}) for how, people in box.google.told] == [
        ("PATCH", {TOM}),
        ("PATCH", set(both)),
        ("DELETE", set(both)),
    ]
    assert {one["email"]: one.get("responseStatus") for one in kept} == {
        ADDRESS: None,
        TOM: "accepted",
        ANN: None,
    }


def test_a_lost_answer_is_found_by_the_mark_and_nothing_is_done_twice(box: Box) -> None:
    box.google.lose = 1
    with pytest.raises(Unavailable):
        box.writer.create_event({**LUNCH, "attendees": [TOM]}, key="remit-1")

    found = box.reader.evidence("remit-1")
    assert isinstance(found, Performed)
    assert box.reader.event(found.response["id"]).title == LUNCH["title"]
    again = box.writer.create_event({**LUNCH, "attendees": [TOM]}, key="remit-1")
    assert again["id"] == found.response["id"]
    assert box.google.told == [("POST", [TOM])]

    box.google.lose = 1
    with pytest.raises(Unavailable):
        box.writer.change_event(again["id"], {"title": "X"}, revision=None, key="remit-2")
    assert isinstance(box.reader.evidence("remit-2"), Performed)
    box.writer.change_event(again["id"], {"title": "X"}, revision=None, key="remit-2")
    assert len(box.google.writes) == 2


def test_what_did_not_reach_google_was_not_done(box: Box) -> None:
    box.google.put("plan", "Plan")
    id = box.id_of("Plan")
    failing: tuple[Callable[[], object], ...] = (
        lambda: box.writer.create_event(LUNCH, key="remit-1"),
        lambda: box.writer.change_event(id, {"title": "X"}, revision=None, key="remit-2"),
        lambda: box.writer.cancel_event(id, revision=None, key="remit-3"),
    )
    for number, write in enumerate(failing, start=1):
        box.google.before_write(500)
        with pytest.raises(Unavailable):
            write()
        # A slow server may still do it.
        assert isinstance(box.reader.evidence(f"remit-{number}"), CannotTell)
        older()
        assert isinstance(box.reader.evidence(f"remit-{number}"), NotPerformed)
    assert box.google.titles() == ["Plan"]


def test_what_somebody_changes_on_top_is_left_to_a_person(box: Box) -> None:
    box.google.put("plan", "Plan")
    id = box.id_of("Plan")
    box.google.lose = 1
    with pytest.raises(Unavailable):
        box.writer.change_event(id, {"title": "X"}, revision=None, key="remit-1")
    box.google.events[ADDRESS, "plan"].pop("extendedProperties")
    box.google.put("plan", "Mine")

    assert box.reader.evidence("remit-1") == CannotTell(ask_again_at=None)


def test_an_id_that_an_invitation_took_is_not_taken_for_remits_own(box: Box) -> None:
    box.google.put(id_of_key("remit-1"), "A stranger's", organizer={"email": TOM})

    with pytest.raises(Rejected):
        box.writer.create_event(LUNCH, key="remit-1")
    older()
    assert isinstance(box.reader.evidence("remit-1"), NotPerformed)
    assert box.google.titles() == ["A stranger's"]


def test_what_somebody_deleted_meanwhile_is_not_made_again(box: Box) -> None:
    made = box.writer.create_event(LUNCH, key="remit-1")
    box.writer.cancel_event(made["id"], revision=None, key="remit-2")
    forget()

    assert box.writer.create_event(LUNCH, key="remit-1")["id"] == made["id"]
    assert box.google.titles() == []


def test_only_who_invited_changes_an_event_and_only_in_a_calendar_of_their_own(box: Box) -> None:
    box.google.put("tom", "Tom's", organizer={"email": TOM})
    box.google.calendars[TEAM] = "reader"
    box.google.put("team", "Team's", calendar=TEAM)

    toms, teams = box.id_of("Tom's"), box.id_of("Team's")
    change = partial(box.writer.change_event, changes={"title": "X"})
    writes: tuple[Callable[..., object], ...] = (change, box.writer.cancel_event)
    for number, write in enumerate(writes):
        with pytest.raises(Rejected):
            write(toms, revision=None, key=f"remit-{number}")
        with pytest.raises(NotPermitted):
            write(teams, revision=None, key=f"remit-1{number}")
    assert (box.google.writes, box.google.titles()) == ([], ["Team's", "Tom's"])


def test_one_of_a_series_is_cancelled_and_takes_place_again(box: Box) -> None:
    box.google.put("weekly", "Weekly", weekly=True)
    one = box.reader.event(f"{box.id_of('Weekly')}_20260316T100000Z")

    said = box.writer.cancel_event(one.id, revision=one.revision, key="remit-1")
    cancelled = box.reader.event(one.id)
    assert (cancelled.status, cancelled.revision) == ("cancelled", said["revision"])
    with pytest.raises(Changed):
        box.writer.cancel_event(one.id, revision=one.revision, key="remit-2")
    forget()
    assert isinstance(box.reader.evidence("remit-1"), Performed)

    box.writer.change_event(
        one.id, {"status": "confirmed"}, revision=said["revision"], key="remit-3"
    )
    assert box.reader.event(one.id).status == "confirmed"


def test_the_times_of_a_series_of_which_some_were_moved_stay(box: Box) -> None:
    box.google.put("weekly", "Weekly", weekly=True)
    id = box.id_of("Weekly")
    times = {name: LUNCH[name] for name in ("start", "end")}
    box.writer.change_event(f"{id}_20260316T100000Z", times, revision=None, key="remit-1")
    box.look()

    with pytest.raises(Rejected):
        box.writer.change_event(id, times, revision=None, key="remit-2")
    box.writer.change_event(id, {"title": "Daily"}, revision=None, key="remit-3")
    assert box.google.titles() == ["Daily"]


def test_days_stay_days_and_become_hours_where_hours_are_given(box: Box) -> None:
    box.google.put("day", "Day", start={"date": "2026-03-12"}, end={"date": "2026-03-13"})
    id = box.id_of("Day")
    days = {"start": "2026-03-14T00:00:00+00:00", "end": "2026-03-15T00:00:00+00:00"}
    box.writer.change_event(id, days, revision=None, key="remit-1")
    assert box.google.events[ADDRESS, "day"]["start"] == {"date": "2026-03-14"}

    hours = {name: LUNCH[name] for name in ("start", "end")}
    box.writer.change_event(id, hours, revision=None, key="remit-2")
    assert box.google.events[ADDRESS, "day"]["start"] == {"dateTime": LUNCH["start"]}


def test_an_invitation_is_answered_for_the_user_alone_and_who_invites_hears_of_it(box: Box) -> None:
    guests = [
        {"email": TOM, "responseStatus": "accepted"},
        {"email": ADDRESS, "self": True, "responseStatus": "needsAction"},
    ]
    box.google.put("plan", "Plan", attendees=guests, organizer={"email": TOM})
    id, seen = box.id_of("Plan"), box.google.events[ADDRESS, "plan"]["etag"]

    for _ in range(2):  # the second one changes nothing
        box.writer.answer_event(id, "tentative", proposed=None, revision=seen, key="remit-1")

    kept = box.google.events[ADDRESS, "plan"]["attendees"]
    assert {one["email"]: one["responseStatus"] for one in kept} == {
        TOM: "accepted",
        ADDRESS: "tentative",
    }
    assert box.google.told == [("PATCH", [ADDRESS, TOM])]


def test_what_is_no_invitation_another_version_or_another_time_is_not_answered(box: Box) -> None:
    own = {"email": ADDRESS, "self": True, "responseStatus": "needsAction"}
    box.google.put("plan", "Plan", attendees=[own], organizer={"email": TOM})
    box.google.put("open", "Open", organizer={"email": TOM})
    plan, without, proposed = box.id_of("Plan"), box.id_of("Open"), (LUNCH["start"], LUNCH["end"])

    with pytest.raises(Rejected, match="no other time"):
        box.writer.answer_event(plan, "declined", proposed=proposed, revision=None, key="remit-1")
    with pytest.raises(Changed):
        box.writer.answer_event(plan, "declined", proposed=None, revision='"1"', key="remit-2")
    with pytest.raises(Rejected, match="not among those who are invited"):
        box.writer.answer_event(without, "declined", proposed=None, revision=None, key="remit-3")
    assert box.google.writes == []
