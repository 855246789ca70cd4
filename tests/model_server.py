"""A scripted model: OpenAI's Chat Completions and Embeddings over real HTTP, on a free port.

A script says what each agent's model answers; agents are known by the first line of their
system prompt. Any call the script does not foresee is answered 400 and fails the test; so is
any request that the real API would refuse (the offline model's own strict reading of it).

    script = {"You are Remit's orchestrator.": [calls(("ask_user", {"question": "Who?"})), "Hi"]}
    with scripted_model(settings, script) as model:
        ...
    assert len(model.chats("You are Remit's orchestrator.")) == 2
"""

import base64
import hashlib
import json
import re
import struct
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

from integrations.llm import llm
from sandbox.offline_model import chat_request, message_order
from sandbox.offline_model.errors import ApiError

DIMENSIONS = 384
_CALL_IDS = count(1)  # like a real model's: never the same twice


@dataclass(frozen=True, kw_only=True)
class Message:
    """An assistant message, as the model would send it."""

    text: str | None = None
    thoughts: str = ""  # said aloud before the answer, in a stream
    finish: str = ""  # why it ends, where not because it is done
    calls: tuple[tuple[str, str, str], ...] = ()  # id, name, arguments as sent


@dataclass(frozen=True)
class Failure:
    """An error answer. The client is asked not to retry, so that no test waits, but for one that
    may `pass_by`."""

    status: int
    pass_by: bool = False


@dataclass(frozen=True)
class Hang:
    """No answer, not even its headers."""


@dataclass(frozen=True)
class Garbage:
    """A page of something else that answers in its place, with 200."""


@dataclass(frozen=True)
class Dribble:
    """An answer whose pieces come fast enough for every read, and which ends too late. It ends
    with this text."""

    text: str = "Too late."
    pieces: int = 400


@dataclass(frozen=True)
class Cut:
    """A stream that breaks off after this text."""

    text: str


@dataclass(frozen=True)
class Paused:
    """A stream that says this text and ends once it may go on."""

    text: str
    go_on: threading.Event


# A dict is sent as the JSON text of the message.
Reply = str | dict[str, Any] | Message | Failure | Cut | Paused | Hang | Garbage | Dribble
REVIEWER = "You are Remit's reviewer."
# What a reviewer says that a script leaves out.
CONTENT: Reply = {
    "quality_score": 1,
    "completeness": 1,
    "relevance": 1,
    "gaps": [],
    "suggested_actions": [],
    "recommendation": "proceed",
}
# In order, each once and all of them; or whatever the function makes of the request's body.
Script = Mapping[str, Sequence[Reply] | Callable[[dict[str, Any]], Reply]]


def calls(*named: tuple[str, dict[str, Any] | str], text: str | None = None) -> Message:
    """A message that calls tools. Arguments given as text are sent as they are."""
    return Message(
        text=text,
        calls=tuple(
            (
                f"call_{next(_CALL_IDS)}",
                name,
                arguments if isinstance(arguments, str) else json.dumps(arguments),
            )
            for name, arguments in named
        ),
    )


