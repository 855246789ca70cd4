"""One of a series is changed or cancelled alone, the card says which, and it can be undone."""

from typing import Any

import pytest

from guardrails.approve.card_text import render
from guardrails.approve.cards import list_cards
from guardrails.contracts import ActionResult, Origin
from guardrails.execute.executor import execute
from guardrails.execute.undo import undo
from guardrails.models import Approval
from tests.guardrails.approvals import confirm
from tests.guardrails.office import Office, phases
from tests.honest.office import introduce

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)

BOB = "bob@company.com"
ONE = "round_20261127T090000Z"
OTHER = "round_20261204T090000Z"
FIRST = {"start": "2026-11-20T09:00:00Z", "end": "2026-11-20T10:00:00Z"}
CANCEL, CHANGE = "cancel_calendar_event", "update_calendar_event"
OWN: list[dict[str, Any]] = [
    {"kind": "recipient", "relation": ["directory", "listed"], "novel": "forbid"},
    {"kind": "named", "unnamed": "ask"},
    {"kind": "removing", "unasked": "own"},
]


@pytest.fixture
def series(office: Office) -> Office:
    office.put(
        "events",
        id="round",
        title="Sales round",
        attendees=[{"email": BOB}],
        recurrence="RRULE:FREQ=WEEKLY",
        time_zone="Europe/Berlin",
        **FIRST,
    )
    for action_type in (CANCEL, CHANGE):
        office.list_target(action_type, "recipient", BOB, "Bob")
    return office


def wish(office: Office, action_type: str, words: str = "", **arguments: Any) -> ActionResult:
    origin = Origin(
        trigger="chat",
        turn_id="turn-1",
        user_words=words,
        said_at="2026-11-23T09:00:00+01:00",
        time_zone="Europe/Berlin",
    )
    return execute(office.request(action_type, arguments, origin=origin))


def test_the_card_names_the_one_and_the_others_stay(series: Office) -> None:
    series.permit(CANCEL, "ask")

    asked = wish(series, CANCEL, event_id=ONE)

    [card] = list_cards(organisation_id=series.organisation.id)
    assert card.heading == (
        "Cancel only the one on Friday 27 November 2026 of a series with bob@company.com "
        "on Fri 2026-11-27 09:00 UTC"
    )
    assert asked.status == "pending"
    assert "whole series" not in render(card)
    assert series.calls() == []


def test_one_is_cancelled_alone_and_takes_place_again(series: Office) -> None:
    series.permit(CANCEL, "ask")
    asked = wish(series, CANCEL, event_id=ONE)
    done = confirmed(series, asked)
    assert done.status == "succeeded"
    assert series.look(f"events/{ONE}")["status"] == "cancelled"
    assert series.look("events/round")["recurrence"] == "RRULE:FREQ=WEEKLY"
    assert series.look(f"events/{OTHER}")["status"] == "confirmed"

    back = undo(organisation_id=series.organisation.id, action_id=asked.action_id, by="operator:o")

    assert (back.status, back.reason) == ("succeeded", "performed")
    assert series.look(f"events/{ONE}")["status"] == "confirmed"
    assert [call["path"].rpartition("/")[2] for call in series.calls()] == [ONE, ONE]


def test_one_is_changed_alone_and_set_back(series: Office) -> None:
    series.permit(CHANGE, conditions=[{"kind": "text", "written_by": "anyone"}])

    done = wish(series, CHANGE, f"Call {ONE} Late round", event_id=ONE, title="Late round")

    assert (done.status, phases(done)[-1][2]) == ("succeeded", "performed"), done.sentence
    assert series.look(f"events/{ONE}")["title"] == "Late round"
    assert series.look("events/round")["title"] == "Sales round"
    back = undo(organisation_id=series.organisation.id, action_id=done.action_id, by="operator:o")
    assert back.status == "succeeded", back.sentence
    assert series.look(f"events/{ONE}")["title"] == "Sales round"


@pytest.mark.parametrize(
    ("words", "event_id", "status"),
    [
        ("Cancel the Sales round on Friday 27 November.", ONE, "held"),
        ("Sag die Sales round am Freitag ab.", ONE, "held"),
        # Another one than was said, none that was said, or the whole series.
        ("Cancel the Sales round on Friday 27 November.", OTHER, "pending"),
        ("Cancel the Sales round.", ONE, "pending"),
        ("Cancel the Sales round next Friday.", ONE, "pending"),
        ("Cancel the Sales round on Friday 27 November.", "round", "pending"),
        ("Cancel lunch but not the Sales round on Friday 27 November.", ONE, "pending"),
    ],
)
def test_the_title_with_a_day_means_the_one_on_it(
    series: Office, words: str, event_id: str, status: str
) -> None:
    series.permit(CANCEL, conditions=OWN, hold_seconds=60)
    introduce(series.organisation, {BOB: "Bob Berger"}, domain="company.com")

    result = wish(series, CANCEL, words, event_id=event_id)

    assert result.status == status, result.sentence
    assert series.calls() == []


def test_a_time_that_the_series_has_not_is_refused(series: Office) -> None:
    series.permit(CANCEL, "ask")

    for unknown in ("round_20261128T090000Z", "round_20261127T093000Z", "other_20261127"):
        result = wish(series, CANCEL, event_id=unknown)
        assert (result.status, result.reason) == ("refused", "object_unknown")
    assert series.calls() == []


def test_a_whole_event_of_ones_own_is_made_again_with_its_people(series: Office) -> None:
    series.permit(CANCEL, "ask")
    series.put("events", id="lunch", title="Lunch", attendees=[{"email": BOB}], **FIRST)
    asked = wish(series, CANCEL, event_id="lunch")
    [card] = list_cards(organisation_id=series.organisation.id)
    assert confirmed(series, asked).status == "succeeded"

    back = undo(organisation_id=series.organisation.id, action_id=asked.action_id, by="operator:o")

    assert back.status == "succeeded", back.sentence
    event = series.look(f"events/{back.result['event_id']}")
    assert (event["title"], event["attendees"][0]["email"]) == ("Lunch", BOB)
    assert event["start"] == "2026-11-20T09:00:00.000000Z"
    assert card.state == "pending"


@pytest.mark.parametrize(
    "fields",
    [{"recurrence": "RRULE:FREQ=DAILY"}, {"all_day": True}, {"created_by": BOB}],
    ids=["a series", "whole days", "somebody else's"],
)
def test_what_cannot_be_made_again_as_it_was_cannot_be_undone(
    series: Office, fields: dict[str, Any]
) -> None:
    series.permit(CANCEL, "ask")
    series.put("events", **{"id": "lunch", "title": "Lunch", **FIRST, **fields})
    asked = wish(series, CANCEL, event_id="lunch")
    assert confirmed(series, asked).status == "succeeded"

    back = undo(organisation_id=series.organisation.id, action_id=asked.action_id, by="operator:o")

    assert (back.status, back.reason) == ("refused", "cannot_be_undone")
    assert len(series.calls()) == 1


def confirmed(office: Office, result: ActionResult) -> ActionResult:
    return confirm(Approval.objects.get(action_id=result.action_id), decided_by="user:maya")
