"""Which of their own things people mean."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, strategies as st

from guardrails.facts.people import Person
from guardrails.words import queries
from guardrails.words.own import HOLE
from integrations.contracts import Authentication, Email, Event

ME, TOM, INES = "maya@company.com", "tom@company.com", "ines@company.com"
PEOPLE = (
    Person(address=TOM, key=TOM, names=("Tom Becker",)),
    Person(address=INES, key=INES, names=("Ines Almeida",)),
    Person(address="alex@company.com", key="1", names=("Alex Roth",)),
    Person(address="a.b@company.com", key="2", names=("Alex Brandt",)),
)
SAID: dict[str, Any] = {"said_at": "2026-03-11T09:00:00+01:00", "zone": "Europe/Berlin"}
NOW = datetime(2026, 3, 11, 8, 0, tzinfo=UTC)  # a Wednesday


def event(event_id: str, start: str, *who: str, **more: Any) -> Event:
    values = {"id": event_id, "start": f"2026-03-{start}:00+01:00", "created_by": ME}
    end = values["start"].replace(":00:00+", ":30:00+").replace(":30:00:00", ":59:00")
    attendees = [{"email": one} for one in who]
    return Event.model_validate(values | {"end": end, "attendees": attendees} | more)


EVENTS = [
    event("three", "11T15:00", INES),
    event("tom-thu", "12T10:00", TOM),
    event("lunch", "12T12:00", INES),
    event("fri-first", "13T09:00", INES),
    event("fri-last", "13T14:00", TOM, INES),
    event("tom-tue", "17T15:00", TOM),
    event("past", "04T10:00", TOM),
    event("alex", "18T10:00", "alex@company.com"),
    event("off", "12T08:00", TOM, status="cancelled"),
]


def meant(words: str, *more: Event) -> tuple[str, ...]:
    query = queries.event_query(words, people=PEOPLE, **SAID)
    events = [*EVENTS, *more]
    return queries.select_events(query, events, now=NOW, zone=SAID["zone"]) if query else ()


@pytest.mark.parametrize(
    ("words", "which"),
    [
        ("Move my 3 pm to 4.", "three"),
        ("Move my 15:00 to 16:00", "three"),
        ("Move my meeting with Tom tomorrow to 11.", "tom-thu"),
        ("Cancel my first meeting on Friday.", "fri-first"),
        ("Cancel my last meeting on Friday.", "fri-last"),
        ("Tell Tom that my first meeting on Friday is off.", "fri-first"),
        ("Cancel my meeting with Alex Roth.", "alex"),
        ("Cancel my next meeting.", "three"),
        ("Cancel my next one to one with Tom.", "tom-thu"),
        ("Move my meeting with Tom tomorrow to Friday at 10", "tom-thu"),
        ("Sag meinen Termin mit Ines am Donnerstag ab.", "lunch"),
        ("Annule mon premier rendez-vous de vendredi.", "fri-first"),
        ("Cancela mi reunión con Tom mañana", "tom-thu"),
        ("Sposta la mia riunione con Tom di domani", "tom-thu"),
    ],
)
def test_the_one_event_that_fits_is_meant(words: str, which: str) -> None:
    assert meant(words) == (which,)


@pytest.mark.parametrize(
    "words",
    [
        "",
        "Cancel my meeting.",
        "Cancel my meeting with Tom.",  # there are three to come
        "Cancel my meeting on Friday.",  # there are two
        "Cancel my meeting with Priya tomorrow.",  # nobody knows who that is
        "Cancel my first meeting with Priya on Friday.",
        "Cancel my meeting with Alex.",  # there are two of them
        "Cancel my first meeting tomorrow or on Friday.",
        "Cancel a meeting with Tom tomorrow.",
        "Cancel my meeting on Saturday",
        "Cancel my meeting with Tom tomorrow or on Friday.",
        "Move my first meeting on Friday behind my meeting with Tom.",
        f"Cancel my meeting with Tom tomorrow{HOLE}",
        "Move my 11 pm to 4.",
    ],
)
def test_in_doubt_no_event_is_meant(words: str) -> None:
    assert meant(words) == ()


def test_a_meeting_that_nothing_is_said_of_is_none_even_where_it_is_the_only_one() -> None:
    query = queries.event_query("Cancel my meeting.", people=PEOPLE, **SAID)
    assert query is None


def test_a_series_and_two_at_one_time_leave_it_open() -> None:
    weekly = event("weekly", "02T09:00", TOM, recurrence="RRULE:FREQ=WEEKLY")
    assert meant("Cancel my first meeting on Friday.", weekly) == ()
    other = event("other", "13T09:00", TOM)
    assert meant("Cancel my first meeting on Friday.", other) == ()
    assert meant("Cancel my meeting with Ines tomorrow.", weekly) == ("lunch",)
    rest = event("rest", "02T09:00", TOM, this_and_future=True)
    assert meant("Cancel my first meeting on Friday.", rest) == ()


def test_what_nobody_else_attends_is_no_meeting_unless_its_time_is_said() -> None:
    alone = event("alone", "13T08:00")
    assert meant("Cancel my first meeting on Friday.", alone) == ("fri-first",)
    assert meant("Move my 8:00 on Friday to 9.", alone) == ("alone",)


def mail(email_id: str, day: int, sender: str = TOM, dmarc: str = "pass") -> Email:
    return Email.model_validate(
        {
            "id": email_id,
            "from": sender,
            "subject": "The last mail from Tom",
            "date": f"2026-03-{day:02}T08:00:00+01:00",
            "authentication": Authentication(dmarc=dmarc),
        }
    )


MAILS = [
    mail("old", 2),
    mail("new", 10),
    mail("ines", 11, INES),
    mail("forged", 11, dmarc="fail"),
    mail("alex", 9, "alex@company.com"),
    mail("ines-old", 5, INES),
]


@pytest.mark.parametrize(
    ("words", "which"),
    [
        ("Forward the last mail from Tom to Ines.", {"new"}),
        ("Leite die letzte Nachricht von Tom weiter.", {"new"}),
        ("Archive all mails from Tom", {"old", "new"}),
        ("Archive all mails from Ines today", {"ines"}),
        (f"Archive all the mails from {TOM}, please", {"old", "new"}),
        ("Archive all mails from Priya", set()),
        ("Archive the mail from Tom", set()),
        ("Tell Ines to archive all mails from Priya", set()),
        ("Archive all mails from Ines today or on Monday", set()),
        (f"{HOLE} Archive all mails from Tom", set()),
        ("Archive all mails from Alex", set()),  # there are two of them
        ("Archive all mails from Alex Roth", {"alex"}),
        ("Forward the last mail from Tom and the last mail from Ines", set()),
    ],
)
def test_mails_are_meant_by_their_proved_sender(words: str, which: set[str]) -> None:
    query = queries.mail_query(words, people=PEOPLE, **SAID)
    assert set(queries.select_mails(query, MAILS, zone=SAID["zone"]) if query else ()) == which


def test_of_two_mails_of_one_moment_none_is_the_last() -> None:
    query = queries.mail_query("the last mail from Tom", people=PEOPLE, **SAID)
    assert query is not None
    assert queries.select_mails(query, [*MAILS, mail("twin", 10)], zone=SAID["zone"]) == ()


@given(st.text(max_size=200))
def test_any_text_is_looked_through_without_raising(text: str) -> None:
    meant(f"my first meeting {text}")
    queries.mail_query(f"last mail from {text}", people=PEOPLE, **SAID)


@given(st.sets(st.sampled_from([one.id for one in EVENTS])))
def test_more_events_never_make_another_one_meant(left: set[str]) -> None:
    some = [one for one in EVENTS if one.id in left]
    query = queries.event_query("my meeting with Tom tomorrow", people=PEOPLE, **SAID)
    assert query is not None
    found = queries.select_events(query, some, now=NOW, zone=SAID["zone"])
    assert found in ((), ("tom-thu",))
