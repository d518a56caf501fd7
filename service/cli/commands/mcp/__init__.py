"""The mcp command: the MCP tools for a client that starts its servers itself."""

from typing import TYPE_CHECKING

import click

from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Globals, command
from muisti.service.cli.options import choice, option
from muisti.service.cli.session import server_url
from muisti.service.schemas.modes import MODES

if TYPE_CHECKING:
    from muisti.service.cli.commands.mcp import stdio
else:  # with the core
    stdio = Lazy("muisti.service.cli.commands.mcp.stdio")


@command(
    "muisti mcp",
    "muisti mcp --space acme.web --mode read-only",
    "muisti mcp --category notes",
    "muisti mcp --tools memory,code",
)
@choice("--mode", "Tools to offer.  [default: those of --access, or full]", list(MODES))
@option("--category", "Limit the tools to this category.")
@option(
    "--tools",
    "Groups of tools to offer, as a,b: memory, conversations, documents, code, graph, admin, chatgpt, or all.",
    metavar="GROUPS",
)
def mcp(options: Globals, mode: str | None, category: str | None, tools: str | None) -> None:
    """Serve MCP on standard input and output.

    This is for agent clients that start their MCP servers themselves. It works on the database file and in one space. A
    running Muisti server offers the same tools at /mcp.
    """
    if server_url(options):
        raise click.UsageError("a server that runs already speaks MCP itself, at /mcp; leave out --url and MUISTI_URL")
    stdio.run(options, mode, category, tools)
