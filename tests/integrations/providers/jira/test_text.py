from typing import Any

import pytest
from hypothesis import given, strategies as st

from integrations.providers.jira import text

WORDS = st.text(alphabet="ab [{!*\\\n", max_size=40)


@given(WORDS)
def test_documents_say_what_was_written(words: str) -> None:
    said = text.from_document(text.to_document(words))
    assert said.split() == words.split()


@given(st.text(alphabet="ab [{!*\n", max_size=40))
def test_wiki_text_says_what_was_written(words: str) -> None:
    assert text.from_wiki(text.to_wiki(words)) == words


def test_blocks_stand_apart_and_what_people_see_is_text() -> None:
    document = {
        "type": "doc",
        "content": [
            {"type": "heading", "content": [{"type": "text", "text": "Plan"}]},
            {
                "type": "bulletList",
                "content": [
                    {
                        "type": "listItem",
                        "content": [
                            {
                                "type": "paragraph",
                                "content": [
                                    {"type": "mention", "attrs": {"text": "@Tom"}},
                                    {"type": "text", "text": " asks"},
                                    {"type": "hardBreak"},
                                    {"type": "inlineCard", "attrs": {"url": "https://a.test/"}},
                                ],
                            }
                        ],
                    }
                ],
            },
        ],
    }
    assert text.from_document(document) == "Plan\n\n- @Tom asks\nhttps://a.test/"


@pytest.mark.parametrize("odd", [None, 3, [], {"content": 3}, {"content": [None, {"attrs": []}]}])
def test_what_is_no_document_says_nothing(odd: Any) -> None:
    assert text.from_document(odd) == ""


def test_a_bottomless_document_ends() -> None:
    node: dict[str, Any] = {"type": "text", "text": "deep"}
    for _ in range(5_000):
        node = {"type": "panel", "content": [node]}
    assert text.from_document(node) == ""
