"""Writes to calendars at Microsoft: once, on the version that was seen, and guests hear of it."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from integrations.exceptions import (
    Changed,
    NotFound,
    NotPermitted,
    RateLimited,
    Rejected,
    Unavailable,
)
from integrations.models import CalendarWrite
from integrations.ports.evidence import CannotTell, NotPerformed, Performed
from tests.integrations.providers.microsoft_calendar.box import Box
from tests.microsoft_calendar_world import ADDRESS, OWN, TEAM, guest, person, when
from tests.scripts.operations import LUNCH, forget

pytestmark = pytest.mark.django_db
TOM, ANN = "tom@elsewhere.test", "ann@elsewhere.test"
BEFORE = timedelta(minutes=5)
ANSWERED = [("accepted", "accept"), ("tentative", "tentativelyAccept"), ("declined", "decline")]


def older() -> None:
    """What was under way is so no longer."""
    CalendarWrite.objects.update(changed_at=timezone.now() - BEFORE)


def invited(box: Box, **more: Any) -> str:
    people = [guest(ADDRESS, "none"), guest(ANN, "accepted")]
    about: dict[str, Any] = {"isOrganizer": False, "organizer": person(TOM), "attendees": people}
    box.outlook.put("plan", "Plan", **{**about, "responseStatus": {"response": "none"}, **more})
    return box.id_of("Plan")


def test_guests_hear_of_each_write_and_nobody_does_where_there_are_none(box: Box) -> None:
    alone = box.writer.create_event(LUNCH, key="remit-1")
    assert box.outlook.notified == []

    box.writer.change_event(alone["id"], {"attendees": [TOM]}, revision=None, key="remit-2")
    ((_, id),) = box.outlook.events
    room = {**guest("room5@office.test"), "type": "resource"}
    box.outlook.put(id, "Lunch", attendees=[guest(TOM, "accepted"), room])
    wanted = [TOM, ANN, "room5@office.test"]
    box.writer.change_event(alone["id"], {"attendees": wanted}, revision=None, key="remit-3")
    kept = box.outlook.events[OWN, id]["attendees"]
    box.writer.cancel_event(alone["id"], revision=None, key="remit-4")

    assert [(how, sorted(people)) for how, people in box.outlook.notified] == [
        ("PATCH", [TOM]),
        ("PATCH", sorted(wanted)),
        ("DELETE", sorted(wanted)),
    ]
    assert {one["emailAddress"]["address"]: one["type"] for one in kept} == {
        TOM: "required",
        ANN: "required",
        "room5@office.test": "resource",
    }


def test_the_user_stays_where_they_are_named_among_the_guests(box: Box) -> None:
    box.outlook.put("plan", "Plan", attendees=[guest(ADDRESS), guest(TOM)])
    id = box.id_of("Plan")
    box.writer.change_event(id, {"attendees": [ANN]}, revision=None, key="remit-1")

    kept = box.outlook.events[OWN, "plan"]["attendees"]
    assert [one["emailAddress"]["address"] for one in kept] == [ADDRESS, ANN]


def test_a_lost_answer_is_found_by_the_mark_and_nothing_is_done_twice(box: Box) -> None:
    box.outlook.lose = 1
    with pytest.raises(Unavailable):
        box.writer.create_event({**LUNCH, "attendees": [TOM]}, key="remit-1")

    found = box.reader.evidence("remit-1")
    assert isinstance(found, Performed)
    assert box.reader.event(found.response["id"]).title == LUNCH["title"]
    again = box.writer.create_event({**LUNCH, "attendees": [TOM]}, key="remit-1")
    assert again["id"] == found.response["id"]
    assert box.outlook.notified == [("POST", [TOM])]

    box.outlook.lose = 1
    with pytest.raises(Unavailable):
        box.writer.change_event(again["id"], {"title": "X"}, revision=None, key="remit-2")
    assert isinstance(box.reader.evidence("remit-2"), Performed)
    box.writer.change_event(again["id"], {"title": "X"}, revision=None, key="remit-2")
    assert len(box.outlook.writes) == 2

    box.outlook.lose = 1
    with pytest.raises(Unavailable):
        box.writer.cancel_event(again["id"], revision=None, key="remit-3")
    assert isinstance(box.reader.evidence("remit-3"), Performed)
    box.writer.cancel_event(again["id"], revision=None, key="remit-3")
    assert len(box.outlook.writes) == 3


def test_what_did_not_reach_microsoft_was_not_done(box: Box) -> None:
    box.outlook.put("plan", "Plan")
    id = box.id_of("Plan")
    failing: tuple[Callable[[], object], ...] = (
        lambda: box.writer.create_event(LUNCH, key="remit-1"),
        lambda: box.writer.change_event(id, {"title": "X"}, revision=None, key="remit-2"),
        lambda: box.writer.cancel_event(id, revision=None, key="remit-3"),
    )
    for number, write in enumerate(failing, start=1):
        box.outlook.before_write(500)
        with pytest.raises(Unavailable):
            write()
        # A slow server may still do it.
        assert isinstance(box.reader.evidence(f"remit-{number}"), CannotTell)
        older()
        assert isinstance(box.reader.evidence(f"remit-{number}"), NotPerformed)
    assert box.outlook.titles() == ["Plan"]


def test_what_somebody_changes_on_top_is_left_to_a_person(box: Box) -> None:
    box.outlook.put("plan", "Plan")
    id = box.id_of("Plan")
    box.outlook.lose = 1
    with pytest.raises(Unavailable):
        box.writer.change_event(id, {"title": "X"}, revision=None, key="remit-1")
    box.outlook.marks.clear()
    box.outlook.put("plan", "Mine")

    assert box.reader.evidence("remit-1") == CannotTell(ask_again_at=None)


def test_what_somebody_deleted_meanwhile_is_not_made_again(box: Box) -> None:
    made = box.writer.create_event(LUNCH, key="remit-1")
    box.writer.cancel_event(made["id"], revision=None, key="remit-2")
    forget()

    with pytest.raises(Rejected) as refused:
        box.writer.create_event(LUNCH, key="remit-1")
    assert refused.value.outcome_unknown
    assert box.reader.evidence("remit-1") == CannotTell(ask_again_at=None)
    assert box.outlook.titles() == []


def test_what_microsoft_lists_late_is_never_said_to_have_failed(box: Box) -> None:
    box.outlook.lose, box.outlook.lists_marks = 1, False
    with pytest.raises(Unavailable):
        box.writer.create_event({**LUNCH, "attendees": [TOM]}, key="remit-1")
    older()
    assert isinstance(box.reader.evidence("remit-1"), NotPerformed)

    with pytest.raises(Rejected) as refused:  # so it is tried again
        box.writer.create_event({**LUNCH, "attendees": [TOM]}, key="remit-1")
    assert refused.value.outcome_unknown
    assert box.reader.evidence("remit-1") == CannotTell(ask_again_at=None)
    box.outlook.lists_marks = True
    assert isinstance(box.reader.evidence("remit-1"), Performed)
    assert box.outlook.notified == [("POST", [TOM])]


def test_a_change_between_look_and_write_is_refused_by_microsoft(box: Box) -> None:
    box.outlook.put("plan", "Plan")
    id = box.id_of("Plan")
    box.outlook.refuse_write = 412
    with pytest.raises(Changed):
        box.writer.change_event(id, {"title": "X"}, revision=None, key="remit-1")
    seen = box.outlook.etag("plan")
    box.writer.change_event(id, {"title": "Y"}, revision=seen, key="remit-2")
    assert box.outlook.writes[-1].headers["if-match"] == seen


def test_only_who_invited_changes_an_event_and_only_in_a_calendar_to_be_changed(box: Box) -> None:
    box.outlook.put("tom", "Tom's", organizer=person(TOM), isOrganizer=False)
    box.outlook.calendars[TEAM] = ("Team", ADDRESS, False)
    box.outlook.put("team", "Team's", calendar=TEAM)
    box.outlook.put("open", "Open", isDraft=True)

    change = partial(box.writer.change_event, changes={"title": "X"})
    writes: tuple[Callable[..., object], ...] = (change, box.writer.cancel_event)
    for title in ("Tom's", "Team's", "Open"):
        id = box.id_of(title)
        for number, write in enumerate(writes):
            with pytest.raises(Rejected):
                write(id, revision=None, key=f"remit-{title}-{number}")
    assert (box.outlook.writes, box.outlook.titles()) == ([], ["Open", "Team's", "Tom's"])


def test_who_agreed_to_reading_alone_changes_nothing(box: Box) -> None:
    box.outlook.put("plan", "Plan")
    id = box.id_of("Plan")
    box.outlook.refuse_write = 403
    with pytest.raises(NotPermitted):
        box.writer.change_event(id, {"title": "X"}, revision=None, key="remit-1")
    assert box.outlook.titles() == ["Plan"]


def test_one_of_a_series_is_cancelled_once_and_does_not_take_place_again(box: Box) -> None:
    box.outlook.put("weekly", "Weekly", weekly=True, attendees=[guest(TOM)])
    one = box.reader.event(f"{box.id_of('Weekly')}_20260316T100000Z")

    said = box.writer.cancel_event(one.id, revision=one.revision, key="remit-1")
    cancelled = box.reader.event(one.id)
    assert (cancelled.status, cancelled.revision) == ("cancelled", said["revision"])
    forget()
    assert isinstance(box.reader.evidence("remit-1"), Performed)
    box.writer.cancel_event(one.id, revision=one.revision, key="remit-1")
    assert box.outlook.notified == [("DELETE", [TOM])]

    with pytest.raises(Rejected, match="does not take place any more"):
        box.writer.cancel_event(one.id, revision=None, key="remit-2")
    with pytest.raises(Rejected):
        box.writer.change_event(one.id, {"status": "confirmed"}, revision=None, key="remit-3")
    assert len(box.outlook.writes) == 1


def test_what_microsoft_cannot_do_is_refused_with_a_sentence(box: Box) -> None:
    box.outlook.put("weekly", "Weekly", weekly=True)
    box.outlook.put("call", "Call", isOnlineMeeting=True)
    weekly, call = box.id_of("Weekly"), box.id_of("Call")
    times = {name: LUNCH[name] for name in ("start", "end")}
    refused: tuple[tuple[str, dict[str, Any], str], ...] = (
        (weekly, times, "times of a whole series"),
        (call, {"description": "x"}, "how to take part"),
        (call, {"start": LUNCH["start"]}, "go together"),
        (call, {"status": "confirmed"}, "take place again"),
        (call, {"attendees": ["Tom"]}, "plain address"),
    )
    for number, (id, changes, said) in enumerate(refused):
        with pytest.raises(Rejected, match=said):
            box.writer.change_event(id, changes, revision=None, key=f"remit-{number}")
    assert box.outlook.writes == []
    box.writer.change_event(weekly, {"title": "Daily"}, revision=None, key="remit-9")
    assert box.outlook.titles() == ["Call", "Daily"]


def test_days_stay_days_and_become_hours_where_hours_are_given(box: Box) -> None:
    day: dict[str, Any] = {"start": when("2026-03-12T00:00:00"), "end": when("2026-03-13T00:00:00")}
    box.outlook.put("day", "Day", isAllDay=True, **day)
    id = box.id_of("Day")
    days = {"start": "2026-03-14T00:00:00+00:00", "end": "2026-03-15T00:00:00+00:00"}
    box.writer.change_event(id, days, revision=None, key="remit-1")
    found = box.outlook.events[OWN, "day"]
    assert (found["start"], found["isAllDay"]) == (when("2026-03-14T00:00:00"), True)

    hours = {name: LUNCH[name] for name in ("start", "end")}
    box.writer.change_event(id, hours, revision=None, key="remit-2")
    found = box.outlook.events[OWN, "day"]
    assert (found["start"], found["isAllDay"]) == (when("2026-03-09T11:00:00"), False)


def test_times_are_written_in_the_zone_that_the_event_had(box: Box) -> None:
    box.outlook.put("plan", "Plan", originalStartTimeZone="W. Europe Standard Time")
    times = {name: LUNCH[name] for name in ("start", "end")}
    box.writer.change_event(box.id_of("Plan"), times, revision=None, key="remit-1")

    zone = "W. Europe Standard Time"
    assert box.outlook.writes[-1].body["start"] == {
        "dateTime": "2026-03-09T12:00:00",
        "timeZone": zone,
    }


@pytest.mark.parametrize(("answer", "how"), ANSWERED)
def test_an_invitation_is_answered_once_and_who_invites_hears_of_it(
    box: Box, answer: Any, how: str
) -> None:
    id = invited(box)
    seen = box.outlook.etag("plan")
    for _ in range(2):  # the second one changes nothing
        box.writer.answer_event(id, answer, proposed=None, revision=seen, key="remit-1")
    assert box.outlook.notified == [(how, [TOM])]


@pytest.mark.parametrize(("answer", "how"), ANSWERED)
def test_a_lost_answer_to_an_invitation_is_seen_or_left_to_a_person(
    box: Box, answer: Any, how: str
) -> None:
    id = invited(box)
    box.outlook.lose = 1
    with pytest.raises(Unavailable):
        box.writer.answer_event(id, answer, proposed=None, revision=None, key="remit-1")

    found = box.reader.evidence("remit-1")
    if answer == "declined":
        assert found == CannotTell(ask_again_at=None)
        with pytest.raises(NotFound):
            box.writer.answer_event(id, answer, proposed=None, revision=None, key="remit-1")
    else:
        assert isinstance(found, Performed)
        box.writer.answer_event(id, answer, proposed=None, revision=None, key="remit-1")
    assert box.outlook.notified == [(how, [TOM])]


def test_an_answer_that_did_not_reach_microsoft_was_not_given(box: Box) -> None:
    id = invited(box)
    box.outlook.before_write(500)
    with pytest.raises(Unavailable):
        box.writer.answer_event(id, "accepted", proposed=None, revision=None, key="remit-1")
    older()
    assert isinstance(box.reader.evidence("remit-1"), NotPerformed)
    box.outlook.put("plan", "Plan, later")
    assert box.reader.evidence("remit-1") == CannotTell(ask_again_at=None)
    assert box.outlook.notified == []


def test_another_time_goes_with_an_answer_where_it_is_taken(box: Box) -> None:
    id, proposed = invited(box), (LUNCH["start"], LUNCH["end"])
    box.writer.answer_event(id, "tentative", proposed=proposed, revision=None, key="remit-1")
    assert box.outlook.writes[-1].body["proposedNewTime"]["start"] == {
        "dateTime": "2026-03-09T11:00:00",
        "timeZone": "UTC",
    }
    box.outlook.put("plan", "Plan", allowNewTimeProposals=False)
    with pytest.raises(Rejected, match="takes no other time"):
        box.writer.answer_event(id, "declined", proposed=proposed, revision=None, key="remit-2")
    assert len(box.outlook.writes) == 1


def test_what_is_no_invitation_or_another_version_is_not_answered(box: Box) -> None:
    plan = invited(box)
    box.outlook.put("own", "Own")
    with pytest.raises(Changed):
        box.writer.answer_event(plan, "declined", proposed=None, revision='W/"1"', key="remit-1")
    with pytest.raises(Rejected, match="not among those who are invited"):
        box.writer.answer_event(
            box.id_of("Own"), "declined", proposed=None, revision=None, key="remit-2"
        )
    assert (box.outlook.writes, box.outlook.notified) == ([], [])


def test_a_wait_that_microsoft_asks_for_does_nothing(box: Box) -> None:
    box.outlook.put("plan", "Plan")
    id = box.id_of("Plan")
    box.outlook.refuse_write = 429
    with pytest.raises(RateLimited):
        box.writer.change_event(id, {"title": "X"}, revision=None, key="remit-1")
    assert box.outlook.titles() == ["Plan"]
