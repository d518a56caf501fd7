"""The reembed command."""

from typing import TYPE_CHECKING

import click

from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Command, Globals
from muisti.service.cli.session import server_url

if TYPE_CHECKING:
    from muisti.service.cli.commands.reembed import spaces
else:  # with the whole service
    spaces = Lazy("muisti.service.cli.commands.reembed.spaces")


@click.command(
    cls=Command,
    examples=(
        "muisti reembed --space acme.web",
        "muisti reembed --all",
        "MUISTI_MODEL=./my-model muisti reembed --space acme.web",
    ),
)
@click.option("--all", "every", is_flag=True, help="Every space of the database.")
@click.option("--force", is_flag=True, help="Also when the probes of the space find less with it.")
@click.pass_obj
def reembed(options: Globals, *, every: bool, force: bool) -> None:
    """Embed a space again, with the model that runs.

    Needed after a change of the model. Works on the database file, also while a server runs on it: searches use the
    old model until all is done. It can be stopped and started again. Prints the space and its model. With --all a space
    whose probes find less keeps its model and is named, and the others go on.
    """
    if server_url(options):
        raise click.UsageError("reembed works on the database file: run it there, without --url and MUISTI_URL")
    if every and options.space is not None:
        raise click.UsageError("give --all or --space, not both")
    spaces.embed_again(options, every=every, force=force)
