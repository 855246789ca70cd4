"""What a model thinks aloud is no part of its answer, whole or in pieces."""

import pytest
from hypothesis import example, given, strategies as st

from integrations.llm.thoughts import Splitter, split

CASES = [
    ("Yes.", "", "Yes."),
    ("", "", ""),
    ("<think>Hm.</think>\n\nYes.", "Hm.", "Yes."),
    ("\n<thinking>a < b</thinking>Yes.", "a < b", "Yes."),
    ("Hm, the template opened it.</think>\n\nYes.", "Hm, the template opened it.", "Yes."),
    ("<think>never closed", "never closed", ""),
    ("<think></think>Yes.", "", "Yes."),
    ("<b>Yes</b> </think>", "", "<b>Yes</b> </think>"),
    ("Use <think> and </think> tags.", "", "Use <think> and </think> tags."),
    ("<thin", "", "<thin"),
]


@pytest.mark.parametrize(("text", "thought", "said"), CASES)
def test_a_thought_is_parted_from_the_answer(text: str, thought: str, said: str) -> None:
    assert split(text) == (thought, said)


WORDS = ["<", "think", ">", "</", "Hm", " ", "\n", "<think>", "</think>"]
PIECES = st.lists(st.sampled_from(WORDS))


@example(["<think>", "Hm", "</", "think", ">", " "])
@given(PIECES)
def test_in_pieces_it_is_parted_as_in_whole(pieces: list[str]) -> None:
    splitter = Splitter()
    heard = [splitter.feed(piece) for piece in pieces] + [splitter.rest()]
    thought, said = ("".join(parts) for parts in zip(*heard, strict=True))

    text = "".join(pieces)
    if splitter.found_none:
        assert (thought, said) == ("", text)
    else:
        assert thought == split(text)[0]
        assert said.lstrip() == split(text)[1]
