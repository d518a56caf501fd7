"""Commands about spaces: which one is used here, and which there are."""

from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from service.cli.base import Command, Globals
from service.cli.output import ago, answer, cell, grid, safe, tabbed
from service.cli.session import client, space_choice

if TYPE_CHECKING:
    from rich.table import Table


@click.command(cls=Command, examples=("muisti space", "muisti space --json"))
@click.pass_obj
def space(options: Globals) -> None:
    """Show which space is used here, and why.

    It is the first that there is of: --space, MUISTI_SPACE, the git remote origin, the folder of the git repository,
    the working directory. Needs neither a server nor a database.
    """
    choice = space_choice(options)
    if options.json:
        click.echo(import_module("msgspec").json.encode({"space": choice.space, "why": choice.why}))
    else:
        click.echo(safe(f"{choice.space}\t{choice.why}"))


@click.command(cls=Command, examples=("muisti spaces", "muisti spaces --url http://127.0.0.1:8321"))
@click.pass_obj
def spaces(options: Globals) -> None:
    """List the spaces."""
    with client(options) as opened:
        answer(
            options,
            opened.spaces(),
            table=_table,
            plain=lambda data: [tabbed(item["name"], item["seq"], item["created_at"]) for item in data["items"]],
        )


def _table(data: Any) -> "Table":
    now = datetime.now(UTC)
    table = grid(None, "space", "changes", "made", right=("changes",))
    for item in data["items"]:
        table.add_row(cell(item["name"]), item["seq"].rpartition(":")[2], ago(item["created_at"], now))
    return table
