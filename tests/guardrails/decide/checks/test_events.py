"""A whole series of events is changed or cancelled unasked only where the user said the series."""

from dataclasses import replace
from typing import Any

import pytest

from guardrails.contracts import ActionResult
from guardrails.execute.executor import execute
from tests.guardrails.office import CHAT, Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
LATER = {"start": "2027-03-02T10:00:00+00:00", "end": "2027-03-02T10:30:00+00:00"}
SERIES = "It concerns a whole series, and the user's words do not say so."


@pytest.fixture
def diary(office: Office) -> Office:
    """A stand-up every week, and a meeting that takes place once."""
    office.permit("update_calendar_event")
    times = {"start": "2027-03-01T09:00:00+00:00", "end": "2027-03-01T09:30:00+00:00"}
    own = {"created_by": office.diary.address, "attendees": []}
    weekly = {"title": "Weekly team stand-up", "recurrence": "RRULE:FREQ=WEEKLY"}
    office.put("events", id="weekly", **(times | own | weekly))
    office.put("events", id="once", **(times | own | {"title": "Weekly planning kick-off"}))
    return office


def move(office: Office, event: str, words: str, **changes: Any) -> ActionResult:
    arguments = {"event_id": event} | (changes or LATER)
    origin = replace(CHAT, user_words=words)
    return execute(office.request("update_calendar_event", arguments, origin=origin))


@pytest.mark.parametrize(
    "words",
    [
        "Move tomorrow's Weekly team stand-up",
        "Move the Weekly team stand-up (weekly) to 10",
        "Verschieb Weekly team stand-up morgen auf 10 Uhr",
        "Déplace Weekly team stand-up de demain",
        "Pasa Weekly team stand-up de mañana a las 10",
    ],
)
def test_one_of_a_series_never_becomes_all_of_it_unasked(diary: Office, words: str) -> None:
    asked = move(diary, "weekly", words)

    assert (asked.status, asked.reason) == ("pending", "needs_approval")
    assert SERIES in asked.sentence
    assert diary.calls() == []


@pytest.mark.parametrize(
    "words",
    [
        "Move the Weekly team stand-up to Tuesdays",
        "Verschieb Weekly team stand-up auf dienstags",
        "Déplace Weekly team stand-up, désormais les mardis",
    ],
)
def test_the_series_is_moved_where_the_user_said_it(diary: Office, words: str) -> None:
    assert move(diary, "weekly", words).status == "succeeded"


def test_what_takes_place_once_is_no_series(diary: Office) -> None:
    assert move(diary, "once", "Move tomorrow's kick-off").status == "succeeded"


def test_the_rest_of_a_series_counts_as_one(diary: Office) -> None:
    diary.put(
        "events",
        id="rest",
        series_id="weekly",
        original_start="2027-03-08T09:00:00+00:00",
        this_and_future=True,
        created_by=diary.diary.address,
        title="Weekly team stand-up",
        start="2027-03-08T11:00:00+00:00",
        end="2027-03-08T11:30:00+00:00",
        attendees=[],
    )
    assert SERIES in move(diary, "rest", "Rename it", title="Sync").sentence
    assert diary.calls() == []
