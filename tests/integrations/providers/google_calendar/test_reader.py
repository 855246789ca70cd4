"""Reads of calendars at Google."""

from datetime import UTC, datetime
from typing import Any

import pytest

from integrations.contracts import Event
from integrations.exceptions import CursorExpired, NotFound
from tests.google_calendar_world import ADDRESS, TEAM
from tests.integrations.providers.google_calendar.box import Box

pytestmark = pytest.mark.django_db


def titles(box: Box, **more: object) -> list[str]:
    found: list[str] = []
    cursor = None
    while True:
        page = box.reader.items(since=None, cursor=cursor, limit=2)
        found += [one.title for one in page.items if isinstance(one, Event)]
        cursor = page.next_cursor
        if cursor is None:
            return found


def test_every_event_comes_once_over_pages_and_calendars(box: Box) -> None:
    box.google.calendars[TEAM] = "reader"
    for number in range(5):
        box.google.put(f"a{number}", f"Own {number}")
    box.google.put("a1", "Team", calendar=TEAM)  # one id, two calendars

    assert titles(box) == ["Own 0", "Own 1", "Own 2", "Own 3", "Own 4", "Team"]
    assert [one.id for one in box.reader.calendars()] == [ADDRESS, TEAM]
    with pytest.raises(CursorExpired):
        box.reader.items(since=None, cursor="nowhere@x.test 2", limit=2)


def test_a_window_holds_what_takes_place_in_it(box: Box) -> None:
    day: dict[str, Any] = {"start": {"date": "2026-03-12"}, "end": {"date": "2026-03-13"}}
    box.google.put("day", "Day", **day)
    box.google.put("before", "Before")
    since, until = datetime(2026, 3, 11, tzinfo=UTC), datetime(2026, 3, 20, tzinfo=UTC)

    (found,) = box.reader.items_in_window(since=since, until=until, cursor=None, limit=9).items
    assert isinstance(found, Event)
    assert (found.title, found.all_day) == ("Day", True)
    assert (found.end - found.start).days == 1


def test_what_cannot_be_read_is_said_and_hides_nothing(box: Box) -> None:
    box.google.put("good", "Good")
    box.google.put("bad", "Bad", start={"timeZone": "UTC"})

    page = box.reader.items(since=None, cursor=None, limit=9)
    assert [one.title for one in page.items if isinstance(one, Event)] == ["Good"]
    assert [one.reason for one in page.rejected] == ["malformed_event"]


def test_what_is_gone_or_never_was_is_not_found(box: Box) -> None:
    box.google.put("plan", "Plan")
    id = box.id_of("Plan")
    box.google.delete("plan")

    for wanted in (id, f"{id}_20260316T100000Z", f"{id}_tomorrow", "event-0"):
        with pytest.raises(NotFound):
            box.reader.event(wanted)


def test_an_invitation_is_answered_without_another_time_and_not_in_a_calendar_to_be_read(
    box: Box,
) -> None:
    box.google.calendars[TEAM] = "reader"
    box.google.put("plan", "Plan")
    box.google.put("fair", "Fair", calendar=TEAM)
    plan, fair = (box.reader.event(box.id_of(title)) for title in ("Plan", "Fair"))

    assert box.reader.replies(plan) == {"answer"}
    assert box.reader.replies(fair) == frozenset()
