"""What is new in calendars at Google, whatever becomes of its tokens."""

from typing import Any

import pytest

from integrations.contracts import Event
from integrations.exceptions import RateLimited
from integrations.network.gate import Gate
from tests.google_calendar_world import TEAM
from tests.integrations.providers.google_calendar.box import Box
from tests.tracker_world import Refuse

pytestmark = pytest.mark.django_db


def test_what_is_there_at_first_is_no_news_and_all_afterwards_is(box: Box) -> None:
    box.google.put("old", "Old")
    assert box.look() == []

    box.google.put("new", "New")
    box.google.put("old", "Old, later")
    assert box.look() == [("created", "New"), ("updated", "Old, later")]
    assert box.look() == []

    gone = box.id_of("New")
    box.google.delete("new")
    assert box.look() == [("deleted", gone)]


def test_a_lost_token_loses_nothing_and_makes_no_storm(box: Box) -> None:
    for name in ("stays", "goes", "changes"):
        box.google.put(name, name)
    box.look()
    gone = box.id_of("goes")
    box.google.delete("goes")
    box.google.put("changes", "changed")
    box.google.put("comes", "comes")
    box.google.forget_tokens()
    box.google.page = 2

    assert box.look() == [("updated", "changed"), ("created", "comes"), ("deleted", gone)]
    assert box.look() == []


def test_what_was_made_long_ago_in_a_calendar_that_is_added_is_no_new_event(box: Box) -> None:
    box.look()
    box.google.calendars[TEAM] = "reader"
    box.google.put("plan", "Plan", calendar=TEAM, created="2020-01-01T00:00:00.000Z")
    box.google.put("lunch", "Lunch", calendar=TEAM)
    assert box.look() == [("updated", "Plan"), ("created", "Lunch")]

    gone = {box.id_of("Plan"), box.id_of("Lunch")}
    del box.google.calendars[TEAM]
    assert {id for kind, id in box.look() if kind == "deleted"} == gone


def test_one_of_a_series_that_somebody_moves_or_cancels_comes_by_itself(box: Box) -> None:
    box.google.put("weekly", "Weekly", weekly=True)
    box.look()
    series = box.id_of("Weekly")
    planned = {"dateTime": "2026-03-16T10:00:00Z"}
    about: dict[str, Any] = {"recurringEventId": "weekly", "originalStartTime": planned}
    box.google.put("weekly_20260316T100000Z", "Moved", **about)
    box.google.put(
        "weekly_20260323T100000Z",
        "Weekly",
        status="cancelled",
        **{**about, "originalStartTime": {"dateTime": "2026-03-23T10:00:00Z"}},
    )

    assert box.look() == [("updated", "Moved"), ("updated", "")]
    last = box.reader.event(f"{series}_20260323T100000Z")
    assert (last.status, last.series_id) == ("cancelled", series)

    box.google.delete("weekly")
    assert sorted(box.look()) == sorted(
        ("deleted", id)
        for id in (series, f"{series}_20260316T100000Z", f"{series}_20260323T100000Z")
    )


def test_not_so_fast_is_obeyed_and_said(box: Box) -> None:
    error = {"code": 403, "errors": [{"reason": "rateLimitExceeded"}]}
    box.google.refuse = [Refuse(403, {"error": error}, {"Retry-After": "90"})] * 3

    with pytest.raises(RateLimited) as refused:
        box.look()
    assert refused.value.retry_after == 90.0
    # Every process waits now, without asking.
    asked = box.google.reads
    with pytest.raises(RateLimited), Gate(f"google {box.account.id}").slot():
        pass
    assert box.google.reads == asked


def test_guests_whom_nobody_can_list_make_the_people_unknown(box: Box) -> None:
    me = {"email": box.account.address, "self": True}
    box.google.put("all", "All", attendees=[me], attendeesOmitted=True)
    box.google.put("room", "Room", attendees=[{"displayName": "Room 5"}])
    tom = {"email": "tom@elsewhere.test", "responseStatus": "needsAction"}
    box.google.put("tom", "Tom", organizer={"email": "tom@elsewhere.test"}, attendees=[tom, me])

    found = {one.title: one for one in events(box)}
    assert (found["All"].created_by, found["Room"].created_by) == ("", "")
    assert found["Tom"].created_by == "tom@elsewhere.test"
    assert found["Tom"].attendees[0].status == "needs_action"


def events(box: Box) -> list[Event]:
    found = box.reader.items(since=None, cursor=None, limit=50).items
    return [one for one in found if isinstance(one, Event)]
