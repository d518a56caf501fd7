"""The demo command."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Command, Globals

if TYPE_CHECKING:
    from muisti.service.cli.commands.demo import steps
else:  # with a client and its settings
    steps = Lazy("muisti.service.cli.commands.demo.steps")


@click.command(cls=Command, examples=("muisti demo", "muisti demo --keep harbour.db", "muisti demo --json"))
@click.option(
    "--keep", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Keep the demo's database in FILE."
)
@click.pass_obj
def demo(options: Globals, keep: Path | None) -> None:
    """Try Muisti on a made-up project.

    Stores 200 memories of a team that runs ferries, asks questions, stores a contradiction, and shows how long each
    step took. The demo has a database of its own, which is deleted afterwards unless --keep names a file.
    """
    steps.run(options, keep)
