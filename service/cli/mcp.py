"""The mcp command: the same tools for a client that starts its servers itself."""

from importlib import import_module

import click

from service.cli.base import Command, Globals
from service.cli.session import refusals, server_url, space_choice
from service.schemas.modes import MODES


@click.command(
    cls=Command,
    examples=("muisti mcp", "muisti mcp --space acme.web --mode read-only", "muisti mcp --category notes"),
)
@click.option("--mode", type=click.Choice(list(MODES)), help="What tools there are.  [default: that of --access, full]")
@click.option("--category", metavar="NAME", help="The only category that there is.")
@click.pass_obj
def mcp(options: Globals, mode: str | None, category: str | None) -> None:
    """Serve MCP on standard input and output.

    For a client that starts its servers itself. Works on the database file and in one space; a running server offers
    the same at /mcp.
    """
    if server_url(options):
        raise click.UsageError("a server that runs already speaks MCP itself, at /mcp; leave out --url and MUISTI_URL")
    with refusals(options):
        limits = import_module("service.cli.limits")
        spaces = (space_choice(options).space,)
        grant = import_module("service.cli.callers").grant_of(
            mode or limits.mode_of(options), spaces, category or limits.category_of(options)
        )
        settings = import_module("service.cli.whereabouts").settings_for(options, create=True)
        import_module("service.mcp.stdio").run(settings, grant)
