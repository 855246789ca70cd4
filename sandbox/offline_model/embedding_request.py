"""The shape of an Embeddings request, and its answer."""

import base64
import struct
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from sandbox.offline_model import tokens, vectors
from sandbox.offline_model.chat_request import Shape, refusal_of

NonEmpty = Annotated[str, Field(min_length=1)]


class EmbeddingRequest(Shape):
    """Texts only: token numbers belong to a real model's vocabulary."""

    model: str
    input: NonEmpty | Annotated[list[NonEmpty], Field(min_length=1, max_length=2048)]
    dimensions: int | None = Field(default=None, ge=8, le=4096)
    encoding_format: Literal["float", "base64"] | None = None
    user: str | None = None

    @property
    def texts(self) -> list[str]:
        return [self.input] if isinstance(self.input, str) else self.input


def parse(body: bytes) -> EmbeddingRequest:
    """The request in `body`. Raises ApiError with one fault."""
    try:
        return EmbeddingRequest.model_validate_json(body)
    except ValidationError as error:
        raise refusal_of(error) from error


def answer(request: EmbeddingRequest) -> dict[str, Any]:
    dimensions = request.dimensions or vectors.DIMENSIONS
    as_base64 = request.encoding_format == "base64"
    cost = tokens.texts_cost(request.texts)
    return {
        "object": "list",
        "data": [
            {"object": "embedding", "index": index, "embedding": _encoded(vector, as_base64)}
            for index, vector in enumerate(
                vectors.embed(text, dimensions=dimensions) for text in request.texts
            )
        ],
        "model": request.model,
        "usage": {"prompt_tokens": cost, "total_tokens": cost},
    }


def _encoded(vector: list[float], as_base64: bool) -> str | list[float]:
    packed = struct.pack(f"<{len(vector)}f", *vector)
    if as_base64:
        return base64.b64encode(packed).decode("ascii")
    # Both forms carry the same 32-bit numbers.
    return list(struct.unpack(f"<{len(vector)}f", packed))
