"""Whether people say that somebody is to be taken off something."""

import pytest
from hypothesis import given, strategies as st

from guardrails.words.removal import says_removal


@pytest.mark.parametrize(
    "words",
    [
        "Remove Tom from the retro.",
        "Take Tom and Ines off the invite for Friday, please",
        "Uninvite Tom from my meeting tomorrow",
        "Drop Tom from the sync",
        "Leave Tom out of the planning",
        "Entferne Tom aus dem Termin",
        "Lade Tom bitte wieder aus.",
        "Nimm Tom und Ines aus dem Termin raus",
        "Streich Tom von der Liste",
        "Retire Tom de la réunion",
        "Enlève Tom et Inès de l'invitation",
        "Quita a Tom de la reunión",
        "Elimina a Tom de la invitación",
        "Togli Tom dalla riunione",
        "Rimuovi Tom dall'invito",
    ],
)
def test_a_removal_is_said(words: str) -> None:
    assert says_removal(words)


@pytest.mark.parametrize(
    "words",
    [
        "",
        "Move my meeting with Tom to 3 pm",
        "Tom takes Friday off, so move our meeting to Monday",
        "Don't remove Tom from the retro, just move it",
        "Move it without removing anybody",
        "We meet without Tom tomorrow",
        "Verschieb meinen Termin mit Tom auf 15 Uhr",
        "Lade Tom aus dem Vertrieb dazu ein",
        "Verschieb ihn, aber du sollst nicht Tom entfernen",
        "Déplace ma réunion avec Tom à 15 h",
        "Mueve mi reunión con Tom a las 15",
        "Sposta la mia riunione con Tom alle 15",
    ],
)
def test_nothing_else_says_it(words: str) -> None:
    assert not says_removal(words)


def test_words_with_hyphens_and_lines_between_them_are_words() -> None:
    assert says_removal("Take the co-op-team - and Tom - off the invitation")
    assert says_removal("Nimm Tom-Peter -- bitte -- raus")
    assert not says_removal(f"Take {'-' * 60} that one")


@given(st.text(max_size=300))
def test_it_never_raises(text: str) -> None:
    assert says_removal(text) in (True, False)
