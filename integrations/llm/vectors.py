"""Answers of the Embeddings API as values."""

import base64
import json
from array import array
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from pydantic import BaseModel, BeforeValidator

from integrations.llm.completions import ModelError

if TYPE_CHECKING:
    from openai import Timeout

    from integrations.llm.attempts import Client

PATH = "/embeddings"


def _unpacked(embedding: object) -> object:
    """An endpoint may send numbers where it was asked for their bytes, four each."""
    if not isinstance(embedding, str):
        return embedding
    return array("f", base64.b64decode(embedding)).tolist()


class _Item(BaseModel):
    index: int
    embedding: Annotated[list[float], BeforeValidator(_unpacked)]


class _Used(BaseModel):
    prompt_tokens: int | None = None


class _Answer(BaseModel):
    data: list[_Item]
    usage: _Used | None = None  # an endpoint may count nothing


class Answer(NamedTuple):
    """Vectors in the order of their texts, and the tokens that the endpoint counted."""

    vectors: list[list[float]]
    prompt_tokens: int | None


def ask(client: "Client", request: Mapping[str, Any], *, timeout: "Timeout") -> Answer:
    """Raises ModelError or the client's errors."""
    raw = client.ask(PATH, {**request, "encoding_format": "base64"}, timeout=timeout)
    try:
        answer = _Answer.model_validate(json.loads(raw))
    except (ValueError, RecursionError) as error:
        raise ModelError("unusable_answer", retryable=False) from error
    items = sorted(answer.data, key=lambda one: one.index)
    counted = answer.usage.prompt_tokens if answer.usage else None
    return Answer([one.embedding for one in items], counted)
