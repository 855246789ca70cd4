"""The one model client: Chat Completions and Embeddings through the `openai` package.

Without OPENAI_API_KEY or OPENAI_BASE_URL the same code talks to the offline model, which
follows rules and is not a language model (`docs/offline-model.md`). Other endpoints are named
by a model's profile (`integrations.llm.profiles`). Every call is held against the payer's budgets
before it, and written down after it (`integrations.llm.metering`).
"""

import logging
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils import timezone

from integrations.llm import (
    chat_answers,
    dialect,
    json_protocol,
    metering,
    profiles,
    telemetry,
    vectors,
)
from integrations.llm.circuit import circuit_of
from integrations.llm.completions import (
    Completion,
    Listener,
    ModelError,
    OutOfTime,
    Payer,
    estimated_tokens,
)
from integrations.llm.deadline import Deadline
from integrations.network.strict_json import load_object

if TYPE_CHECKING:
    from openai import Timeout

    from integrations.llm.attempts import Client

log = logging.getLogger(__name__)
BROKE_OFF = ("stream_cut", "empty_answer")
_making = threading.Lock()
JSON_ATTEMPTS = 3  # one try and two retries
TRIES = 4


class BudgetExhausted(ModelError):
    """A budget has no room: nothing was asked. `sentence` says so to the user."""

    def __init__(self) -> None:
        super().__init__("budget_exhausted", retryable=False)
        self.sentence = metering.SENTENCE


def _shared_client(provider: str = "default") -> "Client":
    """The one client of a provider, with its pool of connections, for all threads."""
    with _making:
        return _client(provider)


@cache
def _client(provider: str = "default") -> "Client":
    from integrations.llm import attempts  # noqa: PLC0415  # it imports openai

    is_default = provider == "default"
    if not is_default and provider not in settings.MODEL_PROVIDERS:
        raise ModelError("unknown_provider", retryable=False)
    return attempts.Client(
        api_key=settings.OPENAI_API_KEY
        if is_default
        else settings.MODEL_PROVIDER_KEYS.get(provider, "none"),
        base_url=(settings.OPENAI_BASE_URL or None)
        if is_default
        else settings.MODEL_PROVIDERS[provider],
    )


def forget_clients() -> None:
    """Have the next call make its client anew, by what the settings say then."""
    with _making:
        _client.cache_clear()


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
    deadline: Deadline | None = None,
    once: bool = False,
    budgets: Sequence[metering.Budget] | None = None,
) -> Completion:
    """One answer to `messages` (wire form), streamed to `listener` if there is one.

    A model that does not answer is replaced by its profile's fallback, for which half of the time
    is kept, and a stream that broke off is asked for once more: nothing was done by it yet. With
    `once` one model is asked one time. `budgets`: the payer's, where they were read just now. All
    of it is over by the deadline; without one, in the time that TRIES reads may take. Raises
    ModelError; OutOfTime when the deadline came first, and BudgetExhausted before anything was
    asked.
    """
    body: dict[str, Any] = {"messages": list(messages)}
    if tools:
        body["tools"] = list(tools)
    if json_object:
        body["response_format"] = {"type": "json_object"}
    if max_tokens is not None:
        body["max_completion_tokens"] = max_tokens
    asked = model or settings.CHAT_MODEL
    fallback = "" if once else profiles.profile(asked).fallback
    ask = partial(_metered, body=body, payer=payer, purpose=purpose, listener=listener)
    with _in_time(deadline, listener) as until:
        try:
            first = until.halfway() if fallback else until
            return ask(asked, deadline=first, tries=1 if once else TRIES, budgets=budgets)
        except ModelError as error:
            again = fallback or (asked if error.code in BROKE_OFF else "")
            may_help = error.retryable or error.code == "status_404"
            if once or not again or not may_help or until.has_passed():
                raise
            log.warning("llm.asked_again", extra={"model": again, "code": error.code})
        if listener:
            listener.restart()
        return ask(again, deadline=until, tries=TRIES)


@contextmanager
def _in_time(deadline: Deadline | None, listener: Listener | None = None) -> Iterator[Deadline]:
    """What may pass has no time to when the deadline has come, and what was heard is no answer.
    Raises OutOfTime."""
    until = deadline or Deadline.after(TRIES * settings.MODEL_TIMEOUT_SECONDS)
    if until.has_passed():
        raise OutOfTime
    try:
        yield until
    except ModelError as error:
        if not error.retryable or not until.has_passed():
            raise
        if listener:
            listener.restart()
        raise OutOfTime from error


