"""A reply as the wire wants it: one object, or the same as a stream of chunks."""

import json
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from sandbox.offline_model import tokens
from sandbox.offline_model.chat_request import ChatRequest
from sandbox.offline_model.transcript import Reply, parsed

Json = dict[str, Any]
FinishReason = Literal["stop", "tool_calls", "length"]


@dataclass(frozen=True, kw_only=True)
class WireCall:
    id: str
    name: str
    arguments: str


@dataclass(frozen=True, kw_only=True)
class Completion:
    id: str
    created: int
    model: str
    text: str
    calls: tuple[WireCall, ...]
    finish_reason: FinishReason
    prompt_tokens: int
    completion_tokens: int

    def body(self) -> Json:
        message: Json = {"role": "assistant", "content": self.text or None, "refusal": None}
        if self.calls:
            message["tool_calls"] = [_wire(call) for call in self.calls]
        else:
            message["content"] = self.text
        choice = {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": self.finish_reason,
        }
        return self._envelope("chat.completion", [choice]) | {"usage": self._usage()}

    def chunks(self, *, include_usage: bool) -> Iterator[Json]:
        """The deltas: role, text token by token, each call's head and arguments, the end."""
        extra: Json = {"usage": None} if include_usage else {}

        def chunk(delta: Json, finish_reason: str | None = None) -> Json:
            choice = {
                "index": 0,
                "delta": delta,
                "logprobs": None,
                "finish_reason": finish_reason,
            }
            return self._envelope("chat.completion.chunk", [choice]) | extra

        yield chunk({"role": "assistant", "content": None if self.calls else "", "refusal": None})
        for piece in tokens.pieces(self.text):
            yield chunk({"content": piece})
        for index, call in enumerate(self.calls):
            head = _wire(call) | {"index": index}
            head["function"] = {"name": call.name, "arguments": ""}
            yield chunk({"tool_calls": [head]})
            for piece in tokens.pieces(call.arguments):
                part = {"index": index, "function": {"arguments": piece}}
                yield chunk({"tool_calls": [part]})
        yield chunk({}, self.finish_reason)
        if include_usage:
            yield self._envelope("chat.completion.chunk", []) | {"usage": self._usage()}

    def _envelope(self, kind: str, choices: list[Json]) -> Json:
        return {
            "id": self.id,
            "object": kind,
            "created": self.created,
            "model": self.model,
            "system_fingerprint": "offline-rules",
            "choices": choices,
        }

    def _usage(self) -> Json:
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.prompt_tokens + self.completion_tokens,
        }


def complete(request: ChatRequest, reply: Reply) -> Completion:
    """The reply inside the request's limits: its tools, its format and its token limit.

    Over the token limit the text is cut and calls that don't fit are left out, and the
    finish reason says `length`.
    """
    reply = _within_tools(request, reply)
    text = _in_format(request, reply)
    calls = [
        WireCall(
            id=f"call_{uuid.uuid4().hex[:24]}",
            name=call.name,
            arguments=json.dumps(call.arguments, ensure_ascii=False),
        )
        for call in reply.calls
    ]
    room = request.token_limit
    finish: FinishReason = "tool_calls" if calls else "stop"
    if room is not None:
        cut = text[: room * tokens.CHARACTERS_IN_A_TOKEN]
        room -= tokens.count(cut)
        fitting = []
        for call in calls:
            room -= tokens.call_cost(name=call.name, arguments=call.arguments)
            if room >= 0:
                fitting.append(call)
        if cut != text or fitting != calls:
            finish = "length"
        text, calls = cut, fitting
    spent = sum(tokens.call_cost(name=call.name, arguments=call.arguments) for call in calls)
    return Completion(
        id=f"chatcmpl-{uuid.uuid4().hex}",
        created=int(time.time()),
        model=request.model,
        text=text,
        calls=tuple(calls),
        finish_reason=finish,
        prompt_tokens=tokens.prompt_cost(request),
        completion_tokens=tokens.count(text) + spent,
    )


def _within_tools(request: ChatRequest, reply: Reply) -> Reply:
    offered = {tool.function.name for tool in request.tools or ()}
    if request.tool_choice == "none":
        offered = set()
    missing = sorted({call.name for call in reply.calls} - offered)
    if missing:
        return Reply(
            text=f"I cannot go on: the next step needs {', '.join(missing)}, "
            "which I may not use now."
        )
    one_at_a_time = request.parallel_tool_calls is False
    return Reply(text=reply.text, calls=reply.calls[:1] if one_at_a_time else reply.calls)


def _in_format(request: ChatRequest, reply: Reply) -> str:
    wants_json = request.response_format and request.response_format.type == "json_object"
    if not wants_json or reply.calls or isinstance(parsed(reply.text), dict):
        return reply.text
    return json.dumps({"answer": reply.text}, ensure_ascii=False)


def _wire(call: WireCall) -> Json:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }
