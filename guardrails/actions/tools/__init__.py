"""Actions through tools of MCP servers."""
