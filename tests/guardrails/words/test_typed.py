# ruff: noqa: RUF001 - quotation marks look like other letters
"""What counts as typed: whole, and by somebody's own hand."""

import pytest
from hypothesis import given, strategies as st

from guardrails.words.typed import named, spoken, typed, with_small_domains, without_links


@pytest.mark.parametrize(
    "words",
    [
        "send it to bob@company.com",
        "bob@company.com please",
        "Mail <bob@company.com>, thanks",
        "is it (bob@company.com)?",
        "Write bob@company.com.",
        "notbob@company.com and bob@company.com",
        "to:bob@company.com",
        "„bob@company.com“",
        "«bob@company.com»",
        "« bob@company.com »",
    ],
)
def test_a_value_typed_as_a_whole_is_the_users(words: str) -> None:
    assert typed("bob@company.com", words)


@pytest.mark.parametrize(
    "words",
    [
        "",
        "send it to notbob@company.com",
        "send it to bob@company.com.evil.example",
        "send it to bob@company.community",
        "send it to Bob@company.com",
        "send it to x+bob@company.com",
        "send it to bob at company.com",
        "send it to bob@company.com@evil.example",
        "b\u200bob@company.com",
    ],
)
def test_a_value_that_only_resembles_the_typed_one_is_not(words: str) -> None:
    assert not typed("bob@company.com", words)


@given(st.text(min_size=1), st.text(), st.text())
def test_typed_values_really_stand_in_the_words(value: str, before: str, after: str) -> None:
    words = before + value + after
    if typed(value, words):
        assert value in words
    assert typed(value, value)


@pytest.mark.parametrize(
    "words",
    [
        "open https://example.com/?to=eve@evil.example",
        "open https://example.com/?a=1;to='eve@evil.example'",
        "open www.example.com,eve@evil.example",
        "mailto:eve@evil.example",
        "see example.com/(eve@evil.example)",
        "look: <https://example.com/=eve@evil.example>",
    ],
)
def test_words_within_a_web_address_are_not_typed(words: str) -> None:
    assert not typed("eve@evil.example", words)
    assert typed("eve@evil.example", f"{words} and eve@evil.example")


def test_a_whole_web_address_is_typed_and_its_digits_are_no_words() -> None:
    assert typed("https://example.com/12:00", "Send <https://example.com/12:00>, please.")
    assert typed("see https://example.com now", "Say: see https://example.com now")
    assert without_links("at 9 see example.com/12:00.") == "at 9 see _________________."


def test_an_address_is_typed_in_any_case_of_its_domain_alone() -> None:
    assert typed("Bob@company.com", with_small_domains("to Bob@Company.COM, please"))
    assert not typed("bob@company.com", with_small_domains("to Bob@Company.COM"))
    assert not typed("bob@company.com", with_small_domains("to bob@Company.com.evil.example"))


def test_a_short_title_is_named_in_quotation_marks_alone() -> None:
    assert named("The plan", "open “The plan”")
    assert not named("The plan", "open The plan")
    assert named("The big plan", "open The big plan.")


MARKS = ("“”", "““", "„“", "„”", "«»", "»«", '""', "``", "‘’", "‹›", "「」")
PHRASE = st.text(st.characters(categories=["L", "Nd", "Zs"], include_characters="@:.,-"))


@pytest.mark.parametrize("marks", MARKS)
@given(phrase=PHRASE)
def test_a_quotation_is_not_the_users_own_voice_and_what_stands_around_it_is(
    marks: str, phrase: str
) -> None:
    said = spoken(f"Do it today {marks[0]}x{phrase}{marks[1]} at noon")
    assert said == f"Do it today {marks} at noon"


@pytest.mark.parametrize(
    "link",
    [
        "https://docs.example/edit?on=friday",
        "www.example.com/bearbeiten/freitag",
        "docs.example/modifier/vendredi",
        "mailto:eve@evil.example?subject=editar",
    ],
)
def test_a_web_address_says_nothing_in_the_users_own_voice(link: str) -> None:
    assert spoken(f"Look at {link} today") == f"Look at {'_' * len(link)} today"


@pytest.mark.parametrize("mark", ["“", "„", "«", '"', "`", "‹", "「"])
def test_a_quotation_that_nobody_closed_goes_on_to_the_end(mark: str) -> None:
    assert spoken(f"Eve says: {mark}Move it\nto Friday at 12").startswith("Eve says: ")
    assert "Friday" not in spoken(f"Eve says: {mark}Move it\nto Friday at 12")


@pytest.mark.parametrize(
    "words",
    [
        "Move Tom's meeting to three o'clock, it's late",
        'Buy a 24" screen, Tom`s choice',
        "the boys’ meeting, rock ’n’ roll on Friday",
        "2 > 1 and 1 < 2",
    ],
)
def test_apostrophes_and_inches_open_no_quotation(words: str) -> None:
    assert spoken(words) == words


def test_what_is_full_of_marks_is_read_in_one_go() -> None:
    for text in ("“" * 50_000, "» a" * 20_000, "' a" * 20_000, "<a" * 20_000, '" a' * 20_001):
        assert len(spoken(text)) <= len(text) + 1
