"""Remit as an MCP server, by the official SDK. Importing it loads the SDK (the extra `mcp`).

Every request stands by itself: there are no sessions, so any process answers it, and the caller
is looked up each time.
"""

import json
import logging
from collections.abc import Callable
from typing import Any, TypeVar

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import close_old_connections, connections
from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from agents.api.mcp.offers import Offer, Refused, Visitor, call, offers
from agents.turns.streams import Receive, Scope, Send

log = logging.getLogger(__name__)
T = TypeVar("T")
KEY = "remit/idempotency-key"
INSTRUCTIONS = (
    "Remit acts on a user's mail, documents, calendar and issues inside limits that operators "
    "set. Each call is carried out, waits for a person, or is refused with a reason; all of it "
    "is recorded."
)
Context = ServerRequestContext[Any]


async def serve(visitor: Visitor, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one POST of streamable HTTP."""

    async def listed(_: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        found = await _in_thread(lambda: offers(visitor.person))
        return types.ListToolsResult(tools=[_tool(one) for one in found])

    async def called(context: Context, asked: types.CallToolRequestParams) -> types.CallToolResult:
        return await _in_thread(lambda: _answer(visitor, context, asked))

    server = Server("remit", instructions=INSTRUCTIONS, on_list_tools=listed, on_call_tool=called)
    manager = StreamableHTTPSessionManager(
        app=server,
        json_response=True,
        stateless=True,
        # Host and Origin were looked at before (agents.api.mcp.door), by the settings of all pages.
        security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        max_request_body_size=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
    )
    async with manager.run():
        await manager.handle_request(scope, receive, send)


def _tool(offer: Offer) -> types.Tool:
    return types.Tool(
        name=offer.name,
        title=offer.title,
        description=offer.description,
        input_schema=dict(offer.schema),
        annotations=types.ToolAnnotations(read_only_hint=offer.reads),
    )


def _answer(
    visitor: Visitor, context: Context, asked: types.CallToolRequestParams
) -> types.CallToolResult:
    meta: dict[str, Any] = dict(context.meta or {})
    try:
        found = call(
            _named(visitor, meta), asked.name, asked.arguments or {}, key=str(meta.get(KEY, ""))
        )
    except Refused as refused:
        return _result({"status": "refused", "reason": refused.code, "sentence": refused.sentence})
    except Exception:  # details stay in the log
        log.exception("mcp.call_failed", extra={"principal": visitor.principal})
        return _result({"status": "failed", "reason": "error", "sentence": "Something broke."})
    return _result(found)


def _result(found: dict[str, Any]) -> types.CallToolResult:
    failed = found.get("status") in ("refused", "failed", "unknown")
    text = json.dumps(found, ensure_ascii=False, default=str)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)],
        structured_content=json.loads(text),
        is_error=failed,
    )


def _named(visitor: Visitor, meta: dict[str, Any]) -> Visitor:
    """With what the caller's program calls itself, where it says so."""
    info = meta.get(types.CLIENT_INFO_META_KEY)
    if not isinstance(info, dict):
        return visitor
    client = f"The caller calls itself {info.get('name', '')} {info.get('version', '')}."
    return Visitor(principal=visitor.principal, person=visitor.person, client=client)


async def _in_thread(work: Callable[[], T]) -> T:
    def worked() -> T:
        close_old_connections()  # no request of Django's begins or ends here
        try:
            return work()
        finally:
            connections.close_all()

    return await sync_to_async(worked, thread_sensitive=False)()
