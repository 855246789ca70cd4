"""Reads of calendars on real servers."""

from datetime import UTC, datetime

import pytest

from integrations.exceptions import CursorExpired, NotFound
from integrations.providers.caldav import events
from tests.calendar_world import event
from tests.integrations.providers.caldav.box import Box

pytestmark = pytest.mark.django_db


def test_every_event_comes_once_over_pages_and_calendars(box: Box) -> None:
    travel = box.server.make_calendar("travel")
    for number in range(3):
        box.server.put(f"a{number}", event(f"A{number}"))
        box.server.put(f"b{number}", event(f"B{number}"), calendar=travel)
    titles, cursor = [], None
    while True:
        page = box.page(cursor=cursor, limit=2)
        titles += [one.title for one in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break

    assert sorted(titles) == ["A0", "A1", "A2", "B0", "B1", "B2"]


def test_a_window_holds_what_takes_place_in_it(box: Box) -> None:
    box.server.put("old", event("Old", start="20200309T100000Z"))
    box.server.put("new", event("New"))
    box.server.put("series", event("Series", "RRULE:FREQ=YEARLY", start="20200310T100000Z"))

    page = box.reader.items_in_window(since=datetime(2026, 3, 1, tzinfo=UTC), cursor=None, limit=10)

    assert sorted(getattr(one, "title", "") for one in page.items) == ["New", "Series"]
    short = box.reader.items_in_window(
        since=datetime(2026, 3, 1, tzinfo=UTC),
        until=datetime(2026, 3, 2, tzinfo=UTC),
        cursor=None,
        limit=10,
    )
    assert short.items == ()


def test_what_cannot_be_read_is_said_and_hides_nothing(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "MAX_RESOURCE_BYTES", 2_000)
    box.server.put("good", event("Good"))
    box.server.put("big", event("Big", f"DESCRIPTION:{'x' * 2_000}"))

    page = box.page()

    assert [one.title for one in page.items] == ["Good"]
    assert [one.reason for one in page.rejected] == ["too_large"]


def test_an_event_that_spoils_an_answer_hides_no_other(box: Box) -> None:
    box.server.put("good", event("Good"))
    box.server.put("odd", event("Odd\ufffeone"))

    page = box.page()

    assert "Good" in [one.title for one in page.items]
    assert len(page.items) + len(page.rejected) == 2


def test_an_event_that_is_gone_is_not_found(box: Box) -> None:
    box.server.put("plan", event("Plan"))
    found = box.only()
    assert box.reader.event(found.id).revision == found.revision

    box.server.delete("plan")

    with pytest.raises(NotFound):
        box.reader.event(found.id)
    with pytest.raises(NotFound):
        box.reader.event("event-of-nobody")


def test_a_cursor_of_a_calendar_that_is_gone_has_expired(box: Box) -> None:
    with pytest.raises(CursorExpired):
        box.page(cursor="/nora/elsewhere/ x")


def test_an_invitation_is_answered_where_the_server_tells_people_and_no_other_time_is(
    box: Box,
) -> None:
    box.server.put("plan", event("Plan"))
    plan = box.only()
    told = frozenset() if box.server.name == "radicale" else {"answer"}

    assert box.reader.replies(plan) == told
    assert box.reader.replies(plan.model_copy(update={"revision": 'W/"1"'})) == frozenset()
