"""Tools of servers that speak the Model Context Protocol (docs/mcp.md): reading what they offer,
and calling one. Only `integrations.accounts.writes` opens the way to a call."""
