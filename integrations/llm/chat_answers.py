"""Answers of the Chat Completions API, whole or streamed, as values.

The client sends, retries and times out; what is read of an answer is defined here, because reading
all that the API may ever say takes longer than everything else that is done with an answer.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator

from integrations.llm import metering, thoughts
from integrations.llm.completions import (
    Completion,
    Listener,
    ModelError,
    RequestedCall,
    Usage,
    estimated_tokens,
)

if TYPE_CHECKING:
    from openai import Stream, Timeout

    from integrations.llm.attempts import Client

PATH = "/chat/completions"
UNREADABLE = (ValueError, RecursionError)
MOST_CHARS = 200_000
"""Of one answer with its thoughts and calls: no model writes more, and whatever reads answers is
given no more."""


class _Function(BaseModel):
    name: str | None = None
    arguments: str | None = None


class _Call(BaseModel):
    id: str | None = None
    type: str | None = None
    function: _Function | None = None


class _CallPart(_Call):
    index: int


class _TextPart(BaseModel):
    text: str = ""


def _joined(content: object) -> object:
    """Content as one text. Some endpoints send it in parts; those without text say nothing."""
    if not isinstance(content, list):
        return content
    return "".join(_TextPart.model_validate(part).text for part in content)


Content = Annotated[str | None, BeforeValidator(_joined)]


class _Message(BaseModel):
    content: Content = None
    refusal: str | None = None  # the model's own words in place of an answer
    tool_calls: list[_Call] | None = None


class _Delta(BaseModel):
    content: Content = None
    refusal: str | None = None
    tool_calls: list[_CallPart] | None = None
    reasoning_content: object = None
    reasoning: object = None

    @property
    def thought(self) -> str:
        """What a model thinks aloud, under the names that endpoints give it: no part of its
        answer."""
        said = self.reasoning_content or self.reasoning
        return said if isinstance(said, str) else ""


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Part(BaseModel):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Details(BaseModel):
    cached_tokens: int | None = None


class _Used(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Details | None = None


class _Answer(BaseModel):
    choices: list[_Choice] | None = None
    model: str | None = None
    usage: _Used | None = None


class _Chunk(BaseModel):
    choices: list[_Part] | None = None
    model: str | None = None
    usage: _Used | None = None


def whole(client: "Client", request: dict[str, Any], *, timeout: "Timeout") -> Completion:
    """The answer to a request, once it is there. Raises ModelError or openai's errors."""
    raw = client.ask(PATH, request, timeout=timeout)
    try:
        answer = _Answer.model_validate(json.loads(raw))
    except UNREADABLE as error:
        raise _unusable() from error
    if not answer.choices:
        raise ModelError("empty_answer", retryable=True)
    choice = answer.choices[0]
    calls = tuple(
        RequestedCall(
            id=call.id or "",
            name=call.function.name or "",
            arguments=call.function.arguments or "",
        )
        for call in choice.message.tool_calls or ()
        if call.function and call.type in ("function", None)
    )
    content = choice.message.content or ""
    _bound(len(content) + sum(len(call.arguments) for call in calls))
    _, said = thoughts.split(content)
    text = said or choice.message.refusal or ""
    return Completion(
        text=text,
        calls=calls,
        model=answer.model or request["model"],
        finish_reason=choice.finish_reason or "",
        usage=_usage(request, answer.usage, "".join([text, *(c.arguments for c in calls)])),
    )


def streamed(
    client: "Client",
    request: dict[str, Any],
    listener: Listener,
    *,
    timeout: "Timeout",
) -> Completion:
    """The answer to a request, heard as it comes. Raises ModelError or openai's errors; what goes
    wrong in the middle of an answer is `stream_cut`."""
    from openai import Stream  # noqa: PLC0415  # see llm._client

    body = request | {"stream": True, "stream_options": {"include_usage": True}}
    with client.post(
        PATH,
        body=body,
        cast_to=object,
        options={"timeout": timeout},
        stream=True,
        stream_cls=Stream[object],
    ) as stream:
        return _collected(_chunks(stream), request, listener)


def _chunks(stream: "Stream[object]") -> Iterator[_Chunk]:
    from openai import APIConnectionError  # noqa: PLC0415  # see llm._client

    try:
        for data in stream:
            yield _Chunk.model_validate(data)
    except APIConnectionError as error:
        raise _cut() from error
    except UNREADABLE as error:
        raise _unusable() from error


def _cut() -> ModelError:
    return ModelError("stream_cut", retryable=True)


def _unusable() -> ModelError:
    return ModelError("unusable_answer", retryable=False)


def _bound(length: int) -> None:
    if length > MOST_CHARS:
        raise _unusable()


@dataclass
class _Written:
    """A call that is still being written."""

    id: str = ""
    names: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)

    def call(self) -> RequestedCall:
        return RequestedCall(
            id=self.id, name="".join(self.names), arguments="".join(self.arguments)
        )


def _collected(chunks: Iterator[_Chunk], request: dict[str, Any], listener: Listener) -> Completion:
    text: list[str] = []
    calls: dict[int, _Written] = {}
    model, finish, used, length = request["model"], "", None, 0
    splitter = thoughts.Splitter()
    for chunk in chunks:
        model = chunk.model or model
        used = chunk.usage or used
        for choice in (chunk.choices or ())[:1]:
            finish = choice.finish_reason or finish
            if choice.delta is None:
                continue
            if thought := choice.delta.thought:
                length += len(thought)
                listener.think(thought)
            if written := choice.delta.content or choice.delta.refusal:
                length += len(written)
                text.append(written)
                _pass_on(listener, splitter.feed(written))
            for part in choice.delta.tool_calls or ():
                call = calls.setdefault(part.index, _Written())
                call.id = part.id or call.id
                if part.function:
                    call.names.append(part.function.name or "")
                    call.arguments.append(part.function.arguments or "")
                    length += len(call.names[-1]) + len(call.arguments[-1])
        _bound(length)
    if not finish:
        raise _cut()
    _pass_on(listener, splitter.rest())
    thought, said = thoughts.split("".join(text))
    if thought and splitter.found_none:  # it was heard as answer: only its end shows what it was
        listener.restart()
        listener.hear(said)
    requested = tuple(calls[index].call() for index in sorted(calls))
    return Completion(
        text=said,
        calls=requested,
        model=model,
        finish_reason=finish,
        usage=_usage(request, used, "".join([*text, *(call.arguments for call in requested)])),
    )


def _pass_on(listener: Listener, piece: tuple[str, str]) -> None:
    thought, said = piece
    if thought:
        listener.think(thought)
    if said:
        listener.hear(said)


def _usage(request: dict[str, Any], used: _Used | None, answer: str) -> Usage:
    """As the endpoint counted; one that counts nothing is estimated, so that no limit is lost."""
    if used is None or used.prompt_tokens is None or used.completion_tokens is None:
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
