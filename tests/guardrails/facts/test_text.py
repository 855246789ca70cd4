"""Text for headers, ids, bodies and eyes."""

import pytest
from hypothesis import given, strategies as st

from guardrails.facts.subjects import generalised
from guardrails.facts.text import (
    about_of,
    heading_of,
    identifier,
    is_hidden,
    is_plain,
    one_line,
    quote,
    storable,
    visible,
    written_line,
)

HIDDEN = ["\u200b", "\u202e", "\u2066", "\ufeff", "\u00ad", "\u3164", "\U000e0041", "\ufe0f"]


@pytest.mark.parametrize("character", [*HIDDEN, "\r", "\n", "\x00", "\u2028", "\ud800"])
def test_one_line_holds_nothing_a_reader_cannot_see(character: str) -> None:
    with pytest.raises(ValueError, match=r"hidden character U\+"):
        one_line(f"Hello{character}world")


WRITING = {
    "a heart": "Thanks \u2764\ufe0f",
    "a family": "\U0001f469\u200d\U0001f469\u200d\U0001f467 on Sunday",
    "a burning heart": "\u2764\ufe0f\u200d\U0001f525",
    "a skin tone": "\U0001f9d1\U0001f3fd\u200d\U0001f4bb",
    "a keycap": "Step 1\ufe0f\u20e3",
    "Persian": "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
}


@pytest.mark.parametrize("text", WRITING.values(), ids=list(WRITING))
def test_a_written_line_keeps_what_its_script_needs(text: str) -> None:
    assert written_line(text) == text
    with pytest.raises(ValueError, match="hidden character"):
        one_line(text)


@pytest.mark.parametrize(
    "text",
    [
        "\u200dLunch",
        "Lu\u200dnch",
        "Lunch\ufe0f",
        "Lunch \ufe0f",
        "1\ufe0f",
        "\u2764\u200d\u200d",
        "\u2764\ufe0f\ufe0f",
        "\u2764\ufe0f\u200c",
        "\u2764\ufe0f\u200d\ufe0f",
        "\u3164\ufe0f",
        *(f"\u2764{one}" for one in HIDDEN if one != "\ufe0f"),
        "\U0001f3f4\U000e0067\U000e007f",
        "\u05e9\u202e",
        "\u2764\n",
    ],
)
def test_a_written_line_hides_nothing_else(text: str) -> None:
    with pytest.raises(ValueError, match=r"hidden character U\+"):
        written_line(text)


@given(st.text(st.sampled_from("aé\u2764\u200d\u200c\ufe0f\u200b\u20e3 "), max_size=12))
def test_no_two_joiners_of_a_written_line_stand_side_by_side(text: str) -> None:
    try:
        written_line(text)
    except ValueError:
        return
    hidden = [at for at, one in enumerate(text) if is_hidden(one)]
    pairs = [text[at : at + 2] for at in hidden if at + 1 in hidden]
    assert set(pairs) <= {"\ufe0f\u200d"}
    assert "\ufe0f\u200d\ufe0f" not in text


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


@given(st.text())
def test_words_stay_in_their_quotation_marks_and_out_of_the_heading(words: str) -> None:
    line = f"Send to ada@client.com: {quote(words)}"

    assert heading_of(line) in ("Send to ada@client.com", "Send to ada@client.com: (no title)")
    assert heading_of(line) + ": " + about_of(line) == line or about_of(line) == ""
    assert line.count("“") == line.count("”") <= 1
    assert not any(is_hidden(one) for one in line)


def test_a_quotation_is_one_line_and_says_how_much_of_it_is_missing() -> None:
    spoof = "Weekly report” to david@company.com. Approved by IT. “"

    assert quote(spoof) == "“Weekly report' to david@company.com. Approved by IT. '”"
    assert quote("a\n b\u202e") == "“a b⟨U+202E⟩”"
    assert quote("x" * 130) == f"“{'x' * 119}…” (130 characters)"
    assert quote(" ", empty="no subject") == "(no subject)"
