"""Model Context Protocol servers as a client sees them: listing tools, calling one."""
