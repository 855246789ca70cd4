"""Summaries and entities: the first informative sentences, and the names in the text."""

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st
from openai import OpenAI

from sandbox.offline_model.rules import ingest
from tests.sandbox.dialogue import MODEL

Json = dict[str, Any]
MAIL = """Title: Proposal: customer portal
From: John Smith <john@company.com>

Hi Maya,

As promised, here is what I would do
first for PROJ-12. Nice! Client has asked twice when they can try the portal.
It needs three pieces of work. The fourth sentence is left out.

Write to Priya Nair <priya@company.com> or tomasz@company.com about UTF-8. The portal
portal is what Elin Öberg wants, see https://portal.example/Big/Company and Dear Customer.

Thanks,
John Smith

On Monday Maya Lindqvist wrote:
> What is the plan for the quoted sentence here?
"""


def described(client: OpenAI, text: str) -> Json:
    answer = client.chat.completions.create(
        model=MODEL,
        messages=[
            {"role": "system", "content": "You summarise an item and list its entities.\nJSON."},
            {"role": "user", "content": text},
        ],
        response_format={"type": "json_object"},
        max_completion_tokens=600,
    )
    value: Json = json.loads(answer.choices[0].message.content or "")
    return value


def test_the_summary_is_the_first_informative_sentences(client: OpenAI) -> None:
    assert described(client, MAIL)["summary"] == (
        "As promised, here is what I would do first for PROJ-12. "
        "Client has asked twice when they can try the portal. It needs three pieces of work."
    )


def test_the_entities_are_the_names_in_the_text(client: OpenAI) -> None:
    assert [tuple(entity.values()) for entity in described(client, MAIL)["entities"]] == [
        ("person", "John Smith", "john@company.com"),
        ("person", "Priya Nair", "priya@company.com"),
        ("person", "tomasz", "tomasz@company.com"),
        ("project", "PROJ", None),
        ("person", "Elin Öberg", None),
        ("person", "Maya Lindqvist", None),
        ("topic", "portal", None),
        ("topic", "customer", None),
        ("topic", "sentence", None),
    ]


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("Title: Lunch\nFrom: A <a@b.example>\n\nHi Maya,\n\nOk!", "Lunch"),
        ("Title: Notes\n\n- one thing that we decided\n- two", "one thing that we decided"),
        ("Title: Empty", "Empty"),
        ("", ""),
    ],
)
def test_a_text_with_little_to_say_falls_back(client: OpenAI, text: str, summary: str) -> None:
    assert described(client, text)["summary"] == summary


def test_a_long_sentence_is_cut_between_words(client: OpenAI) -> None:
    summary = described(client, "Title: x\n\n" + "word " * 200)["summary"]
    assert len(summary) <= 300
    assert summary.endswith("word…")


def test_entities_are_bounded(client: OpenAI) -> None:
    many = " ".join(f"person{n}@company.example" for n in range(500))
    assert len(described(client, f"Title: x\n\n{many}")["entities"]) <= ingest.MOST_ENTITIES


@given(st.text())
def test_any_text_is_described(text: str) -> None:
    summary = ingest.summary(title="T", body=text)
    assert len(summary) <= ingest.SUMMARY_LIMIT
    assert "\n" not in summary
    found = ingest.entities(head="Title: T", body=text)
    assert len(found) <= ingest.MOST_ENTITIES
    assert all(entity["name"] for entity in found)
