"""Start Muisti's MCP server, which uv has installed beside this file."""

import sys

from muisti.service.cli import main

main([*sys.argv[1:], "mcp"])
