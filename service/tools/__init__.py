"""Frame of MCP tools: their declaration, arguments, sessions and rendering. It knows no tool."""