def _metered(
    model: str,
    *,
    body: dict[str, Any],
    payer: Payer,
    purpose: str,
    listener: Listener | None,
    deadline: Deadline,
    tries: int,
    budgets: Sequence[metering.Budget] | None = None,
) -> Completion:
    """One call, counted whatever becomes of it. Raises ModelError."""
    if metering.exhausted(payer, now=timezone.now(), budgets=budgets):
        raise BudgetExhausted
    profile = profiles.profile(model).in_role(purpose)
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
        metering.counted(payer, model=model, purpose=purpose) as count,
    ):
        client = _shared_client(profile.provider)
        heard = json_protocol.speech(listener) if listener and decides_in_json else listener
        live = heard if profile.streams else None
        completion = _send(client, request, live, deadline=deadline, tries=tries)
        if heard and not live and completion.text:
            heard.hear(completion.text)
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
    client = _shared_client(profiles.profile(model).provider)
    until = Deadline.after(settings.MODEL_TIMEOUT_SECONDS)
    return _send(client, {"model": model, **body}, listener, deadline=until, tries=1)


def _send(
    client: "Client",
    request: dict[str, Any],
    listener: Listener | None,
    *,
    deadline: Deadline,
    tries: int,
) -> Completion:
    from integrations.llm import attempts  # noqa: PLC0415  # it imports openai

    answer = partial(chat_answers.streamed, listener=listener) if listener else chat_answers.whole
    return attempts.tried(
        lambda timeout: answer(client, request, timeout=timeout),
        circuit=circuit_of(str(client.base_url)),
        deadline=deadline,
        tries=tries,
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
    deadline: Deadline | None = None,
    once: bool = False,
    budgets: Sequence[metering.Budget] | None = None,
) -> dict[str, Any]:
    """A JSON object as the answer to one question. Malformed answers are asked again twice, but
    not with `once`; as with `complete`, all of it is over by the deadline. `budgets`: the payer's,
    where they were read already.

    Raises ModelError; `malformed_json` when the last answer was no JSON object either.
    """
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    for _attempt in range(1 if once else JSON_ATTEMPTS):
        answer = complete(
            messages=messages,
            payer=payer,
            purpose=purpose,
            model=model or settings.INGEST_MODEL,
            json_object=True,
            max_tokens=max_tokens,
            deadline=deadline,
            once=once,
            budgets=budgets,
        )
        budgets = None  # of the next try they are read again
        try:
            return load_object(answer.text)
        except ValueError:
            continue
    raise ModelError("malformed_json", retryable=False)


def embed(
    texts: Sequence[str],
    *,
    payer: Payer | None,
    model: str | None = None,
    deadline: Deadline | None = None,
    any_size: bool = False,
) -> list[list[float]]:
    """One vector of EMBEDDING_DIMENSIONS numbers a text (of whatever the model gives, where
    `any_size` will do), in order, of EMBEDDING_MODEL unless another is named. Counted for the
    payer, but never refused by a budget; without one nobody is charged (an operator's search, a
    change of the model). Raises ModelError; OutOfTime when the deadline came first."""
    if not texts:
        return []
    from integrations.llm import attempts  # noqa: PLC0415  # it imports openai

    asked = model or embedding_model_name()
    profile = profiles.profile(asked)
    # A model of one size refuses to be asked for any.
    size = {} if any_size or profile.dimensions else {"dimensions": settings.EMBEDDING_DIMENSIONS}

    client = _shared_client(profile.provider)

    def ask(timeout: "Timeout") -> vectors.Answer:
        return vectors.ask(client, {"model": asked, "input": list(texts), **size}, timeout=timeout)

    with (
        _in_time(deadline) as until,
        telemetry.span(
            "embeddings", asked, model=asked, provider=_provider(profile.provider)
        ) as note,
        metering.counted(payer, model=asked, purpose="embedding") as count,
    ):
        answer = attempts.tried(
            ask, circuit=circuit_of(str(client.base_url)), deadline=until, tries=TRIES
        )
        counted = answer.prompt_tokens
        tokens = sum(map(estimated_tokens, texts)) if counted is None else counted
        count(metering.usage(asked, prompt_tokens=tokens, answer_tokens=0), asked)
        note(prompt_tokens=tokens)
        sizes = [len(vector) for vector in answer.vectors]
        if not any_size and sizes != [settings.EMBEDDING_DIMENSIONS] * len(texts):
            raise ModelError("wrong_embedding_shape", retryable=False)
    return answer.vectors
