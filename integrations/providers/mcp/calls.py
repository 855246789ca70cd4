"""Calling one tool. Only this provider's writer may import this module (import-linter holds it), so
that no tool is called without a decision and a ledger row."""

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from integrations.exceptions import Changed
from integrations.providers.mcp.contracts import storable
from integrations.providers.mcp.conversation import Address, Sent
from integrations.providers.mcp.listing import listed
from integrations.providers.mcp.session import Failed, converse, short

if TYPE_CHECKING:
    from mcp import ClientSession
    from mcp.types import CallToolResult

MAX_TEXT = 16_000  # characters of an answer that are kept
CUT = " […]"


def call(
    address: Address,
    *,
    name: str,
    fingerprint: str,
    arguments: Mapping[str, Any],
    key: str,
    repeatable: bool,
) -> dict[str, Any]:
    """What the tool answered, cut to size: `text`, `structured`, and `left_out`.

    Sent once, unless it is `repeatable`; then as often as MCP_RETRIES allows. The tool is looked
    at in the same conversation: one with another fingerprint is not called. `key` goes to the
    server, which may know by it what it did already. Raises ProviderError; Failed where the tool
    says that it failed.
    """

    async def work(session: "ClientSession", sent: Sent) -> dict[str, Any]:
        # See integrations.providers.mcp.session.
        from mcp.types import (  # noqa: PLC0415
            CallToolRequest,
            CallToolRequestParams,
            CallToolResult,
            InputRequiredResult,
        )

        now = {tool.name: tool for tool in await listed(session, sent)}
        if name not in now or now[name].fingerprint(address.url) != fingerprint:
            raise Changed("the server has changed the tool")
        sent.acting = not repeatable
        # Not session.call_tool: it would hold the answer to a schema of the server's making, with
        # regular expressions that may never end.
        request = CallToolRequest(
            params=CallToolRequestParams(
                name=name, arguments=dict(arguments), _meta={"remit/idempotency-key": key}
            )
        )
        answer = await session.send_request(
            request, TypeAdapter(CallToolResult | InputRequiredResult)
        )
        if isinstance(answer, InputRequiredResult):
            raise Failed("the tool asks for more, and nobody can answer that here")
        if answer.is_error:
            raise Failed("the tool says that it failed", said=short(_texts(answer)))
        return _read_answer(answer)

    return converse(address, work)


def _read_answer(answer: "CallToolResult") -> dict[str, Any]:
    text = _texts(answer)
    content: dict[str, Any] = {"text": text[:MAX_TEXT] + CUT * (len(text) > MAX_TEXT)}
    left_out: list[str] = sorted({block.type for block in answer.content if block.type != "text"})
    if answer.structured_content is not None:
        structured = _storable(answer.structured_content)
        if len(json.dumps(structured, ensure_ascii=False)) <= MAX_TEXT:
            content["structured"] = structured
        else:
            left_out.append("structured content, which was too long")
    return content | ({"left_out": left_out} if left_out else {})


def _texts(answer: "CallToolResult") -> str:
    return storable("\n".join(block.text for block in answer.content if block.type == "text"))


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable(name): _storable(item) for name, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return json.dumps(value)  # “Infinity”: JSON has no such number
    return [_storable(item) for item in value] if isinstance(value, list) else value
