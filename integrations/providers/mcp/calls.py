"""Calling one tool. Only this provider's writer may import this module, so that no tool is called
without a decision and a ledger row, and what reads back what became of such a call (import-linter
holds it)."""

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from integrations.exceptions import Changed, Malformed
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
        await _check(session, sent, address, name=name, fingerprint=fingerprint)
        sent.acting = not repeatable
        meta = {"remit/idempotency-key": key}
        return _read_answer(await _ask(session, name=name, arguments=arguments, meta=meta))

    return converse(address, work)


def read(address: Address, *, name: str, fingerprint: str, arguments: Mapping[str, Any]) -> Any:
    """The JSON that a tool which only reads answers, whole. Raises ProviderError; Malformed where
    it is none."""

    async def work(session: "ClientSession", sent: Sent) -> Any:
        await _check(session, sent, address, name=name, fingerprint=fingerprint)
        answer = await _ask(session, name=name, arguments=arguments, meta={})
        if answer.structured_content is not None:
            return answer.structured_content
        try:
            return json.loads(_texts(answer))
        except (ValueError, RecursionError) as error:
            raise Malformed("the tool answers no JSON") from error

    return converse(address, work)


async def _check(
    session: "ClientSession", sent: Sent, address: Address, *, name: str, fingerprint: str
) -> None:
    now = {tool.name: tool for tool in await listed(session, sent)}
    if name not in now or now[name].fingerprint(address.url) != fingerprint:
        raise Changed("the server has changed the tool")


async def _ask(
    session: "ClientSession", *, name: str, arguments: Mapping[str, Any], meta: dict[str, Any]
) -> "CallToolResult":
    # See integrations.providers.mcp.session.
    from mcp.types import (  # noqa: PLC0415
        CallToolRequest,
        CallToolRequestParams,
        CallToolResult,
        InputRequiredResult,
    )

    # Not session.call_tool: it would hold the answer to a schema of the server's making, with
    # regular expressions that may never end.
    params = CallToolRequestParams(name=name, arguments=dict(arguments), _meta=meta)
    answer = await session.send_request(
        CallToolRequest(params=params), TypeAdapter(CallToolResult | InputRequiredResult)
    )
    if isinstance(answer, InputRequiredResult):
        raise Failed("the tool asks for more, and nobody can answer that here")
    if answer.is_error:
        raise Failed("the tool says that it failed", said=short(_texts(answer)))
    return answer


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
