"""Text for headers, ids, bodies and eyes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guardrails.subjects import generalised
from guardrails.text import identifier, is_hidden, is_plain, one_line, storable, visible

HIDDEN = ["\u200b", "\u202e", "\u2066", "\ufeff", "\u00ad", "\u3164", "\U000e0041", "\ufe0f"]


@pytest.mark.parametrize("character", [*HIDDEN, "\r", "\n", "\x00", "\u2028", "\ud800"])
def test_one_line_holds_nothing_a_reader_cannot_see(character: str) -> None:
    with pytest.raises(ValueError, match=r"hidden character U\+"):
        one_line(f"Hello{character}world")


@pytest.mark.parametrize("character", HIDDEN)
def test_a_body_may_hold_hidden_characters_and_people_see_them(character: str) -> None:
    shown = visible(storable(f"a{character}b"))
    assert shown == f"a⟨U+{ord(character):04X}⟩b"


def test_line_breaks_stay_and_long_text_is_cut() -> None:
    assert visible("one\ntwo\tthree") == "one\ntwo\tthree"
    assert visible("abcdef", limit=4) == "abc…"


@pytest.mark.parametrize("text", ["../x", "a/b", "a b", "a\\b", "a?b=1", "a#b", "a..b"])
def test_an_id_is_one_plain_word(text: str) -> None:
    with pytest.raises(ValueError, match="plain id"):
        identifier(text)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Invoice 17", "RE: invoice 18"),
        ("Fwd: Re: Weekly  report 3/2026", "weekly report 11/2025"),
        ("Rechnung ４２", "AW: Rechnung 7"),  # noqa: RUF001  # fullwidth digits
    ],
)
def test_subjects_that_differ_in_numbers_and_marks_are_one(first: str, second: str) -> None:
    assert generalised(first) == generalised(second)


@pytest.mark.parametrize(
    ("first", "second"),
    [("Invoice 17", "Invoice 17 overdue"), ("Invoice", "Invoice 17"), ("Re: Invoice", "Reinvoice")],
)
def test_other_subjects_stay_others(first: str, second: str) -> None:
    assert generalised(first) != generalised(second)


@given(st.text())
def test_plain_text_hides_nothing(text: str) -> None:
    hides = any(is_hidden(character) for character in text)
    assert not (is_plain(text) and hides)
    assert not is_plain(f"{text}\u200b")
