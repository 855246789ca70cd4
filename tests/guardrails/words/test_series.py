"""Whether people speak of a whole series of events or of one of it."""

import pytest
from hypothesis import given, strategies as st

from guardrails.words.series import says_series


@pytest.mark.parametrize(
    "words",
    [
        "Move the weekly review to Tuesdays.",
        "Cancel all stand-ups",
        "Cancel the whole series of stand-ups",
        "Move every stand-up to 9:30",
        "Verschieb den Jour fixe auf dienstags.",
        "Sag alle Jour fixes ab",
        "Déplace la réunion d'équipe, désormais les mardis",
        "Annule toutes les réunions d'équipe",
        "Pasa la revisión a los martes",
        "Cancela todas las reuniones de equipo",
        "Sposta ogni riunione alle 10",
    ],
)
def test_a_series_is_said(words: str) -> None:
    assert says_series(words)


@pytest.mark.parametrize(
    "words",
    [
        "",
        "Cancel tomorrow's stand-up",
        "Cancel the weekly review",
        "Move the stand-up to 9:30",
        "Cancel only this one of all the stand-ups",
        "Move next Tuesday's review, not the series",
        "Sag den Jour fixe morgen ab",
        "Verschieb den Jour fixe auf Dienstag",
        "Annule la réunion d'équipe de demain",
        "Cancela la reunión de equipo de mañana",
        "Annulla la riunione di domani",
    ],
)
def test_one_of_it_is_said_or_neither(words: str) -> None:
    assert not says_series(words)


@given(st.text(max_size=200))
def test_a_word_for_one_always_counts(text: str) -> None:
    assert not says_series(f"{text} only tomorrow")
