"""What tells whether a draft was touched, and how near a sent mail came to it."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from guardrails.facts.draft_text import digest, nearness

WORDS = st.text(st.characters(exclude_categories=("Cs", "Cc", "Z")), min_size=1, max_size=8)
LINES = st.lists(st.lists(WORDS, min_size=1).map(" ".join), min_size=1)


def written(body: str, *, subject: str = "Re: Plan", to: tuple[str, ...] = ("a@b.test",)) -> str:
    return digest(to=to, subject=subject, body=body)


@given(LINES)
def test_how_a_provider_ends_lines_changes_nothing(lines: list[str]) -> None:
    assert written("\r\n".join(f"{line}  " for line in lines) + "\r\n") == written("\n".join(lines))


@given(LINES, LINES)
def test_other_words_are_another_draft(mine: list[str], theirs: list[str]) -> None:
    same = [line.rstrip() for line in mine] == [line.rstrip() for line in theirs]
    assert (written("\n".join(mine)) == written("\n".join(theirs))) == same


@pytest.mark.parametrize(
    "changed",
    [
        {"to": ("a@b.test", "c@d.test")},
        {"to": ()},
        {"subject": "Re: Plan B"},
    ],
)
def test_another_receiver_or_subject_is_another_draft(changed: dict[str, Any]) -> None:
    assert written("x", **changed) != written("x")


def test_a_receiver_is_not_taken_for_a_copy() -> None:
    both = {"subject": "s", "body": "b"}
    assert (
        len(
            {
                digest(to=[], **both),
                digest(to=["a@b.test"], **both),
                digest(to=[], cc=["a@b.test"], **both),
                digest(to=[], bcc=["a@b.test"], **both),
            }
        )
        == 4
    )


@given(LINES, LINES)
def test_nearness_is_a_share_and_the_same_both_ways(mine: list[str], theirs: list[str]) -> None:
    a, b = "\n".join(mine), "\n".join(theirs)
    assert 0 <= nearness(a, b) == nearness(b, a) <= 1
    assert nearness(a, a) == 1


def test_nearness_counts_words() -> None:
    assert nearness("See you on Friday", "see you on Monday") == 0.75
    assert nearness("See you", "No.") == 0
    assert nearness("", "") == 0
