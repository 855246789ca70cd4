"""Calls of tools of the organisation's MCP servers."""

from collections.abc import Callable, Mapping
from typing import Any

from integrations.contracts import AccountRef
from integrations.exceptions import Changed, ProviderError
from integrations.ports.tools import ToolsWriter
from integrations.providers.mcp import calls, catalogue, readback


class McpWriter:
    """Satisfies `integrations.ports.tools.ToolsWriter`. Each server has a credential of its own,
    and which one it is follows from the tool."""

    credential = ""
    request_id = ""

    def __init__(self, account: AccountRef) -> None:
        self._account = account

    def call_tool(
        self, tool_id: str, arguments: Mapping[str, Any], *, revision: str | None, key: str
    ) -> dict[str, Any]:
        row = catalogue.row_of(self._account, tool_id)
        if not (row.enabled and row.server.enabled) or str(row.version) != revision:
            raise Changed("the tool is not the one that was decided on")
        call = readback.begin(self._account, row, arguments, key=key)
        try:
            return calls.call(
                catalogue.address(row.server, self._account),
                name=row.name,
                fingerprint=row.fingerprint,
                arguments=arguments,
                key=key,
                repeatable=catalogue.effect_of(row) == "reading",
            )
        except ProviderError as error:
            if not error.outcome_unknown:
                readback.refuse(call)
            raise


open_writer: Callable[[AccountRef], ToolsWriter] = McpWriter
