"""The official conformance suite of MCP, the Inspector and the TypeScript client against a running server."""
