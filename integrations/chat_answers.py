"""Answers of the Chat Completions API, whole or streamed, as values."""

import json
from typing import TYPE_CHECKING, Any

from integrations import metering
from integrations.completions import Completion, Listener, ModelError, RequestedCall, Usage
from integrations.tokens import estimated_tokens

if TYPE_CHECKING:
    from openai import OpenAI, Stream
    from openai.types import CompletionUsage
    from openai.types.chat import ChatCompletionChunk


def whole(client: "OpenAI", request: dict[str, Any]) -> Completion:
    """The answer to a request, once it is there. Raises ModelError or openai's errors."""
    from openai.types.chat import ChatCompletion  # noqa: PLC0415  # see llm._client

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


def streamed(client: "OpenAI", request: dict[str, Any], listener: Listener) -> Completion:
    """The answer to a request, heard as it comes. Raises ModelError or openai's errors."""
    from openai import Stream  # noqa: PLC0415  # see llm._client
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
    stream: "Stream[ChatCompletionChunk]", request: dict[str, Any], listener: Listener
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
