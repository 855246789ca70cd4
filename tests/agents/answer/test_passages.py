"""Which part of an item an answer cites."""

import pytest

from agents.answer.passages import find_claim, find_passage, list_observed

LONG = "\n\n".join(f"Paragraph {word}. " + "Filler about nothing. " * 25 for word in ("one", "two"))


def test_what_a_result_shows_of_an_item_is_found_wherever_it_stands() -> None:
    result = {
        "items": [{"id": "a", "n": 1, "text": "Due on Friday."}, {"id": "b", "text": "No."}],
        "more": {"events": [{"id": "a", "snippet": "Friday", "text": " "}]},
    }

    assert list(list_observed(result, "a")) == ["Due on Friday.", "Friday"]


def test_the_claim_is_the_lines_that_cite_the_number() -> None:
    assert find_claim("It is due [2].\nPaid [1, 3-5].\nNo.", 4) == "Paid [1, 3-5]."


@pytest.mark.parametrize(
    ("text", "shown", "claim", "passage"),
    [
        ("Hi.\n\nDue on Friday.", ["Due on Friday."], "", "Due on Friday."),
        ("Due\non\n  Friday. Bye", ["Due on Friday."], "", "Due\non\n  Friday."),
        ("Due on Friday", ["Due on […]"], "", "Due on"),
        ("Now paid.", ["Due on Friday."], "due", None),
        ("Anything", [], "any", None),
        ("Price: 5.\nDue: Friday.", ["Price: 5.", "Due: Friday."], "due", "Due: Friday."),
        ("(a+)+$ x", ["(a+)+$"], "", "(a+)+$"),
    ],
)  # fmt: skip
def test_the_passage_is_what_was_shown(
    text: str, shown: list[str], claim: str, passage: str | None
) -> None:
    span = find_passage(text, shown, claim)

    assert (text[slice(*span)] if span else None) == passage


def test_of_a_long_passage_the_part_is_chosen_that_says_what_the_answer_says() -> None:
    text = f"{LONG}\n\nThe contract ends in May 2027.\n\n{LONG}"

    found = find_passage(text, [text], "It ends in May 2027 [1].")
    other = find_passage(text, [text], "Zzz")

    assert found is not None
    assert text[slice(*found)] == "The contract ends in May 2027."
    assert other == (0, len(text.rstrip()))
