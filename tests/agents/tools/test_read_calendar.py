"""What a model learns of the calendar (FINDINGS A1, A2)."""

from typing import Any

import pytest

from agents.tools import list_items, read_calendar
from knowledge.search import agenda
from tests.agents.tools.bench import Bench
from tests.knowledge.office import account, event, take
from tests.model_server import ScriptedModel

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
DAY = {"since": "2027-03-08", "free_minutes": 60}
MAYA, HANNAH = "maya@company.com", "hannah@company.com"


@pytest.fixture
def maya(summariser: ScriptedModel) -> Bench:
    """Her clock is Stockholm's. She declined the board, where Hannah is; Hannah declined the talk,
    and is away for a day that is not hers alone."""
    calendar = account(source="calendar")

    def meeting(id: str, begins: str, ends: str, *, maya: str, hannah: str, **fields: Any) -> None:
        times = {"start": f"2027-03-08T{begins}:00+01:00", "end": f"2027-03-08T{ends}:00+01:00"}
        answers = {MAYA: maya, HANNAH: hannah}
        people = [{"email": who, "status": said} for who, said in answers.items() if said]
        take(calendar, event(id=id, title=id, attendees=people, **(times | fields)))

    yes, no = "accepted", "declined"
    meeting("planning", "10:00", "11:00", maya=yes, hannah=yes, location="Room 4")
    meeting("dentist", "10:30", "11:30", maya=yes, hannah="")
    meeting("lunch", "11:30", "12:30", maya=yes, hannah="")
    meeting("board", "13:00", "14:00", maya=no, hannah=yes)
    meeting("talk", "15:00", "16:00", maya=no, hannah=no)
    days = {"start": "2027-03-08T00:00:00Z", "end": "2027-03-09T00:00:00Z", "all_day": True}
    meeting("fair", "", "", maya=yes, hannah=yes, **days)
    return Bench(calendar)


def read(bench: Bench, **arguments: Any) -> dict[str, Any]:
    result = bench.call(read_calendar.TOOL, **arguments)
    assert result["success"], result
    return dict(result["data"])


def clock(shown: str) -> str:
    return shown[-11:-6]


def test_it_tells_collisions_places_answers_and_when_others_are_taken(maya: Bench) -> None:
    alone, together = read(maya, **DAY), read(maya, **DAY, people=[HANNAH])

    events = {one["title"]: one for one in alone["events"]}
    planning, dentist = events["planning"], events["dentist"]
    assert planning["place"] == "Room 4"
    assert planning["attendees"] == [f"{MAYA}: accepted", f"{HANNAH}: accepted"]
    assert [planning["begins"], planning["ends"]] == [
        "Mon 2027-03-08T10:00+01:00",
        "Mon 2027-03-08T11:00+01:00",
    ]
    assert alone["overlaps"] == [[planning["n"], dentist["n"]]]
    assert [name for name, one in events.items() if one.get("takes_no_time")] == [
        *("fair", "board", "talk")
    ]
    assert [clock(slot["begins"]) for slot in alone["free"]] == ["08:00", "12:30"]
    assert [clock(slot["begins"]) for slot in together["free"]] == ["08:00", "14:00"]
    assert "note" not in alone
    assert together["note"] == read_calendar.OTHERS


def test_times_without_a_zone_are_on_the_users_clock(maya: Bench) -> None:
    board = read(maya, since="2027-03-08T13:00", until="2027-03-08T14:00")
    listed = maya.call(
        list_items.TOOL, types=["event"], since="2027-03-08T10:30", until="2027-03-08T13:00"
    )

    assert [one["title"] for one in board["events"]] == ["fair", "board"]
    assert [one["title"] for one in listed["data"]["items"]] == ["lunch", "dentist"]
    assert listed["data"]["items"][1]["date"] == "Mon 2027-03-08T10:30+01:00"
    assert clock(read(maya, **DAY, day_begins="07:00")["free"][0]["begins"]) == "07:00"


def test_a_calendar_too_full_to_be_read_whole_calls_nothing_free(
    maya: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agenda, "MOST_EVENTS", 6)
    result = maya.call(read_calendar.TOOL, **DAY)

    assert result["error"]["code"] == "INVALID_INPUT"
    assert result["error"]["suggested_action"] == "Ask for a shorter span."
    monkeypatch.setattr(agenda, "MOST_EVENTS", 7)
    assert len(read(maya, **DAY)["events"]) == 6
