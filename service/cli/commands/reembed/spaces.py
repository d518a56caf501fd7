"""Re-embedding of spaces with the current model."""

import click
import msgspec

from muisti.core.engine import Engine
from muisti.core.model.errors import NotFound, RecallDropped
from muisti.core.model.spaces import Space
from muisti.service.app.local import open_here
from muisti.service.cli.base import CONFLICT, Failure, Globals
from muisti.service.cli.callers import demand
from muisti.service.cli.opening import refusals, space_choice
from muisti.service.cli.output import console, talk
from muisti.service.cli.progress import Stages
from muisti.service.cli.whereabouts import settings_for
from muisti.service.settings import Settings


def embed_again(options: Globals, *, every: bool, force: bool) -> None:
    """Embed the space of the options, or every space, and print each with its model."""
    with (
        refusals(options),
        open_here(_settings(options)) as engine,
        Stages(console(options, stderr=True)) as stages,
    ):
        names = sorted(space.name for space in engine.spaces.list()) if every else [space_choice(options).space]
        spaces, refused = _reembedded(engine, names, stages, force=force, every=every)
    if options.json:
        click.echo(msgspec.json.encode({"items": spaces} if every else spaces[0]))
    else:
        for space in spaces:
            click.echo(f"{space.name}\t{space.generation}")
    if refused:
        raise Failure("\n".join(refused), CONFLICT)
    talk("Done. A server that still runs with another model must be restarted with this one.")


def _reembedded(
    engine: Engine, names: list[str], stages: Stages, *, force: bool, every: bool
) -> tuple[list[Space], list[str]]:
    """Return the spaces that have the model now, and the reasons why other spaces keep theirs."""
    spaces: list[Space] = []
    refused: list[str] = []
    for name in names:
        stages.begin(name)
        try:
            spaces.append(engine.reembed(name, lambda done, total: stages.note("embedding", done, total), force=force))
        except NotFound as error:
            raise Failure(f"there is no space {name}; `muisti spaces` lists those that exist") from error
        except RecallDropped as error:
            if not every:
                raise
            refused.append(f"{name}: {error}")
    return spaces, refused


def _settings(options: Globals) -> Settings:
    demand(options, "admin")
    return settings_for(options)
