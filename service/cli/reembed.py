"""The reembed command."""

from importlib import import_module
from typing import TYPE_CHECKING

import click

from service.cli.base import Command, Failure, Globals
from service.cli.output import console, talk
from service.cli.progress import Stages
from service.cli.session import refusals, server_url, space_choice

if TYPE_CHECKING:
    from service.settings import Settings


@click.command(
    cls=Command,
    examples=("muisti reembed --space acme.web", "MUISTI_MODEL=./my-model muisti reembed --space acme.web"),
)
@click.option("--force", is_flag=True, help="Also when the probes of the space find less with it.")
@click.pass_obj
def reembed(options: Globals, *, force: bool) -> None:
    """Embed a space anew with the model that runs.

    Needed after a change of the model. Works on the database file, also while a server runs on it: searches use the
    old model until all is done. It can be stopped and started again. Prints the space and its model.
    """
    if server_url(options):
        raise click.UsageError("reembed works on the database file: run it there, without --url and MUISTI_URL")
    name = space_choice(options).space
    with (
        refusals(options),
        import_module("service.cli.local").open_here(_settings(options)) as engine,
        Stages(console(options, stderr=True)) as stages,
    ):
        errors = import_module("core.errors")
        stages.begin(name)
        try:
            space = engine.reembed(name, lambda done, total: stages.note("embedding", done, total), force=force)
        except errors.NotFound as error:
            raise Failure(f"there is no space {name}; `muisti spaces` lists those that exist") from error
    if options.json:
        click.echo(import_module("msgspec").json.encode(space))
    else:
        click.echo(f"{space.name}\t{space.generation}")
    talk("Done. A server that still runs with another model must be restarted with this one.")


def _settings(options: Globals) -> "Settings":
    import_module("service.cli.callers").demand(options, "admin")
    return import_module("service.cli.whereabouts").settings_for(options)
