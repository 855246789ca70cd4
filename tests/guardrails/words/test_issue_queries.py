"""Which issues people sort out."""

from datetime import date
from typing import Any

import pytest
from hypothesis import given, strategies as st

from guardrails.facts.people import Person
from guardrails.words import issue_queries
from guardrails.words.own import HOLE
from integrations.contracts import Issue

ME, TOM, INES, LENA = "maya@c.com", "tom@c.com", "ines@c.com", "lena@c.com"
PEOPLE = (
    Person(address=TOM, key=TOM, names=("Tom Becker",)),
    Person(address=INES, key=INES, names=("Ines Almeida",)),
    Person(address=LENA, key=LENA, names=("Lena Hoffmann",)),
    Person(address="david@c.com", key="1", names=("David Lang",)),
    Person(address="d.o@c.com", key="2", names=("David Okafor",)),
)
SAID: dict[str, Any] = {"said_at": "2026-03-11T09:00:00+01:00", "zone": "Europe/Berlin"}
TODAY = date(2026, 3, 11)  # a Wednesday


def issue(key: str, assignee: str | None, status: str, due: int | None, **more: Any) -> Issue:
    values = {
        "id": key,
        "key": key,
        "project_key": "PROJ",
        "created_at": "2026-02-01T09:00:00Z",
        "assignee": assignee,
        "status": status,
        "due_date": due and f"2026-03-{due:02}",
    }
    return Issue.model_validate(values | more)


ISSUES = [
    issue("ines-late", INES, "To Do", 6, type="bug", priority="high"),
    issue("ines-late-too", INES, "In Progress", 9, labels=["Checkout"]),
    issue("ines-done", INES, "Done", 5),
    issue("ines-later", INES, "In Review", 20),
    issue("ines-today", INES, "To Do", 11),
    issue("tom-busy", TOM, "In Progress", 13, type="bug"),
    issue("tom-late", TOM, "To Do", 2, type="story"),
    issue("lena-late", LENA, "To Do", 10),
    issue("mine", ME, "To Do", None, type="bug", labels=["checkout", "web"]),
    issue("mine-done", ME, "Done", 3, type="bug"),
    issue("mine-late", ME, "In Review", 3, priority="high"),
    issue("nobodys", None, "To Do", 1, type="bug"),
]
INES_LATE = {"ines-late", "ines-late-too"}


def meant(words: str, *more: Issue) -> set[str]:
    query = issue_queries.issue_query(words, people=PEOPLE, own=ME, **SAID)
    found = query and issue_queries.select_issues(query, [*ISSUES, *more], today=TODAY)
    return set(found or ())


@pytest.mark.parametrize(
    ("words", "which"),
    [
        ("Move all of Ines's overdue tasks to In Review.", INES_LATE),
        ("Give all of Ines's overdue tasks to Tom.", INES_LATE),
        ("Setz Ines' überfällige Aufgaben auf Freitag.", INES_LATE),
        ("Setz Lenas überfällige Aufgaben auf Freitag.", {"lena-late"}),
        ("Ferme les tâches en retard d’Ines", INES_LATE),  # noqa: RUF001
        ("Asigna las tareas vencidas de Ines a Tom", INES_LATE),
        ("Assegna tutte le attività scadute di Ines a Tom", INES_LATE),
        ("Close my open bugs.", {"mine"}),
        ("Schließe alle meine offenen Bugs.", {"mine"}),
        ("Schließe meine offenen Fehler.", {"mine"}),
        ("Ferme tous mes bugs ouverts.", {"mine"}),
        ("Cierra todos mis errores abiertos.", {"mine"}),
        ("Chiudi tutti i miei bug aperti.", {"mine"}),
        ("Move Tom's in progress ones to review", {"tom-busy"}),
        ("Put everything of Tom's that is in progress into review.", {"tom-busy"}),
        ("Alles von Tom, was in Arbeit ist, auf In Review setzen", {"tom-busy"}),
        ("Put Tom's tasks in progress", {"tom-busy", "tom-late"}),
        ("Close my overdue task", {"mine-late"}),
        ("Give my high priority tasks to Tom", {"mine-late"}),
        ("Gib alle Bugs mit hoher Priorität an Tom.", {"ines-late"}),
        ("Raise all bugs with label checkout to high priority", {"mine"}),
        ("Move the tasks labelled “checkout” to Done", {"mine", "ines-late-too"}),
        ("Set all tasks due Friday to high priority", {"tom-busy"}),
        ("Close Ines's overdue tasks and tell her", INES_LATE),
        ("Close all overdue stories", {"tom-late"}),
        ("Chiudi i miei bug", {"mine", "mine-done"}),
        ("Schließe meine Fehler", {"mine", "mine-done"}),
        ("Take care of my bugs", {"mine", "mine-done"}),
        ("Close the tasks assigned to Tom", {"tom-busy", "tom-late"}),
        ("Give the tasks assigned to me to Tom", {"mine", "mine-done", "mine-late"}),
        ("Close my tasks that are overdue", {"mine-late"}),
        ("Close all tasks that are due Friday", {"tom-busy"}),
        ("Give my open bugs Tom", {"mine"}),
    ],
)
def test_exactly_what_fits_is_meant(words: str, which: set[str]) -> None:
    assert meant(words) == which


