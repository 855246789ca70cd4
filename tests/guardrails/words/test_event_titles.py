"""Which event people call by its title."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, strategies as st

from guardrails.words import queries
from guardrails.words.event_titles import find_titled, says_title
from guardrails.words.own import HOLE
from integrations.contracts import Event

ME, STRANGER = "maya@company.com", "mallory@evil.example"
ZONE = "Europe/Berlin"
NOW = datetime(2026, 3, 11, 8, 0, tzinfo=UTC)  # a Wednesday


def event(event_id: str, title: str, start: str, **more: Any) -> Event:
    values = {"id": event_id, "title": title, "created_by": ME}
    times = {"start": f"2026-03-{start}:00:00+01:00", "end": f"2026-03-{start}:45:00+01:00"}
    return Event.model_validate(values | times | more)


EVENTS = (
    event("lunch", "Lunch with Lena", "12T12"),
    event("budget", "Budget Q2", "12T14"),
    event("dentist", "Zahnarzt", "12T17"),
    event("sport", "Sport", "18T18"),
    event("point", "Point budget", "20T10"),
    event("cena", "Cena con Sofía", "13T20"),
    event("wed", "Stand-up", "11T10"),
    event("mon", "Stand-up", "16T10"),
    event("past", "Hiring plan", "04T14"),
    event("off", "Team day", "19T09", status="cancelled"),
    event("series", "Sales round", "17T09", recurrence="RRULE:FREQ=WEEKLY"),
    event("short", "Q2", "17T11"),
)


def meant(words: str, *more: Event) -> str:
    days = queries.days_of(words, said_at="2026-03-11T09:00:00+01:00", zone=ZONE)
    assert days is not None
    found = find_titled(words, (*EVENTS, *more), days=days, now=NOW, zone=ZONE)
    return found.event.id if found else ""


@pytest.mark.parametrize(
    ("words", "which"),
    [
        ("Cancel lunch with Lena tomorrow.", "lunch"),
        ("Rename “Budget Q2” tomorrow to “Budget Q2 and Q3”.", "budget"),
        ("Move Budget Q2 to Friday at 10.", "budget"),
        ("Den Zahnarzt am Donnerstag kannst du streichen.", "dentist"),
        ("Streich meinen Sport nächste Woche.", "sport"),
        ("Déplace mon point budget avec Claire à 11 h.", "point"),
        ("Cancela la cena con Sofía del viernes.", "cena"),
        ("Sposta la mia cena con Sofía.", "cena"),
        ("Cancel the stand-up on Monday.", "mon"),
    ],
)
def test_a_title_and_its_day_mean_one_event(words: str, which: str) -> None:
    assert meant(words) == which


@pytest.mark.parametrize(
    "words",
    [
        "Cancel the stand-up.",  # two of them
        "Cancel lunch with Lena on Friday.",  # not that day
        "Cancel lunch with Lenard tomorrow.",
        "Cancel lunch. With Lena I meet tomorrow.",
        "What about the budget?",
        "Sport is good for you.",
        "Cancel everything but Budget Q2.",
        "Do not touch Budget Q2.",
        "Sag alles ab außer Budget Q2.",
        "Annule tout sauf mon point budget.",
        "Cancela todo menos la cena con Sofía.",
        "Move Budget Q2 to after lunch with Lena.",
        "Cancel Hiring plan.",  # over
        "Cancel the team day.",  # cancelled
        "Cancel the sales round.",  # a series
        "Cancel my Q2.",  # too short to be anybody's
        "Cancel B\u0443dget Q2.",  # a letter that only looks alike
        f"Cancel lunch with {HOLE}Lena",
    ],
)
def test_in_doubt_nothing_is_meant(words: str) -> None:
    assert meant(words) == ""


def test_an_invitation_of_the_same_title_makes_it_unclear() -> None:
    theirs = event("theirs", "Budget Q2", "13T14", created_by=STRANGER)
    assert meant("Cancel Budget Q2.", theirs) == ""
    assert meant("Cancel Budget Q2 tomorrow.", theirs) == "budget"


def test_the_longer_title_is_meant_and_not_what_is_part_of_it() -> None:
    inner = event("inner", "with Lena", "12T09")
    assert meant("Cancel lunch with Lena tomorrow.", inner) == "lunch"


def test_a_zone_that_nobody_knows_means_nothing() -> None:
    found = find_titled("Cancel Budget Q2", EVENTS, days=frozenset(), now=NOW, zone="Mars/Base")
    assert found is None


@given(st.sampled_from([one.title for one in EVENTS]), st.text(max_size=8), st.text(max_size=8))
def test_what_is_found_stands_there_as_a_whole(title: str, before: str, after: str) -> None:
    words = f"{before}{title}{after}"
    found = find_titled(words, EVENTS, days=frozenset(), now=NOW, zone=ZONE)
    if found:
        assert says_title(words, found.event.title)
        assert words[found.start : found.end].casefold() == found.event.title.casefold()


@given(st.text(max_size=40), st.text(max_size=40))
def test_no_title_breaks_it(words: str, title: str) -> None:
    odd = event("odd", title, "12T09")
    found = find_titled(words, [odd], days=frozenset(), now=NOW, zone=ZONE)
    assert found is None or says_title(words, title)
