"""The one model client: Chat Completions and Embeddings through the `openai` package.

Without OPENAI_API_KEY or OPENAI_BASE_URL the same code talks to the offline model, which
follows rules and is not a language model (`docs/offline-model.md`). Other endpoints are named
by a model's profile (`integrations.profiles`). Every call is held against the payer's budgets
before it, and written down after it (`integrations.metering`).
"""

import json
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from django.conf import settings
from django.utils import timezone

from integrations import metering, profiles
from integrations.completions import Completion, Listener, Payer, RequestedCall, Usage
from integrations.pools import release_connections
from integrations.strict_json import load_object
from integrations.tokens import estimated_tokens

if TYPE_CHECKING:
    from openai import OpenAI, Stream
    from openai.types import CompletionUsage
    from openai.types.chat import ChatCompletionChunk

log = logging.getLogger(__name__)
T = TypeVar("T")
BROKE_OFF = ("stream_cut", "empty_answer")
JSON_ATTEMPTS = 3  # one try and the two retries of MAX_PARSE_RETRIES


class ModelError(Exception):
    """The model did not answer as asked. The client has already retried what may pass."""

    def __init__(self, code: str, *, retryable: bool) -> None:
        super().__init__(code)
        self.code = code
        self.retryable = retryable


class BudgetExhausted(ModelError):
    """A budget has no room: nothing was asked. `sentence` says so to the user."""

    def __init__(self) -> None:
        super().__init__("budget_exhausted", retryable=False)
        self.sentence = metering.SENTENCE


@cache
def _client(provider: str = "default") -> "OpenAI":
    # Importing openai costs a third of a second and 48 MiB: only where a model is called.
    from openai import OpenAI  # noqa: PLC0415

    is_default = provider == "default"
    if not is_default and provider not in settings.MODEL_PROVIDERS:
        raise ModelError("unknown_provider", retryable=False)
    return OpenAI(
        api_key=settings.OPENAI_API_KEY
        if is_default
        else settings.MODEL_PROVIDER_KEYS.get(provider, "none"),
        base_url=(settings.OPENAI_BASE_URL or None)
        if is_default
        else settings.MODEL_PROVIDERS[provider],
        timeout=settings.MODEL_TIMEOUT_SECONDS,
        max_retries=3,
    )


def embedding_model_name() -> str:
    return str(settings.EMBEDDING_MODEL)


def complete(
    *,
    messages: Iterable[dict[str, Any]],
    payer: Payer,
    purpose: str,
    tools: Sequence[dict[str, Any]] = (),
    model: str | None = None,
    json_object: bool = False,
    max_tokens: int | None = None,
    listener: Listener | None = None,
    seconds: float | None = None,
) -> Completion:
    """One answer to `messages` (wire form), streamed to `listener` if there is one.

    A model that does not answer is replaced by its profile's fallback, and a stream that broke
    off is asked for once more: nothing was done by it yet. With `seconds` one model is asked
    once, and waited for no longer. Raises ModelError; BudgetExhausted before anything was asked.
    """
    body: dict[str, Any] = {"messages": list(messages)}
    if tools:
        body["tools"] = list(tools)
    if json_object:
        body["response_format"] = {"type": "json_object"}
    if max_tokens is not None:
        body["max_completion_tokens"] = max_tokens
    asked = model or settings.CHAT_MODEL
    try:
        return _metered(asked, body, payer, purpose, listener, seconds)
    except ModelError as error:
        if seconds:
            raise
        again = profiles.profile(asked).fallback or (asked if error.code in BROKE_OFF else "")
        if not again or not (error.retryable or error.code == "status_404"):
            raise
        log.warning("llm.asked_again", extra={"model": again, "code": error.code})
    if listener:
        listener.restart()
    return _metered(again, body, payer, purpose, listener)


