"""The quota command: how much a space may hold."""

from typing import Any

import click

from muisti.client import calls
from muisti.service.settings import parse_bytes
from muisti.service.terminal.base import Globals, command
from muisti.service.terminal.options import OrDefault, option
from muisti.service.terminal.session import ask
from muisti.service.terminal.views import Table, View, grid, tabbed

MOST = OrDefault("most", lambda text: 0 if text == "0" else parse_bytes(text), "a number such as 1000 or 512MB")


@command("muisti quota --memories 100000 --bytes 1GiB", "muisti quota --space acme --bytes default")
@option("--memories", "Largest number of memories, or `default` for the server's setting.", MOST, metavar="N")
@option("--bytes size", "Largest size in bytes, such as 512MB, or `default`.", MOST, metavar="SIZE")
def quota(options: Globals, memories: int | str | None, size: int | str | None) -> None:
    """Limit the memories and bytes of a space.

    Memories that are stored already stay; new ones above the limit are refused. `muisti stats` shows the use and the
    limit.
    """
    given = {name: most for name, most in (("memories", memories), ("bytes", size)) if most is not None}
    if not given:
        raise click.UsageError("give a limit: --memories or --bytes; `muisti stats` shows the current sizes")
    changes = {name: None if most == OrDefault.WORD else int(most) for name, most in given.items()}
    ask(options, lambda space: calls.set_quota(space, changes), View(_table, _lines))


def _lines(found: Any) -> list[str]:
    return [tabbed(name, one["used"], _limit(one)) for name, one in found.items()]


def _table(found: Any) -> Table:
    rows = ((name, f"{one['used']:,}", _limit(one)) for name, one in found.items())
    return grid(None, "", "holds", "may hold", right=("holds", "may hold"), rows=rows)


def _limit(one: Any) -> str:
    return "any" if one["limit"] is None else str(one["limit"])
