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
@click.option("--once", is_flag=True, help="Show the numbers since the server's start, and end.")
@click.option("--every", type=click.FloatRange(0.2, 3600), default=2.0, show_default=True, metavar="SECONDS")
@click.pass_obj
def top(options: Globals, once: bool, every: float) -> None:
    """Watch a server at work.

    Requests, searches, writes and memory, each second, from the server's /metrics, until Ctrl-C. A server with keys
    asks for one that may administer, in MUISTI_KEY.
    """
    readings.run(options, once, every)
