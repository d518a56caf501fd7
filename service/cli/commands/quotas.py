"""The quota command: how much a space may hold."""

from typing import TYPE_CHECKING, Any

import click

from muisti.client import calls
from muisti.service.cli.base import Globals, command
from muisti.service.cli.options import option
from muisti.service.cli.session import ask
from muisti.service.cli.values import refuse
from muisti.service.cli.views import View, cell, grid, tabbed
from muisti.service.settings import parse_bytes

if TYPE_CHECKING:
    from rich.table import Table

DEFAULT = "default"


class Most(click.ParamType):
    """Parse a number or a size, or the word for the server's default."""

    name = "most"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return value if value in (DEFAULT, "0") else parse_bytes(value)
        except ValueError:
            refuse(value, f"a number such as 1000 or 512MB, or {DEFAULT}", param, ctx)


@command("muisti quota --memories 100000 --bytes 1GiB", "muisti quota --space acme --bytes default")
@option("--memories", "Largest number of memories, or `default` for the server's setting.", Most(), metavar="N")
@option("--bytes size", "Largest size in bytes, such as 512MB, or `default`.", Most(), metavar="SIZE")
def quota(options: Globals, memories: int | str | None, size: int | str | None) -> None:
    """Limit the memories and bytes of a space.

    Memories that are stored already stay; new ones above the limit are refused. `muisti stats` shows the use and the
    limit.
    """
    given = {name: most for name, most in (("memories", memories), ("bytes", size)) if most is not None}
    if not given:
        raise click.UsageError("give a limit: --memories or --bytes; `muisti stats` shows the current sizes")
    changes = {name: None if most == DEFAULT else int(most) for name, most in given.items()}
    ask(options, lambda space: calls.set_quota(space, changes), View(_table, _lines))


def _lines(found: Any) -> list[str]:
    return [tabbed(name, one["used"], _limit(one)) for name, one in found.items()]


def _table(found: Any) -> "Table":
    table = grid(None, "", "holds", "may hold", right=("holds", "may hold"))
    for name, one in found.items():
        table.add_row(cell(name), f"{one['used']:,}", _limit(one))
    return table


def _limit(one: Any) -> str:
    return "any" if one["limit"] is None else str(one["limit"])
