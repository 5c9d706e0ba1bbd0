"""The MCP server, as clients meet it."""