def exchanged(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages of a request without the last ones, in which Remit says how things stand."""
    messages: list[dict[str, Any]] = body["messages"]
    assert messages[-1]["role"] == "system"
    assert messages[-1]["content"].startswith("State of this conversation")
    return messages[: -2 if messages[-2]["content"].startswith("[remit] This quotes") else -1]


@dataclass
class ScriptedModel:
    """What a running server was asked. `fail_embeddings` answers those with this status; with
    `only_size`, vectors have this size, and to be asked for one is refused."""

    script: Script
    url: str = ""
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    unexpected: list[str] = field(default_factory=list)
    fail_embeddings: int | None = None
    only_size: int | None = None
    counts: bool = True  # says what was used
    patience: list[float] = field(default_factory=list)  # seconds that each request gave a read
    over: threading.Event = field(default_factory=threading.Event)
    _left: dict[str, list[Reply]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._begin(self.script)

    def _begin(self, script: Script) -> None:
        self.script, self.unexpected = script, []
        self._left = {
            agent: list(replies) for agent, replies in script.items() if not callable(replies)
        }

    def chats(self, agent: str | None = None) -> list[dict[str, Any]]:
        """Bodies of the chat requests (of one agent), in order."""
        bodies = [body for path, body in self.requests if path.endswith("/chat/completions")]
        return [body for body in bodies if agent is None or _agent(body) == agent]

    def embedded(self) -> list[str]:
        """Every text a vector was asked for, in order."""
        bodies = [body for path, body in self.requests if path.endswith("/embeddings")]
        return [text for body in bodies for text in _texts(body)]

    @contextmanager
    def follow(self, script: Script) -> Iterator[None]:
        """Go by this script alone while the block lasts; then fail on anything unforeseen."""
        self._begin(script)
        try:
            yield
            self.check()
        finally:
            self._begin({})

    def answer(self, path: str, body: dict[str, Any]) -> Reply | None:
        """The scripted reply; None (and noted) when the script has none."""
        agent = _agent(body)
        replies = self.script.get(agent)
        with self._lock:
            self.requests.append((path, body))
            if not callable(replies):
                left = self._left.get(agent)
                if left:
                    return left.pop(0)
                if agent == REVIEWER and agent not in self.script:
                    return CONTENT
                self.unexpected.append(f"unscripted call of “{agent}”")
                return None
        return replies(body)  # may wait for another call

    def check(self) -> None:
        """Raises AssertionError when calls were unforeseen or replies were not asked for."""
        problems = list(self.unexpected)
        problems += [
            f"{len(replies)} unused replies of “{agent}”"
            for agent, replies in self._left.items()
            if replies
        ]
        assert not problems, "; ".join(problems)


@contextmanager
def running_model(script: Script) -> Iterator[ScriptedModel]:
    """Serve `script` until the end of the block; then fail on anything unforeseen."""
    model = ScriptedModel(script)

    class Handler(_Handler):
        scripted = model

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield model
    finally:
        model.over.set()
        server.shutdown()
        thread.join()
        server.server_close()
    model.check()


@contextmanager
def scripted_model(settings: Any, script: Script) -> Iterator[ScriptedModel]:
    """`running_model`, and Remit's own model client talks to it (pytest-django's settings)."""
    with running_model(script) as model:
        settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL = "scripted", model.url
        llm._client.cache_clear()
        try:
            yield model
        finally:
            llm._client().close()
            llm._client.cache_clear()


def embedding(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """A unit vector from the words of `text`: texts with words in common lie close."""
    vector = [0.0] * dimensions
    for word in re.findall(r"\w+", text.lower()) or [""]:
        digest = hashlib.sha256(word.encode()).digest()
        vector[int.from_bytes(digest[:4], "big") % dimensions] += 1 if digest[4] % 2 else -1
    length = sum(value * value for value in vector) ** 0.5 or 1.0
    return [value / length for value in vector]


def _agent(body: dict[str, Any]) -> str:
    prompts = (m["content"] for m in body["messages"] if m["role"] == "system")
    return str(next(prompts, "")).partition("\n")[0]


def _texts(body: dict[str, Any]) -> list[str]:
    texts = body["input"]
    return [texts] if isinstance(texts, str) else list(texts)


class _Handler(BaseHTTPRequestHandler):
    scripted: ScriptedModel

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.scripted.patience.append(float(self.headers.get("x-stainless-read-timeout", "inf")))
        if self.path.endswith("/embeddings"):
            self._embeddings(body)
        elif self.path.endswith("/chat/completions"):
            self._chat(body)
        else:
            self.scripted.unexpected.append(f"unknown path {self.path}")
            self._error(404, "unknown path")

    def log_message(self, format: str, *args: Any) -> None:
        """The record is `ScriptedModel.requests`."""

    def _embeddings(self, body: dict[str, Any]) -> None:
        self.scripted.requests.append((self.path, body))
        if self.scripted.fail_embeddings:
            self._error(self.scripted.fail_embeddings, "scripted failure")
            return
        if self.scripted.only_size and "dimensions" in body:
            self._error(400, "this model takes no dimensions")
            return
        size = body.get("dimensions", self.scripted.only_size or DIMENSIONS)
        data = []
        for index, text in enumerate(_texts(body)):
            vector: Any = embedding(text, size)
            if body.get("encoding_format") == "base64":
                vector = base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
            data.append({"object": "embedding", "index": index, "embedding": vector})
        usage = {"prompt_tokens": len(data), "total_tokens": len(data)}
        self._json(200, {"object": "list", "data": data, "model": body["model"], "usage": usage})

    def _chat(self, body: dict[str, Any]) -> None:
        try:
            message_order.check(chat_request.parse(json.dumps(body).encode()).messages)
        except ApiError as error:
            self.scripted.unexpected.append(f"a request the API refuses: {error}")
            self._error(400, str(error))
            return
        reply = self.scripted.answer(self.path, body)
        if reply is None:
            self._error(400, "the script has no reply for this call")
        elif isinstance(reply, Failure):
            self._error(reply.status, "scripted failure", retry=reply.pass_by)
        elif isinstance(reply, Hang):
            self.scripted.over.wait()
        elif isinstance(reply, Garbage):
            self._send(200, b"<html>Under maintenance</html>")
        elif isinstance(reply, Dribble):
            self._dribble(body, reply)
        elif isinstance(reply, Cut):
            self._events(body, [{"content": reply.text}])
        elif isinstance(reply, Paused):
            self._paused(body, reply)
        else:
            message = reply if isinstance(reply, Message) else Message(text=_text(reply))
            (self._stream if body.get("stream") else self._whole)(body, message)

    def _whole(self, body: dict[str, Any], message: Message) -> None:
        choice = {"index": 0, "message": _wire(message), "finish_reason": _finish(message)}
        usage = {"usage": _USAGE} if self.scripted.counts else {}
        self._json(200, _head(body, "chat.completion") | {"choices": [choice], **usage})

    def _paused(self, body: dict[str, Any], reply: Paused) -> None:
        self._events(body, [{"content": reply.text}])
        reply.go_on.wait()
        end = {"index": 0, "delta": {}, "finish_reason": "stop"}
        self._chunks([_head(body, "chat.completion.chunk") | {"choices": [end]}])

    def _dribble(self, body: dict[str, Any], reply: Dribble) -> None:
        streams = bool(body.get("stream"))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if streams else "application/json")
        self.end_headers()
        try:
            for _ in range(reply.pieces):
                self.wfile.write(b": wait\n\n" if streams else b" ")
                self.wfile.flush()
                if self.scripted.over.wait(0.05):
                    return
            message = Message(text=reply.text)
            choice = {"index": 0, "finish_reason": "stop"}
            if streams:
                choice |= {"delta": _wire(message)}
                self._chunks([_head(body, "chat.completion.chunk") | {"choices": [choice]}])
            else:
                choice |= {"message": _wire(message)}
                whole = _head(body, "chat.completion") | {"choices": [choice]}
                self.wfile.write(json.dumps(whole).encode())
        except OSError:
            """The client did not wait for it."""

    def _stream(self, body: dict[str, Any], message: Message) -> None:
        head = _head(body, "chat.completion.chunk")
        deltas: list[dict[str, Any]] = [{"role": "assistant"}]
        deltas += [{"reasoning_content": part} for part in message.thoughts.split("|") if part]
        deltas += [{"content": part} for part in re.findall(r"\S+\s*|\s+", message.text or "")]
        for index, call in enumerate(_wire(message).get("tool_calls", ())):
            deltas.append({"tool_calls": [{"index": index, **call}]})
        end = {"index": 0, "delta": {}, "finish_reason": _finish(message)}
        last: list[dict[str, Any]] = [head | {"choices": [end]}]
        if (body.get("stream_options") or {}).get("include_usage"):
            last.append(head | {"choices": [], "usage": _USAGE})
        self._events(body, deltas, last)
        self.wfile.write(b"data: [DONE]\n\n")

    def _events(
        self,
        body: dict[str, Any],
        deltas: Sequence[dict[str, Any]],
        last: Sequence[dict[str, Any]] = (),
    ) -> None:
        head = _head(body, "chat.completion.chunk")
        chunks = [
            head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
            for delta in deltas
        ]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self._chunks([*chunks, *last])

    def _chunks(self, chunks: Sequence[dict[str, Any]]) -> None:
        for chunk in chunks:
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
            self.wfile.flush()

    def _error(self, status: int, message: str, *, retry: bool = False) -> None:
        said = {"error": {"message": message, "type": "scripted", "code": None}}
        self._json(status, said, retry=retry)

    def _json(self, status: int, value: dict[str, Any], *, retry: bool = False) -> None:
        self._send(status, json.dumps(value).encode(), retry=retry)

    def _send(self, status: int, data: bytes, *, retry: bool = False) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("x-should-retry", json.dumps(retry))
        self.end_headers()
        self.wfile.write(data)


_USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def _head(body: dict[str, Any], kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-scripted", "object": kind, "created": 0, "model": body["model"]}


def _text(reply: str | dict[str, Any]) -> str:
    return reply if isinstance(reply, str) else json.dumps(reply)


def _finish(message: Message) -> str:
    return message.finish or ("tool_calls" if message.calls else "stop")


def _wire(message: Message) -> dict[str, Any]:
    wire: dict[str, Any] = {"role": "assistant", "content": message.text}
    if message.calls:
        wire["tool_calls"] = [
            {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
            for id, name, arguments in message.calls
        ]
    return wire
