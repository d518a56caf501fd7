"""The reembed command."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from service.cli.base import CONFLICT, Command, Failure, Globals
from service.cli.output import console, talk
from service.cli.progress import Stages
from service.cli.session import refusals, server_url, space_choice

if TYPE_CHECKING:
    from service.settings import Settings


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
    with (
        refusals(options),
        import_module("service.cli.local").open_here(_settings(options)) as engine,
        Stages(console(options, stderr=True)) as stages,
    ):
        names = sorted(space.name for space in engine.spaces.list()) if every else [space_choice(options).space]
        spaces, refused = _reembedded(engine, names, stages, force=force, every=every)
    if options.json:
        click.echo(import_module("msgspec").json.encode({"items": spaces} if every else spaces[0]))
    else:
        for space in spaces:
            click.echo(f"{space.name}\t{space.generation}")
    if refused:
        raise Failure("\n".join(refused), CONFLICT)
    talk("Done. A server that still runs with another model must be restarted with this one.")


def _reembedded(
    engine: Any, names: list[str], stages: Stages, *, force: bool, every: bool
) -> tuple[list[Any], list[str]]:
    """The spaces that have the model now, and why others of all spaces keep theirs."""
    errors = import_module("core.errors")
    spaces: list[Any] = []
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


def _settings(options: Globals) -> "Settings":
    import_module("service.cli.callers").demand(options, "admin")
    return import_module("service.cli.whereabouts").settings_for(options)
