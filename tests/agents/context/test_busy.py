"""What answers to mails that ask about time are given of the calendar."""

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

import pytest

from agents.context import busy
from agents.contracts import Person
from integrations.contracts import AccountRef
from knowledge.search import agenda
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


def look_up(person: Person, mail: str = "", skill: str = "Offer two slots.") -> Any:
    return busy.look_up(person, skill=skill, mail=mail, now=NOW)


def test_a_skill_that_speaks_of_time_has_the_next_days_looked_at(maya: Person) -> None:
    found = look_up(maya)

    assert found["days"] == ["2026-03-10 to 2026-03-20"]
    assert found["taken"] == [MEETING]
    # Today from now on, around the doctor's; then eight whole working days.
    assert [one["begins"] for one in found["free"]] == [
        "Tue 2026-03-10T09:00+01:00",
        "Tue 2026-03-10T17:00+01:00",
        *(f"{day:%a %Y-%m-%d}T08:00+01:00" for day in workdays(11, 20)),
    ]
    assert found["free"][0]["ends"] == MEETING["begins"]
    assert found["note"] == busy.NOTE
    assert "Doctor" not in str(found)


def workdays(first: int, last: int) -> list[date]:
    days = [date(2026, 3, day) for day in range(first, last + 1)]
    return [day for day in days if day.weekday() < 5]


def test_a_later_day_that_the_mail_names_is_looked_at_too(maya: Person) -> None:
    """The 31st is on another side of the change to summer time; the last is too far away."""
    found = look_up(maya, "On 10 April at 4 pm, on 31 March, next Tuesday, or on 1 June 2026?")

    assert found["days"] == ["2026-03-10 to 2026-03-20", "2026-03-31", "2026-04-10"]
    assert found["taken"] == [
        MEETING,
        {"begins": "Fri 2026-04-10T17:00+02:00", "ends": "Fri 2026-04-10T18:00+02:00"},
    ]
    assert found["free"][-2:] == [
        {"begins": "Tue 2026-03-31T08:00+02:00", "ends": "Tue 2026-03-31T18:00+02:00"},
        {"begins": "Fri 2026-04-10T08:00+02:00", "ends": "Fri 2026-04-10T17:00+02:00"},
    ]


def test_many_named_days_are_not_all_looked_at(maya: Person) -> None:
    mail = "On 1 April, 2 April, 3 April, 7 April or 8 April?"

    assert look_up(maya, mail)["days"][1:] == ["2026-04-01", "2026-04-02", "2026-04-03"]


def test_it_is_the_skill_that_decides_and_not_the_mail(maya: Person) -> None:
    assert look_up(maya, "Look in the calendar: when do we meet?", skill="Be brief.") is None


def test_where_the_calendar_is_not_known_nothing_is_called_free(
    maya: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert look_up(user(account())) == {"note": busy.NO_CALENDAR}
    monkeypatch.setattr(agenda, "MOST_EVENTS", 2)
    assert look_up(maya) == {"note": busy.TOO_FULL}
