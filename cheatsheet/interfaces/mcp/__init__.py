"""The memory as an MCP server: tools, resources and prompts for agents, over standard input and output or HTTP."""
