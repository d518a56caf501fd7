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
@click.option("--force", is_flag=True, help="Change the model even if the probes find less with it.")
@click.pass_obj
def reembed(options: Globals, *, every: bool, force: bool) -> None:
    """Compute all vectors of a space again, with the current model.

    Run it after a change of the model. It works on the database file, also while a server uses it: searches use the old
    model until the new vectors are complete. You can stop and restart the command. Prints the space and its model. A
    space whose probes (`muisti probe`) find less with the new model keeps the old one; --all names it and continues.
    """
    if server_url(options):
        raise click.UsageError("reembed works on the database file: run it there, without --url and MUISTI_URL")
    if every and options.space is not None:
        raise click.UsageError("give --all or --space, not both")
    spaces.embed_again(options, every=every, force=force)
