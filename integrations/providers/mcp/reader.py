"""Reads of an account through which the organisation's MCP servers are called."""

from collections.abc import Callable

from integrations.contracts import AccountRef
from integrations.contracts.people import Correspondence, Correspondent
from integrations.ports.evidence import Evidence
from integrations.ports.tools import Tool, ToolsReader
from integrations.providers.data_service.reader import DataServiceReader
from integrations.providers.data_service.session import has_upstream
from integrations.providers.mcp import catalogue, readback


class McpReader(DataServiceReader):
    """Everything but the tools it reads of the same user's data service, where there is one: no
    server knows whom the user wrote to. Satisfies `integrations.ports.tools.ToolsReader`."""

    def correspondence(self, address: str) -> Correspondence:
        """Where there is no data service, the user has written to nobody."""
        if not has_upstream(self._account):
            return Correspondence(address=address, sent=0, received=0)
        return super().correspondence(address)

    def correspondents(self, *, limit: int) -> tuple[Correspondent, ...]:
        return super().correspondents(limit=limit) if has_upstream(self._account) else ()

    def tool(self, tool_id: str) -> Tool:
        return catalogue.tool(self._account, tool_id)

    def evidence(self, key: str) -> Evidence:
        return readback.evidence(self._account, key)


open_reader: Callable[[AccountRef], ToolsReader] = McpReader
