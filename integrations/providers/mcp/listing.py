"""Reading which tools a server offers. Tried again; a list changes nothing."""

from typing import TYPE_CHECKING, Any

from integrations.exceptions import Malformed
from integrations.providers.mcp.contracts import OfferedTool
from integrations.providers.mcp.conversation import Address, Sent
from integrations.providers.mcp.session import converse

if TYPE_CHECKING:
    from mcp import ClientSession
    from mcp.types import Tool

MAX_TOOLS, MAX_PAGES = 500, 50


def offered(address: Address) -> tuple[OfferedTool, ...]:
    """Every tool of the server, as it says now. Raises ProviderError, also for a name that stands
    there twice and for a list without end."""
    return converse(address, listed)


async def listed(session: "ClientSession", _: Sent) -> tuple[OfferedTool, ...]:
    from mcp.types import PaginatedRequestParams  # noqa: PLC0415  # see integrations.providers.mcp.session

    found: dict[str, OfferedTool] = {}
    cursor: str | None = None
    for _page in range(MAX_PAGES):
        page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor))
        for tool in page.tools:
            if tool.name in found:
                raise Malformed("two tools have one name")
            found[tool.name] = _offered(tool)
        if len(found) > MAX_TOOLS:
            break
        cursor = page.next_cursor
        if cursor is None:
            return tuple(found.values())
    raise Malformed("there are too many tools")


def _offered(tool: "Tool") -> OfferedTool:
    hints: dict[str, Any] = {}
    if tool.annotations is not None:
        hints = tool.annotations.model_dump(mode="json", exclude_none=True)
    return OfferedTool(
        name=tool.name,
        title=tool.title or "",
        description=tool.description or "",
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        hints=hints,
    )