@pytest.mark.parametrize(
    "words",
    [
        "",
        "Close it.",
        "Move Zoe's overdue tasks to review",  # nobody knows her: not everybody's
        "Move all of Zoe's overdue tasks to review",
        "Move the overdue tasks of Zoe to review",
        "Setz Zoes überfällige Aufgaben auf Freitag",
        "Close David's overdue tasks",  # there are two
        "Close all overdue tasks of Ines except the export",
        "Schließe alle Aufgaben von Ines außer der ersten",
        "Ferme toutes les tâches d'Ines sauf la première",
        "Close only the urgent ones of my tasks",
        "Close all my tasks in PROJ",  # which of them, was not asked
        "Close all my tasks in the portal project",
        "Close all my tasks about the export",
        "Close Tom's tasks older than a week",
        "Close my first overdue task",
        "Close Tom's tasks in progress",  # which ones, or what becomes of them?
        "Move Tom's tasks in progress to Done",
        "Close my bugs and my stories",
        "Close my high priority low priority bugs",
        "Close PROJ-7 and all my bugs",
        "Close everything",
        "Close my bug",  # there are two
        f"Close all my bugs {HOLE}",
        f"{HOLE} Close all my bugs",
        "Close my overdue tasks of Ines",  # whose?
        "Close tasks assigned to Tom",  # all of them, or some?
        "Close the tasks assigned to Zoe",
        "Close all tasks due soon",
        "Close all tasks that are due soon",
        "If Tom agrees, close my open bugs",
        "Close my bugs besides Tom",
        "Move my bugs to",
        "Close the tasks labelled “",
        "Schließe meine offene Aufgabe",  # there are two
    ],
)
def test_in_doubt_no_issue_is_meant(words: str) -> None:
    assert meant(words) == set()


def test_one_is_meant_only_where_there_is_no_other() -> None:
    assert meant("Close my overdue task") == {"mine-late"}
    assert meant("Close my overdue task", issue("more", ME, "To Do", 1)) == set()


def test_a_name_that_two_people_have_means_nobodys() -> None:
    davids = issue("davids", "david@c.com", "To Do", 2)
    assert meant("Close David's overdue tasks", davids) == set()
    assert meant("Close David Lang's overdue tasks", davids) == {"davids"}


def test_the_phrase_is_kept_for_people() -> None:
    words = "Please move all  of Ines's overdue tasks to In Review."
    query = issue_queries.issue_query(words, people=PEOPLE, own=ME, **SAID)
    assert query is not None
    assert query.phrase == "all of Ines's overdue tasks"


@given(st.text(max_size=200))
def test_any_text_is_looked_through_without_raising(text: str) -> None:
    meant(f"close all my bugs {text}")
    meant(f"{text} tasks labelled")


WORDS = ("all", "my", "Tom's", "open", "overdue", "bugs", "tasks", "to", "Done", "of", "not")


@given(st.lists(st.sampled_from(WORDS)))
def test_whatever_is_meant_is_the_users_or_toms_where_they_say_whose(parts: list[str]) -> None:
    words = " ".join(parts)
    query = issue_queries.issue_query(words, people=PEOPLE, own=ME, **SAID)
    if query is not None and ("my" in query.phrase or "Tom's" in query.phrase):
        assert query.assignee in ({ME}, {TOM})


@given(st.sets(st.sampled_from([one.key for one in ISSUES])))
def test_other_issues_make_none_meant_that_does_not_fit(left: set[str]) -> None:
    query = issue_queries.issue_query("all of Ines's overdue tasks", people=PEOPLE, own=ME, **SAID)
    assert query is not None
    some = [one for one in ISSUES if one.key in left]
    assert set(issue_queries.select_issues(query, some, today=TODAY)) == INES_LATE & left
