"""A real MCP server on loopback, made with the SDK, that can be made to misbehave."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp import types
from mcp.server.lowlevel import Server
from starlette.responses import RedirectResponse, Response

from tests.sandbox_server import serving

CREATE = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "priority": {"type": ["integer", "null"]},
        "labels": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["title"],
}
FIND = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}


def tool(name: str, schema: dict[str, Any] | None = None, **fields: Any) -> types.Tool:
    return types.Tool(
        name=name, input_schema=schema or {"type": "object", "properties": {}}, **fields
    )


@dataclass
class Tracker:
    """What the server offers and was asked. `answer` gives the result of a call; `status` is
    answered to a call instead (a redirect leads to `elsewhere`); `stuck` keeps calls waiting."""

    url: str = ""
    tools: list[types.Tool] = field(default_factory=list)
    answer: Callable[[str, dict[str, Any]], types.CallToolResult] = field(
        default=lambda name, arguments: said(f"{name} done")
    )
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    metas: list[dict[str, Any]] = field(default_factory=list)
    lists: int = 0
    headers: list[dict[str, str]] = field(default_factory=list)
    refusals: dict[str, list[int]] = field(default_factory=dict)  # by method, used up
    # What is said instead of some text of an answer, which may be no JSON.
    spoken: dict[str, str] = field(default_factory=dict)
    elsewhere: str = ""
    stuck: str = ""  # the method whose requests hang
    released: threading.Event = field(default_factory=threading.Event)

    def forget(self) -> None:
        """As it was when it began to run."""
        self.tools, self.answer = offered(), lambda name, arguments: said(f"{name} done")
        self.calls.clear()


def said(text: str, **fields: Any) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], **fields)


def offered() -> list[types.Tool]:
    return [
        tool("create_issue", CREATE, title="Create an issue", description="Creates an issue."),
        tool("find_issues", FIND, description="Finds issues."),
    ]


@contextlib.contextmanager
def running_tracker(*, stateful: bool = False, port: int = 0) -> Iterator[Tracker]:
    """An issue tracker with a tool that creates and one that finds, until the block ends."""
    tracker = Tracker(tools=offered())

    async def wait(method: str) -> None:
        if tracker.stuck == method:
            await anyio.to_thread.run_sync(tracker.released.wait, abandon_on_cancel=True)

    async def listed(_: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        tracker.lists += 1
        await wait("tools/list")
        return types.ListToolsResult(tools=tracker.tools)

    async def called(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        tracker.calls.append((params.name, dict(params.arguments or {})))
        tracker.metas.append(dict(params.meta or {}))
        await wait("tools/call")
        return tracker.answer(params.name, dict(params.arguments or {}))

    server = Server("tracker", on_list_tools=listed, on_call_tool=called)
    app = server.streamable_http_app(json_response=not stateful, stateless_http=not stateful)

    async def entrance(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        body = await receive()
        tracker.headers.append({k.decode(): v.decode() for k, v in scope["headers"]})
        method = next(
            (m for m in tracker.refusals if f'"{m}"'.encode() in body.get("body", b"")), ""
        )
        if method and tracker.refusals[method]:
            status = tracker.refusals[method].pop(0)
            refusal = (
                RedirectResponse(tracker.elsewhere, status)
                if 300 <= status < 400
                else Response("no", status)
            )
            await refusal(scope, receive, send)
            return
        first = [body]
        if tracker.spoken:
            send = _speaking(send, tracker.spoken)
        await app(scope, lambda: _next(first, receive), send)

    with serving(entrance, port=port) as origin:
        tracker.url = f"{origin}/mcp"
        try:
            yield tracker
        finally:
            tracker.released.set()


async def _next(first: list[Any], receive: Any) -> Any:
    return first.pop() if first else await receive()


def _speaking(send: Any, spoken: dict[str, str]) -> Any:
    """Sends what is spoken instead, in an answer of one piece."""
    begun: list[Any] = []

    async def speak(message: Any) -> None:
        if message["type"] == "http.response.start":
            begun.append(message)
            return
        body = message.get("body", b"")
        for text, instead in spoken.items():
            body = body.replace(text.encode(), instead.encode())
        for start in begun:
            kept = [one for one in start["headers"] if one[0].lower() != b"content-length"]
            await send(start | {"headers": kept})
        begun.clear()
        await send(message | {"body": body})

    return speak
