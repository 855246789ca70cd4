"""The one model client: Chat Completions and Embeddings through the `openai` package.

Without OPENAI_API_KEY or OPENAI_BASE_URL the same code talks to the offline model, which
follows rules and is not a language model (`docs/offline-model.md`). Other endpoints are named
by a model's profile (`integrations.llm.profiles`). Every call is held against the payer's budgets
before it, and written down after it (`integrations.llm.metering`).
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

from django.conf import settings
from django.utils import timezone

from integrations.database.pools import release_connections
from integrations.llm import chat_answers, dialect, json_protocol, metering, profiles, telemetry
from integrations.llm.completions import (
    Completion,
    Listener,
    ModelError,
    Payer,
    Usage,
    estimated_tokens,
)
from integrations.network.strict_json import load_object

if TYPE_CHECKING:
    from openai import OpenAI
    from openai.types import CreateEmbeddingResponse

log = logging.getLogger(__name__)
T = TypeVar("T")
BROKE_OFF = ("stream_cut", "empty_answer")
_making = threading.Lock()
JSON_ATTEMPTS = 3  # one try and two retries


class BudgetExhausted(ModelError):
    """A budget has no room: nothing was asked. `sentence` says so to the user."""

    def __init__(self) -> None:
        super().__init__("budget_exhausted", retryable=False)
        self.sentence = metering.SENTENCE


def _shared_client(provider: str = "default") -> "OpenAI":
    """The one client of a provider, with its pool of connections, for all threads."""
    with _making:
        return _client(provider)


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
    decides_in_json = profile.protocol == "json" and _is_decision(body)
    if decides_in_json:
        request = json_protocol.request(request)
    elif "tools" in body and not profile.parallel_tools:
        request["parallel_tool_calls"] = False
    request |= dialect.settings_for(profile, request)
    with (
        telemetry.span(
            "chat",
            model,
            model=model,
            provider=_provider(profile.provider),
            purpose=purpose,
            turn_id=str(payer.run_id or ""),
            asked=telemetry.written(request["messages"]),
        ) as note,
        _counted(payer, model=model, purpose=purpose) as count,
    ):
        client = _shared_client(profile.provider)
        if seconds:
            client = client.with_options(timeout=seconds, max_retries=0)
        heard = json_protocol.speech(listener) if listener and decides_in_json else listener
        completion = _send(client, request, heard)
        used = completion.usage
        count(used, completion.model)
        note(
            answered_by=completion.model,
            finish_reasons=[completion.finish_reason],
            prompt_tokens=used.prompt_tokens,
            cached_tokens=used.cached_tokens,
            answer_tokens=used.answer_tokens,
            answered=telemetry.written([completion.text, *map(vars, completion.calls)]),
        )
    return _decision(completion, listener) if decides_in_json else completion


def ask_once(model: str, body: dict[str, Any], listener: Listener | None = None) -> Completion:
    """One request as it is, counted for nobody (`integrations.llm.probe`). Raises ModelError."""
    client = _shared_client(profiles.profile(model).provider).with_options(max_retries=0)
    return _send(client, {"model": model, **body}, listener)


def _send(client: "OpenAI", request: dict[str, Any], listener: Listener | None) -> Completion:
    answer = partial(chat_answers.streamed, listener=listener) if listener else chat_answers.whole
    return _call(lambda: answer(client, request))


@contextmanager
def _counted(
    payer: Payer | None, *, model: str, purpose: str
) -> Iterator[Callable[[Usage, str], None]]:
    """A call, written down for its payer whatever becomes of it; what is yielded takes its use."""
    started, used, answered, code = time.monotonic(), Usage(), model, "failed"

    def count(usage: Usage, by: str) -> None:
        nonlocal used, answered
        used, answered = usage, by

    try:
        yield count
        code = ""
    except ModelError as error:
        code = error.code
        raise
    finally:
        latency = int((time.monotonic() - started) * 1000)
        if payer:
            metering.record(
                payer, used, model=answered, purpose=purpose, latency_ms=latency, error_code=code
            )


def _provider(name: str) -> str:
    """As telemetry names it: every endpoint speaks OpenAI's language."""
    return "openai" if name == "default" else name


def _is_decision(body: dict[str, Any]) -> bool:
    """Tools are offered, or were."""
    return "tools" in body or any(message["role"] == "tool" for message in body["messages"])


def _decision(completion: Completion, listener: Listener | None) -> Completion:
    read = json_protocol.read(completion)
    if listener and json_protocol.is_unreadable(read):
        listener.restart()  # what was heard of it is no answer
    return read


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


def embed(
    texts: Sequence[str], *, payer: Payer | None, model: str | None = None
) -> list[list[float]]:
    """One vector of EMBEDDING_DIMENSIONS numbers a text, in order, of EMBEDDING_MODEL unless
    another is named. Counted for the payer, but never refused by a budget; without one nobody is
    charged (an operator's search, a change of the model). Raises ModelError."""
    if not texts:
        return []
    asked = model or embedding_model_name()

    def ask() -> "CreateEmbeddingResponse":
        return _shared_client().embeddings.create(
            model=asked, input=list(texts), dimensions=settings.EMBEDDING_DIMENSIONS
        )

    with (
        telemetry.span("embeddings", asked, model=asked, provider="openai") as note,
        _counted(payer, model=asked, purpose="embedding") as count,
    ):
        answer = _call(ask)
        counted = getattr(answer, "usage", None)  # an endpoint may count nothing
        tokens = counted.prompt_tokens if counted else sum(map(estimated_tokens, texts))
        count(metering.usage(asked, prompt_tokens=tokens, answer_tokens=0), asked)
        note(prompt_tokens=tokens)
        vectors = [list(item.embedding) for item in sorted(answer.data, key=lambda d: d.index)]
        if [len(v) for v in vectors] != [settings.EMBEDDING_DIMENSIONS] * len(texts):
            raise ModelError("wrong_embedding_shape", retryable=False)
    return vectors


def _call(ask: Callable[[], T]) -> T:
    import openai  # noqa: PLC0415  # see _client

    release_connections()
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
