"""Reads of calendars at Microsoft."""

from datetime import UTC, datetime
from typing import Any

import pytest

from integrations.contracts import Event
from integrations.exceptions import CursorExpired, NotFound
from tests.integrations.providers.microsoft_calendar.box import Box
from tests.microsoft_calendar_world import ADDRESS, BOSS, OWN, TEAM, guest, person, when

pytestmark = pytest.mark.django_db
TOM = "tom@elsewhere.test"


def titles(box: Box) -> list[str]:
    found: list[str] = []
    cursor = None
    while True:
        page = box.reader.items(since=None, cursor=cursor, limit=2)
        found += [one.title for one in page.items if isinstance(one, Event)]
        cursor = page.next_cursor
        if cursor is None:
            return found


def only(box: Box) -> Event:
    (found,) = box.reader.items(since=None, cursor=None, limit=9).items
    assert isinstance(found, Event)
    return found


def test_every_event_comes_once_over_pages_and_calendars_of_the_users_own(box: Box) -> None:
    box.outlook.calendars[TEAM] = ("Team", ADDRESS.upper(), False)
    box.outlook.calendars[BOSS] = ("Boss", "boss@office.test", True)
    for number in range(5):
        box.outlook.put(f"a{number}", f"Own {number}")
    box.outlook.put("a1", "Team", calendar=TEAM)  # one id, two calendars
    box.outlook.put("a1", "Boss", calendar=BOSS)

    assert titles(box) == ["Own 0", "Own 1", "Own 2", "Own 3", "Own 4", "Team"]
    assert [one.id for one in box.reader.calendars()] == [OWN, TEAM]
    with pytest.raises(CursorExpired):
        box.reader.items(since=None, cursor="nowhere= 2", limit=2)


def test_a_window_holds_what_takes_place_in_it_and_every_series_that_has_begun(box: Box) -> None:
    day: dict[str, Any] = {"start": when("2026-03-12T00:00:00"), "end": when("2026-03-13T00:00:00")}
    box.outlook.put(
        "day", "Day", isAllDay=True, originalStartTimeZone="W. Europe Standard Time", **day
    )
    box.outlook.put("before", "Before")
    box.outlook.put("weekly", "Weekly", weekly=True)
    since, until = datetime(2026, 3, 11, tzinfo=UTC), datetime(2026, 3, 20, tzinfo=UTC)

    found = box.reader.items_in_window(since=since, until=until, cursor=None, limit=9).items
    events = {one.title: one for one in found if isinstance(one, Event)}
    assert set(events) == {"Day", "Weekly"}
    assert (events["Day"].all_day, events["Day"].start.isoformat()) == (
        True,
        "2026-03-12T00:00:00+01:00",
    )
    assert (events["Day"].end - events["Day"].start).days == 1


def test_a_series_comes_with_what_was_changed_in_it(box: Box) -> None:
    box.outlook.put("weekly", "Weekly", weekly=True)
    box.outlook.change_one(
        "weekly", "2026-03-16", start=when("2026-03-17T12:00:00"), end=when("2026-03-17T13:00:00")
    )
    box.outlook.leave_out("weekly", "2026-03-23")

    page = box.reader.items(since=None, cursor=None, limit=9)
    series, moved, left_out = (one for one in page.items if isinstance(one, Event))
    assert series.recurrence == "RRULE:FREQ=WEEKLY;BYDAY=MO;WKST=SU;COUNT=3"
    assert (moved.id, moved.status) == (f"{series.id}_20260316T100000Z", "confirmed")
    assert moved.original_start == datetime(2026, 3, 16, 10, tzinfo=UTC)
    assert moved.start == datetime(2026, 3, 17, 12, tzinfo=UTC)
    assert (left_out.id, left_out.status) == (f"{series.id}_20260323T100000Z", "cancelled")
    assert box.reader.event(moved.id) == moved
    first = box.reader.event(f"{series.id}_20260309T100000Z")
    assert (first.series_id, first.recurrence, first.start) == (series.id, None, series.start)


def test_times_are_in_the_zone_that_windows_calls_its_own_way(box: Box) -> None:
    box.outlook.put("plan", "Plan", originalStartTimeZone="Pacific Standard Time")
    box.outlook.put("odd", "Odd", originalStartTimeZone="tzone://Microsoft/Custom")

    plan, odd = (box.reader.event(box.id_of(one)) for one in ("Plan", "Odd"))
    assert (plan.time_zone, plan.start.isoformat()) == (
        "America/Los_Angeles",
        "2026-03-09T03:00:00-07:00",
    )
    assert (odd.time_zone, odd.start.isoformat()) == ("", "2026-03-09T10:00:00+00:00")


def test_what_cannot_be_read_is_said_and_hides_nothing(box: Box) -> None:
    box.outlook.put("good", "Good")
    box.outlook.put("bad", "Bad", start={"dateTime": "soon", "timeZone": "UTC"})

    page = box.reader.items(since=None, cursor=None, limit=9)
    assert [one.title for one in page.items if isinstance(one, Event)] == ["Good"]
    assert [one.reason for one in page.rejected] == ["malformed_event"]


def test_what_is_gone_or_never_was_is_not_found(box: Box) -> None:
    box.outlook.put("plan", "Plan", weekly=True)
    id = box.id_of("Plan")
    for wanted in (f"{id}_20260317T100000Z", f"{id}_tomorrow", "event-0"):
        with pytest.raises(NotFound):
            box.reader.event(wanted)
    box.outlook.delete("plan")
    with pytest.raises(NotFound):
        box.reader.event(id)


def test_how_the_user_has_answered_stands_in_the_event_and_who_invites_is_named(box: Box) -> None:
    invited: dict[str, Any] = {"isOrganizer": False, "organizer": person(TOM)}
    people = [guest(ADDRESS), guest("ann@elsewhere.test", "accepted")]
    maybe = {"response": "tentativelyAccepted"}
    box.outlook.put("plan", "Plan", attendees=people, responseStatus=maybe, **invited)

    found = only(box)
    assert [one.status for one in found.attendees] == ["tentative", "accepted"]
    assert found.created_by == TOM
    assert box.reader.replies(found) == {"answer", "time"}
    box.outlook.put("plan", "Plan", allowNewTimeProposals=False)
    assert box.reader.replies(found) == {"answer"}
    box.outlook.put("plan", "Plan", isOrganizer=True)
    assert box.reader.replies(found) == frozenset()


@pytest.mark.parametrize(
    "more",
    [{"hideAttendees": True, "isOrganizer": False}, {"attendees": [guest("")]}],
    ids=["hidden", "without an address"],
)
def test_guests_whom_nobody_can_list_make_the_people_unknown(
    box: Box, more: dict[str, Any]
) -> None:
    box.outlook.put("all", "All", **more)
    assert only(box).created_by == ""