def _metered(
    model: str,
    body: dict[str, Any],
    payer: Payer,
    purpose: str,
    listener: Listener | None,
    seconds: float | None = None,
) -> Completion:
    """One call, counted whatever becomes of it. Raises ModelError."""
    if metering.exhausted(payer, now=timezone.now()):
        raise BudgetExhausted
    profile = profiles.profile(model)
    request = {"model": model, **body}
    if "tools" in body and not profile.parallel_tools:
        request["parallel_tool_calls"] = False
    release_connections()
    started, usage, code, answered = time.monotonic(), Usage(), "failed", model
    try:
        ask = _streamed if listener else _whole
        client = _client(profile.provider)
        if seconds:
            client = client.with_options(timeout=seconds, max_retries=0)
        completion = _call(lambda: ask(client, request, listener))
        usage, code, answered = completion.usage, "", completion.model
        return completion
    except ModelError as error:
        code = error.code
        raise
    finally:
        latency = int((time.monotonic() - started) * 1000)
        metering.record(
            payer, usage, model=answered, purpose=purpose, latency_ms=latency, error_code=code
        )


def complete_json(
    *,
    system: str,
    user: str,
    payer: Payer,
    purpose: str,
    model: str | None = None,
    max_tokens: int = 600,
    seconds: float | None = None,
) -> dict[str, Any]:
    """A JSON object as the answer to one question. Malformed answers are asked again twice;
    with `seconds` the question is put once, and waited for no longer.

    Raises ModelError; `malformed_json` when the last answer was no JSON object either.
    """
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    for _attempt in range(1 if seconds else JSON_ATTEMPTS):
        answer = complete(
            messages=messages,
            payer=payer,
            purpose=purpose,
            model=model or settings.INGEST_MODEL,
            json_object=True,
            max_tokens=max_tokens,
            seconds=seconds,
        )
        try:
            return load_object(answer.text)
        except ValueError:
            continue
    raise ModelError("malformed_json", retryable=False)


def embed(texts: Sequence[str], *, model: str | None = None) -> list[list[float]]:
    """One vector of EMBEDDING_DIMENSIONS numbers a text, in order, of EMBEDDING_MODEL unless
    another is named. Raises ModelError."""
    if not texts:
        return []

    def ask() -> list[list[float]]:
        answer = _client().embeddings.create(
            model=model or settings.EMBEDDING_MODEL,
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


def _whole(client: "OpenAI", request: dict[str, Any], _: Listener | None) -> Completion:
    from openai.types.chat import ChatCompletion  # noqa: PLC0415  # see _client

    # create() would walk through every message and type first: most of its own time.
    answer = client.post("/chat/completions", body=request, cast_to=ChatCompletion)
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
        usage=_usage(request, answer.usage, choice.message.content or ""),
    )


def _streamed(client: "OpenAI", request: dict[str, Any], listener: Listener | None) -> Completion:
    from openai import Stream  # noqa: PLC0415  # see _client
    from openai.types.chat import ChatCompletion, ChatCompletionChunk  # noqa: PLC0415

    body = request | {"stream": True, "stream_options": {"include_usage": True}}
    with client.post(
        "/chat/completions",
        body=body,
        cast_to=ChatCompletion,
        stream=True,
        stream_cls=Stream[ChatCompletionChunk],
    ) as stream:
        return _collected(stream, request, listener)


def _collected(
    stream: "Stream[ChatCompletionChunk]", request: dict[str, Any], listener: Listener | None
) -> Completion:
    text: list[str] = []
    calls: dict[int, dict[str, str]] = {}
    model, finish, used = request["model"], "", None
    for chunk in stream:
        model = chunk.model or model
        used = chunk.usage or used
        for choice in chunk.choices[:1]:
            finish = choice.finish_reason or finish
            if choice.delta.content:
                text.append(choice.delta.content)
                if listener:
                    listener.hear(choice.delta.content)
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
        usage=_usage(request, used, "".join([*text, *(c["arguments"] for c in calls.values())])),
    )


def _usage(request: dict[str, Any], used: "CompletionUsage | None", answer: str) -> Usage:
    """As the endpoint counted; one that counts nothing is estimated, so that no limit is lost."""
    if used is None:
        asked = json.dumps([request["messages"], request.get("tools", [])], ensure_ascii=False)
        return metering.usage(
            request["model"],
            prompt_tokens=estimated_tokens(asked),
            answer_tokens=estimated_tokens(answer),
        )
    details = used.prompt_tokens_details
    return metering.usage(
        request["model"],
        prompt_tokens=used.prompt_tokens,
        cached_tokens=(details and details.cached_tokens) or 0,
        answer_tokens=used.completion_tokens,
    )
