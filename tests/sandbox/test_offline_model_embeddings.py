"""Embeddings of the offline model: hashed words, the same everywhere, near when words are."""

import base64
import math
import struct
from typing import Any

import httpx
import openai
import pytest
from hypothesis import given, strategies as st
from openai import OpenAI

from sandbox.offline_model import vectors

MODEL = "offline-hash-384"


def likeness(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_the_default_encoding_of_the_package_gives_384_numbers_in_order(client: OpenAI) -> None:
    texts = ["the invoice of November", "lunch on Friday"]
    answer = client.embeddings.create(model=MODEL, input=texts)
    assert [item.index for item in answer.data] == [0, 1]
    for item, text in zip(answer.data, texts, strict=True):
        assert item.embedding == pytest.approx(vectors.embed(text), abs=1e-6)
        assert len(item.embedding) == 384
    # 23 and 15 characters, four to a token.
    assert (answer.usage.prompt_tokens, answer.usage.total_tokens) == (10, 10)


def test_both_encodings_carry_the_same_numbers(client: OpenAI) -> None:
    def encoded(how: str) -> Any:
        answer = httpx.post(
            f"{client.base_url}embeddings",
            json={"model": MODEL, "input": "x", "encoding_format": how},
            headers={"Authorization": "Bearer x"},
        )
        return answer.json()["data"][0]["embedding"]

    assert list(struct.unpack("<384f", base64.b64decode(encoded("base64")))) == encoded("float")


def test_the_number_of_dimensions_can_be_chosen(client: OpenAI) -> None:
    answer = client.embeddings.create(model=MODEL, input="x", dimensions=64)
    assert len(answer.data[0].embedding) == 64


@pytest.mark.parametrize(
    ("options", "param"),
    [
        ({"input": ""}, "input"),
        ({"input": []}, "input"),
        ({"input": ["x", ""]}, "input[1]"),
        ({"input": [1, 2]}, "input[0]"),
        ({"input": ["x"] * 2049}, "input"),
        ({"input": "x", "dimensions": 0}, "dimensions"),
        ({"input": "x", "extra_body": {"colour": "red"}}, "colour"),
    ],
)
def test_bad_requests_are_refused(client: OpenAI, options: dict[str, Any], param: str) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        client.embeddings.create(model=MODEL, **options)
    assert refused.value.param == param


def test_an_unknown_model_is_not_found(client: OpenAI) -> None:
    with pytest.raises(openai.NotFoundError):
        client.embeddings.create(model="text-embedding-3-small", input="x")


def test_shared_words_and_stems_are_near_and_others_far() -> None:
    question = vectors.embed("Where is the proposal for the customer portal?")
    proposal = vectors.embed("Proposals: building a portal for customers")
    lunch = vectors.embed("Lunch is moved to the harbour on Friday")
    assert likeness(question, proposal) > 0.4
    assert abs(likeness(question, lunch)) < 0.1


def test_parts_of_words_bring_misspellings_near() -> None:
    right, wrong = vectors.embed("integration"), vectors.embed("integraton")
    assert likeness(right, wrong) > 0.05 > likeness(right, vectors.embed("holiday"))


@given(st.text())
def test_every_text_has_one_vector_of_length_one(text: str) -> None:
    vector = vectors.embed(text.encode(errors="replace").decode())
    assert math.isclose(likeness(vector, vector), 1.0)
    assert vector == vectors.embed(text.encode(errors="replace").decode())


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("invoices", "invoic"),
        ("invoice", "invoic"),
        ("paying", "pay"),
        ("planned", "plan"),
        ("companies", "company"),
        ("class", "class"),
        ("string", "string"),
        ("is", "is"),
    ],
)
def test_common_english_endings_are_taken_off(word: str, stem: str) -> None:
    assert vectors.stem(word) == stem
