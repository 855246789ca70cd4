"""What somebody may do with what they get to see is said, or it is reading."""

import pytest

from guardrails.words.roles import says_role

WRITING = (
    "He may edit it.",
    "Give Bob write access, please.",
    "Bob can write to it",
    "Make her an editor",
    "Er darf es bearbeiten.",
    "Bob bekommt Schreibzugriff.",
    "Il peut le modifier",
    "en tant qu'éditeur",
    "Puede editarlo",
    "con permiso de edición",
    "Può modificarlo",
    "accesso in scrittura",
    "ele pode editar",
    "Hij mag het bewerken",
    "han får redigera den",
    "med skrivbehörighet",
    "prawo do edycji",
    "hän saa muokata sitä",
)
NOTHING = (
    "Share it with Bob.",
    "Share what I wrote with Bob",
    "Bob should read it",
    "Do not let him edit it",
    "He can read but not edit it.",
    "without write access",
    "He mustn't edit it",
    "Er soll es nicht bearbeiten",
    "sans le modifier",
    "sin editarlo",
    "non può modificarlo",
    "credit the author",
    "",
)


@pytest.mark.parametrize("words", WRITING)
def test_a_word_for_writing_says_so(words: str) -> None:
    assert says_role("writer", words)
    assert says_role("commenter", words)


@pytest.mark.parametrize("words", NOTHING)
def test_nothing_else_does(words: str) -> None:
    assert not says_role("writer", words)
    assert not says_role("commenter", words)
    assert says_role("reader", words)


@pytest.mark.parametrize(
    "words", ["He may comment on it.", "Er darf kommentieren", "avec commentaires", "comentar"]
)
def test_commenting_is_no_writing(words: str) -> None:
    assert says_role("commenter", words)
    assert not says_role("writer", words)


def test_a_role_that_nobody_knows_is_said_by_nothing() -> None:
    assert not says_role("owner", "Make him the owner, he may edit it.")
