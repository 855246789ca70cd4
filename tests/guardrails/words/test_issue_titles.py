"""Which issue people call by its title."""

import pytest
from hypothesis import given, strategies as st

from guardrails.words.issue_titles import called
from guardrails.words.own import HOLE
from integrations.contracts import Issue

TITLES = {
    "P-1": ("Flaky login test", "bug"),
    "P-2": ("Dark mode", "story"),
    "P-3": ("Rate limits for the API", "story"),
    "P-4": ("Login page in Spanish", "task"),
    "P-5": ("Neue Laptops bestellen", "task"),
    "P-6": ("Release notes 4.2", "task"),
    "P-7": ("Exportar las facturas", "task"),
}
ISSUES = [
    Issue.model_validate(
        {"id": key, "key": key, "project_key": "P", "created_at": "2026-02-01T09:00:00Z"}
        | {"summary": summary, "type": kind}
    )
    for key, (summary, kind) in TITLES.items()
]


@pytest.mark.parametrize(
    ("words", "key"),
    [
        ("Raise the flaky login test to high priority.", "P-1"),
        ("Close the flaky test bug", "P-1"),
        ("Assign dark mode to David.", "P-2"),
        ("Put “Dark mode” in progress.", "P-2"),
        ("The rate limits story goes to review.", "P-3"),
        ("Die Aufgabe zu den Laptops ist erledigt", "P-5"),
        ("Weise die Aufgabe „Neue Laptops bestellen“ Jonas zu", "P-5"),
        ("Passe la story sur le dark mode en cours", "P-2"),
        ("Cierra la tarea «Exportar las facturas»", "P-7"),
        ("Chiudi il bug del login", "P-1"),
        ("Put the login test in progress", "P-1"),
    ],
)
def test_an_issue_is_called_by_words_of_its_title(words: str, key: str) -> None:
    assert list(called(words, ISSUES)) == [key]


@pytest.mark.parametrize(
    "words",
    [
        "",
        "Close the bug",
        "Close the overdue task",
        "Share the release notes with Sofia",  # may be a document
        "Send the release notes to Sofia",
        "Close the login story",  # there is none
        "Close the task “Dark”",
        "Close flaky test bug",
        "Assign the flaky test to David",
        "Close the bug about the login page in Safari",  # that is another one
        "Close the flaky login page bug",
        "Assign dark mode toggle to David",
        "Move P-9 and the flaky login test to high priority",
        f"Close the flaky test bug {HOLE}",
    ],
)
def test_what_only_resembles_a_title_calls_none(words: str) -> None:
    words = words.replace("P-9", "PROJ-9")
    assert called(words, ISSUES) == {}


def test_whatever_may_be_called_so_is_among_them() -> None:
    words = "Close the login task and “Dark mode”"
    assert list(called(words, ISSUES)) == ["P-1", "P-2", "P-4"]


@given(st.text(max_size=200))
def test_any_text_is_looked_through_without_raising(text: str) -> None:
    called(f"close the {text} bug", ISSUES)
