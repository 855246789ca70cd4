"""What is new in calendars at Microsoft is seen once, whatever becomes of its links."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from integrations.accounts import arrivals
from integrations.exceptions import RateLimited
from integrations.models import CalendarMark, Delivery
from integrations.network.gate import Gate
from tests.integrations.providers.microsoft_calendar.box import Box
from tests.microsoft_calendar_world import ADDRESS, OWN, TEAM, when
from tests.tracker_world import Refuse

pytestmark = pytest.mark.django_db


def at(moment: datetime) -> dict[str, Any]:
    """An hour of then: inside what Remit asks for, or not."""
    ends = moment + timedelta(hours=1)
    return {"start": when(f"{moment:%Y-%m-%dT%H:%M:%S}"), "end": when(f"{ends:%Y-%m-%dT%H:%M:%S}")}


@pytest.mark.parametrize("days", [3, 5000], ids=["inside the window", "outside of it"])
def test_what_is_there_at_first_is_no_news_and_all_afterwards_is(box: Box, days: int) -> None:
    then = at(timezone.now() + timedelta(days=days))
    box.outlook.put("old", "Old", **then)
    assert box.look() == []

    box.outlook.put("new", "New", **then)
    box.outlook.put("old", "Old, later")
    assert box.look() == [("created", "New"), ("updated", "Old, later")]
    assert box.look() == []

    gone = box.id_of("New")
    box.outlook.delete("new")
    assert box.look() == [("deleted", gone)]
    assert box.look() == []


def test_a_lost_link_loses_nothing_and_makes_no_storm(box: Box) -> None:
    for name in ("stays", "goes", "changes"):
        box.outlook.put(name, name)
    box.look()
    gone = box.id_of("goes")
    box.outlook.delete("goes")
    box.outlook.put("changes", "changed")
    box.outlook.put("comes", "comes")
    box.outlook.forget_tokens()
    box.outlook.page = 2

    assert box.look() == [("updated", "changed"), ("created", "comes"), ("deleted", gone)]
    assert box.look() == []


def test_a_link_is_renewed_in_time_and_nothing_of_it_is_news(box: Box) -> None:
    box.outlook.put("stays", "Stays")
    box.look()
    old = timezone.now() - timedelta(days=31)
    CalendarMark.objects.update(link=f"{old.isoformat()} /me/never/asked/for")
    box.outlook.put("comes", "Comes")

    assert box.look() == [("created", "Comes")]
    assert box.look() == []
    mark = CalendarMark.objects.get()
    assert datetime.fromisoformat(mark.link.partition(" ")[0]) > old


def test_everything_is_stored_once_however_often_it_is_looked_at(box: Box) -> None:
    box.outlook.page = 1
    arrivals.look(box.account.id, enqueue=lambda id: None)
    for name in ("a", "b", "c"):
        box.outlook.put(name, name)
    marks = list(CalendarMark.objects.values_list("id", "link"))

    assert arrivals.look(box.account.id, enqueue=lambda id: None) == 3
    for id, link in marks:  # as after a fall before the link was kept
        CalendarMark.objects.filter(id=id).update(link=link)
    assert arrivals.look(box.account.id, enqueue=lambda id: None) == 0
    titles = [one.body["data"]["title"] for one in Delivery.objects.order_by("received_at")]
    assert titles == ["a", "b", "c"]


def test_what_was_made_long_ago_in_a_calendar_that_is_added_is_no_new_event(box: Box) -> None:
    box.look()
    box.outlook.calendars[TEAM] = ("Team", ADDRESS, True)
    box.outlook.put("plan", "Plan", calendar=TEAM, createdDateTime="2020-01-01T00:00:00Z")
    box.outlook.put("lunch", "Lunch", calendar=TEAM)
    assert box.look() == [("updated", "Plan"), ("created", "Lunch")]

    gone = {box.id_of("Plan"), box.id_of("Lunch")}
    del box.outlook.calendars[TEAM]
    assert {id for kind, id in box.look() if kind == "deleted"} == gone


@pytest.mark.parametrize("lost", [False, True], ids=["by its link", "without"])
def test_one_of_a_series_that_somebody_moves_or_cancels_comes_by_itself(
    box: Box, lost: bool
) -> None:
    box.outlook.put("weekly", "Weekly", weekly=True)
    box.look()
    series = box.id_of("Weekly")
    box.outlook.change_one("weekly", "2026-03-16", subject="Moved")
    box.outlook.leave_out("weekly", "2026-03-23")
    if lost:
        box.outlook.forget_tokens()

    assert box.look() == [("updated", "Weekly"), ("updated", "Moved"), ("updated", "Weekly")]
    assert box.look() == []
    last = box.reader.event(f"{series}_20260323T100000Z")
    assert (last.status, last.series_id) == ("cancelled", series)
    box.outlook.put("weekly", "Renamed")
    # What was moved just now may be seen twice, and is stored once.
    assert box.look() == [("updated", "Renamed"), ("updated", "Moved")]

    box.outlook.delete("weekly")
    assert sorted(box.look()) == sorted(
        ("deleted", id)
        for id in (series, f"{series}_20260316T100000Z", f"{series}_20260323T100000Z")
    )


def test_one_of_a_series_of_which_nothing_else_is_said_is_found_by_its_series(box: Box) -> None:
    box.outlook.put("weekly", "Weekly", weekly=True)
    box.outlook.change_one("weekly", "2026-03-16", subject="Moved")
    box.look()
    series = box.id_of("Weekly")
    one = box.outlook.events[OWN, "weekly-2026-03-16"]
    box.outlook.put(one["id"], "Moved again")

    assert box.look() == [("updated", "Moved again")]
    assert box.reader.event(f"{series}_20260316T100000Z").title == "Moved again"
    assert box.look() == []


def test_a_series_is_asked_for_once_however_many_of_it_are_named(box: Box) -> None:
    soon = at(timezone.now() + timedelta(days=3))
    box.outlook.put("weekly", "Weekly", weekly=True, **soon)
    box.look()
    box.outlook.put("weekly", "Renamed")
    reads = box.outlook.reads

    assert box.look() == [("updated", "Renamed")]
    # The calendars, what has changed, the series, and what was changed in it.
    assert box.outlook.reads - reads == 4


def test_not_so_fast_is_obeyed_and_said(box: Box) -> None:
    box.outlook.refuse = [Refuse(429, headers={"Retry-After": "90"})] * 3

    with pytest.raises(RateLimited) as refused:
        box.look()
    assert refused.value.retry_after == 90.0
    # Every process waits now, without asking.
    asked = box.outlook.reads
    with pytest.raises(RateLimited), Gate(f"microsoft {box.account.id}").slot():
        pass
    assert box.outlook.reads == asked
