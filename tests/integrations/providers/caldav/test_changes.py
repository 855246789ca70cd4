"""What has happened in calendars on real servers since they were last looked at."""

import pytest

from integrations.models import CalendarMark
from tests.calendar_world import event
from tests.integrations.providers.caldav.box import Box

pytestmark = pytest.mark.django_db


def test_what_is_there_at_the_first_look_is_no_news(box: Box) -> None:
    box.server.put("old", event("Old"))

    assert box.look() == []
    assert box.look() == []


def test_what_somebody_does_in_another_program_comes_out_once(box: Box) -> None:
    box.server.put("old", event("Old"))
    id = box.only().id
    box.look()
    box.server.put("new", event("New"))
    assert box.look() == [("created", "New")]
    assert box.look() == []

    box.server.put("old", event("Old one"))
    assert box.look() == [("updated", "Old one")]

    box.server.delete("old")
    assert box.look() == [("deleted", id)]
    assert box.look() == []

    box.server.put("old", event("Old"))
    assert box.look() == [("updated", "Old")]


@pytest.mark.parametrize("token", ["", "http://radicale.org/ns/sync/lost", "lost"])
def test_a_token_that_is_lost_loses_no_change(box: Box, token: str) -> None:
    box.server.put("kept", event("Kept"))
    box.server.put("changed", event("Before"))
    box.server.put("gone", event("Gone"))
    gone = next(one.id for one in box.page().items if one.title == "Gone")
    box.look()
    CalendarMark.objects.update(token=token)
    box.server.put("changed", event("After"))
    box.server.put("new", event("New"))
    box.server.delete("gone")

    assert sorted(box.look()) == [("created", "New"), ("deleted", gone), ("updated", "After")]
    assert box.look() == []


def test_a_further_calendar_is_news_and_its_end_too(box: Box) -> None:
    box.look()
    box.server.put("trip", event("Trip"), calendar=box.server.make_calendar("travel"))
    assert box.look() == [("created", "Trip")]
    id = box.only().id

    assert box.server.client.delete(box.server.make_path("travel")).status_code in (200, 204)
    assert box.look() == [("deleted", id)]
    assert box.look() == []
