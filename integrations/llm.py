"""The one model client: Chat Completions and Embeddings through the `openai` package.

Without OPENAI_API_KEY or OPENAI_BASE_URL the same code talks to the offline model, which
follows rules and is not a language model (`docs/offline-model.md`).
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from django.conf import settings

if TYPE_CHECKING:
    from openai import OpenAI

T = TypeVar("T")
JSON_ATTEMPTS = 3  # one try and the two retries of MAX_PARSE_RETRIES


class ModelError(Exception):
    """The model did not answer as asked. The client has already retried what may pass."""

    def __init__(self, code: str, *, retryable: bool) -> None:
        super().__init__(code)
        self.code = code
        self.retryable = retryable


@dataclass(frozen=True, kw_only=True)
class RequestedCall:
    """A tool call as the model asked for it. `arguments` is its text: maybe not JSON."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, kw_only=True)
class Completion:
    text: str
    calls: tuple[RequestedCall, ...]
    model: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int


@cache
def _client() -> "OpenAI":
    # Importing openai costs a third of a second and 48 MiB: only where a model is called.
    from openai import OpenAI  # noqa: PLC0415

    return OpenAI(
        api_key=settings.OPENAI_API_KEY,
        base_url=settings.OPENAI_BASE_URL or None,
        timeout=settings.MODEL_TIMEOUT_SECONDS,
        max_retries=3,
    )


def embedding_model_name() -> str:
    return str(settings.EMBEDDING_MODEL)


def complete(
    *,
    messages: Sequence[dict[str, Any]],
    tools: Sequence[dict[str, Any]] = (),
    model: str | None = None,
    json_object: bool = False,
    max_tokens: int | None = None,
    on_text: Callable[[str], None] | None = None,
) -> Completion:
    """One answer to `messages` (wire form). `on_text` gets text as it arrives (streams).

    Raises ModelError.
    """
    body: dict[str, Any] = {"model": model or settings.CHAT_MODEL, "messages": list(messages)}
    if tools:
        body["tools"] = list(tools)
    if json_object:
        body["response_format"] = {"type": "json_object"}
    if max_tokens is not None:
        body["max_completion_tokens"] = max_tokens
    return _call(lambda: _streamed(body, on_text) if on_text else _whole(body))


def complete_json(
    *, system: str, user: str, model: str | None = None, max_tokens: int = 600
) -> dict[str, Any]:
    """A JSON object as the answer to one question. Malformed answers are asked again twice.

    Raises ModelError; `malformed_json` when the last answer was no JSON object either.
    """
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    for _attempt in range(JSON_ATTEMPTS):
        answer = complete(
            messages=messages,
            model=model or settings.INGEST_MODEL,
            json_object=True,
            max_tokens=max_tokens,
        )
        try:
            value = json.loads(answer.text)
        except ValueError:
            continue
        if isinstance(value, dict):
            return value
    raise ModelError("malformed_json", retryable=False)


def embed(texts: Sequence[str]) -> list[list[float]]:
    """One vector of EMBEDDING_DIMENSIONS numbers a text, in order. Raises ModelError."""
    if not texts:
        return []

    def ask() -> list[list[float]]:
        answer = _client().embeddings.create(
            model=settings.EMBEDDING_MODEL,
            input=list(texts),
            dimensions=settings.EMBEDDING_DIMENSIONS,
        )
        vectors = [list(item.embedding) for item in sorted(answer.data, key=lambda d: d.index)]
        if [len(v) for v in vectors] != [settings.EMBEDDING_DIMENSIONS] * len(texts):
            raise ModelError("wrong_embedding_shape", retryable=False)
        return vectors

    return _call(ask)


def _call(ask: Callable[[], T]) -> T:
    import openai  # noqa: PLC0415  # see _client

    try:
        return ask()
    except openai.APITimeoutError as error:
        raise ModelError("timeout", retryable=True) from error
    except openai.APIConnectionError as error:
        raise ModelError("unreachable", retryable=True) from error
    except openai.APIStatusError as error:
        passing = error.status_code in (408, 409, 429) or error.status_code >= 500
        raise ModelError(f"status_{error.status_code}", retryable=passing) from error
    except openai.OpenAIError as error:
        raise ModelError("unusable_answer", retryable=False) from error


def _whole(body: dict[str, Any]) -> Completion:
    from openai.types.chat import ChatCompletion  # noqa: PLC0415  # see _client

    # create() would walk through every message and type first: most of its own time.
    answer = _client().post("/chat/completions", body=body, cast_to=ChatCompletion)
    if not answer.choices:
        raise ModelError("empty_answer", retryable=True)
    choice = answer.choices[0]
    calls = tuple(
        RequestedCall(id=call.id, name=call.function.name, arguments=call.function.arguments)
        for call in choice.message.tool_calls or ()
        if call.type == "function"
    )
    return Completion(
        text=choice.message.content or "",
        calls=calls,
        model=answer.model,
        finish_reason=choice.finish_reason,
        prompt_tokens=answer.usage.prompt_tokens if answer.usage else 0,
        completion_tokens=answer.usage.completion_tokens if answer.usage else 0,
    )


def _streamed(body: dict[str, Any], on_text: Callable[[str], None]) -> Completion:
    stream = _client().chat.completions.create(
        **body, stream=True, stream_options={"include_usage": True}
    )
    text: list[str] = []
    calls: dict[int, dict[str, str]] = {}
    model, finish, prompt_tokens, completion_tokens = body["model"], "", 0, 0
    for chunk in stream:
        model = chunk.model or model
        if chunk.usage:
            prompt_tokens = chunk.usage.prompt_tokens
            completion_tokens = chunk.usage.completion_tokens
        for choice in chunk.choices[:1]:
            finish = choice.finish_reason or finish
            if choice.delta.content:
                text.append(choice.delta.content)
                on_text(choice.delta.content)
            for part in choice.delta.tool_calls or ():
                call = calls.setdefault(part.index, {"id": "", "name": "", "arguments": ""})
                call["id"] = part.id or call["id"]
                if part.function:
                    call["name"] += part.function.name or ""
                    call["arguments"] += part.function.arguments or ""
    if not finish:
        raise ModelError("stream_cut", retryable=True)
    return Completion(
        text="".join(text),
        calls=tuple(RequestedCall(**calls[index]) for index in sorted(calls)),
        model=model,
        finish_reason=finish,
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
    )
