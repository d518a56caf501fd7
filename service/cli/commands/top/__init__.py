"""The top command."""

from typing import TYPE_CHECKING

import click

from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Command, Globals

if TYPE_CHECKING:
    from muisti.service.cli.commands.top import readings
else:  # 80 ms, with the parser of metrics
    readings = Lazy("muisti.service.cli.commands.top.readings")


@click.command(
    cls=Command,
    examples=(
        "muisti top --url http://127.0.0.1:8321",
        "muisti top --once --json",
        "muisti top --every 5",
    ),
)
@click.option("--once", is_flag=True, help="Print the numbers since the server's start, and exit.")
@click.option(
    "--every",
    type=click.FloatRange(0.2, 3600),
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="Time between two readings.",
)
@click.pass_obj
def top(options: Globals, once: bool, every: float) -> None:
    """Watch the load of a running server.

    Shows rates and times of requests, searches and writes, and the memory in use, until Ctrl-C. The numbers come from
    the server's /metrics. If the server has keys, MUISTI_KEY must hold one with the scope admin.
    """
    readings.run(options, once, every)
