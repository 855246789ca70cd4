"""The chat API, and Remit as an MCP server (`mcp`)."""
