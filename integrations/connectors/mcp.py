"""Tools of MCP servers. They are called, and nothing of them is kept to be searched."""

from datetime import timedelta

from integrations.connectors.base import Connector
from integrations.contracts import Document

CONNECTOR = Connector(
    source="mcp",
    label="MCP servers",
    content_type="document",
    item_type=Document,
    window=timedelta(0),
)
