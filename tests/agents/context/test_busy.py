"""What answers to mails that ask about time are given of the calendar."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from agents.context import busy
from agents.contracts import Person
from integrations.contracts import AccountRef
from tests.knowledge.answers import READER, summarised
from tests.knowledge.office import account, event, take
from tests.model_server import ScriptedModel, scripted_model

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 10, 8, tzinfo=UTC)
PREFIX = "[calendar] Taken in the user's next 10 days: "
MEETING = {
    "begins": "Tue 2026-03-10T16:00+01:00",
    "ends": "Tue 2026-03-10T17:00+01:00",
}


def user(*accounts: AccountRef) -> Person:
    first = accounts[0]
    return Person(
        organisation_id=first.organisation_id,
        external_user_id=first.external_user_id,
        accounts=accounts,
    )


@pytest.fixture
def model(settings: Any) -> Iterator[ScriptedModel]:
    with scripted_model(settings, {READER: summarised}) as running:
        yield running


@pytest.fixture
def maya(model: ScriptedModel) -> Person:
    calendar = account(source="calendar")
    own: dict[str, Any] = {"attendees": [], "title": "Doctor"}
    take(calendar, event(**own))
    take(calendar, event(id="later", start="2026-04-10T15:00Z", end="2026-04-10T16:00Z", **own))
    declined = [{"email": "maya@company.com", "status": "declined"}]
    times = {"start": "2026-03-11T09:00Z", "end": "2026-03-11T10:00Z"}
    take(calendar, event(id="declined", title="Not with me", attendees=declined, **times))
    return user(calendar)


@pytest.mark.parametrize(
    "text",
    [
        "Could we meet?",
        "Look in the calendar first.",
        "Does Thursday suit you?",
        "Is tomorrow good?",
        "Call me at 3 pm.",
        "Wann haben Sie Zeit für ein Treffen?",
        "Passt es Ihnen am Freitag?",
        "Êtes-vous disponible ?",
        "Prenons rendez-vous.",
        "¿Nos vemos el viernes?",
        "Quando ci vediamo?",
    ],
)
def test_who_asks_about_time_is_answered_by_the_calendar(maya: Person, text: str) -> None:
    line = busy.render(maya, text, NOW)

    assert line.startswith(PREFIX)
    assert json.loads(line.removeprefix(PREFIX)) == [MEETING]
    # Who wrote the mail may read the answer: what the user does is not in it.
    assert "Doctor" not in line


def test_where_nobody_asks_nothing_is_said(maya: Person) -> None:
    assert busy.render(maya, "Your invoice 88 is ready. Amount: EUR 12.", NOW) == ""
    assert busy.render(maya, "", NOW) == ""


def test_without_a_calendar_nothing_is_said_to_be_free(model: ScriptedModel) -> None:
    mailbox = account()
    assert busy.render(user(mailbox), "Does Thursday suit you?", NOW) == ""


def test_an_empty_calendar_is_said_to_be_empty(model: ScriptedModel) -> None:
    line = busy.render(user(account(source="calendar")), "Does Thursday suit you?", NOW)
    assert line == f"{PREFIX}[]"
