"""The command `muisti graph communities`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from muisti.client import calls
from muisti.core.model.graph_terms import COMMUNITIES_MAX
from muisti.service.cli.base import Command, Globals
from muisti.service.cli.commands.graph.showing import ask
from muisti.service.cli.options import as_of
from muisti.service.cli.output import cell, grid, tabbed, talk

if TYPE_CHECKING:
    from rich.console import RenderableType


@click.command(cls=Command, examples=("muisti graph communities", "muisti graph communities -n 5"))
@click.option(
    "-n", "--limit", type=click.IntRange(1, COMMUNITIES_MAX), metavar="N", help="Communities at most.  [default: 20]"
)
@as_of
@click.pass_obj
def communities(options: Globals, **given: Any) -> None:
    """List what belongs together: names that memories mention together more often than by chance.

    Prints the number of memories and of names, and the most telling names.
    """
    asked = {name: value for name, value in given.items() if value is not None}
    data = ask(options, calls.list_communities, asked, _table, _lines, "No names belong together.")
    if data["too_large"]:
        talk("The graph of this space has too many mentions to look for communities.")


def _table(data: Any) -> RenderableType:
    table = grid(None, "memories", "names", "most telling", right=("memories", "names"))
    for one in data["items"]:
        told = cell(", ".join(end["name"] for end in one["entities"]))
        table.add_row(cell(one["memories"]), cell(one["size"], "dim"), told)
    return table


def _lines(data: Any) -> list[str]:
    return [
        tabbed(one["memories"], one["size"], ", ".join(end["name"] for end in one["entities"])) for one in data["items"]
    ]
