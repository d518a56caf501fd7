"""The reembed command."""

from typing import TYPE_CHECKING

import click

from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import CONFLICT, Failure, Globals, command
from muisti.service.cli.options import flag
from muisti.service.cli.output import console, print_json, talk
from muisti.service.cli.session import demand, refusals, server_url, space_choice

if TYPE_CHECKING:
    from muisti.core.engine import Engine
    from muisti.core.model import errors
    from muisti.core.model.spaces import Space
    from muisti.service.app import local
    from muisti.service.cli import configuration, progress
else:  # with the whole service
    errors = Lazy("muisti.core.model.errors")
    local = Lazy("muisti.service.app.local")
    progress = Lazy("muisti.service.cli.progress")
    configuration = Lazy("muisti.service.cli.configuration")


@command(
    "muisti reembed --space acme.web", "muisti reembed --all", "MUISTI_MODEL=./my-model muisti reembed --space acme.web"
)
@flag("--all every", "Every space of the database.")
@flag("--force", "Change the model even if the probes find less with it.")
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
    with refusals(options):
        demand(options, "admin")
        settings = configuration.settings_for(options)
        with local.open_here(settings) as engine, progress.Stages(console(options, stderr=True)) as stages:
            names = sorted(space.name for space in engine.spaces.list()) if every else [space_choice(options).space]
            spaces, refused = _reembedded(engine, names, stages, force=force, every=every)
    if options.json:
        print_json({"items": spaces} if every else spaces[0])
    else:
        for space in spaces:
            click.echo(f"{space.name}\t{space.generation}")
    if refused:
        raise Failure("\n".join(refused), CONFLICT)
    talk("Done. A server that still runs with another model must be restarted with this one.")


def _reembedded(
    engine: "Engine", names: list[str], stages: "progress.Stages", *, force: bool, every: bool
) -> "tuple[list[Space], list[str]]":
    """Return the spaces that have the model now, and the reasons why other spaces keep theirs."""
    spaces: list[Space] = []
    refused: list[str] = []
    for name in names:
        stages.begin(name)
        try:
            spaces.append(engine.reembed(name, lambda done, total: stages.note("embedding", done, total), force=force))
        except errors.NotFound as error:
            raise Failure(f"there is no space {name}; `muisti spaces` lists those that exist") from error
        except errors.RecallDropped as error:
            if not every:
                raise
            refused.append(f"{name}: {error}")
    return spaces, refused
