"""Where a value comes from, by the guard's own look-ups."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guardrails import provenance


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
    ],
)
def test_a_value_typed_as_a_whole_is_the_users(words: str) -> None:
    assert provenance.typed("bob@company.com", words)


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
    assert not provenance.typed("bob@company.com", words)


def test_lists_outrank_words_and_everything_else_is_content() -> None:
    found = provenance.trace(
        {"to": ["a@x.com", "b@x.com", "c@x.com"], "subject": "Hi", "body": "", "n": None},
        words="tell a@x.com and c@x.com",
        listed={"to[0]"},
        authenticated={"to[1]"},
    )
    assert found == {"to[0]": "A", "to[1]": "T", "to[2]": "U", "subject": "X"}


@given(st.text(min_size=1), st.text(), st.text())
def test_typed_values_really_stand_in_the_words(value: str, before: str, after: str) -> None:
    words = before + value + after
    if provenance.typed(value, words):
        assert value in words
    assert provenance.typed(value, value)
