"""Commands about the embedding models of a space."""

from typing import TYPE_CHECKING

import click

from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Command, Globals, Subcommands

if TYPE_CHECKING:
    from muisti.service.cli.commands.generations import exchanging
else:  # with rich, which `--help` does without
    exchanging = Lazy("muisti.service.cli.commands.generations.exchanging")

COMMANDS = {
    "list": ("generations:list_generations", "List the models of the space, and those that are at hand."),
    "build": ("generations:build", "Embed the space with a second model, while the first one is in use."),
    "compare": ("generations:compare", "Ask both models the same questions."),
    "switch": ("generations:switch", "Use the second model from now on."),
    "rollback": ("generations:rollback", "Use the model before again; nothing is embedded."),
    "drop": ("generations:drop", "Delete the vectors of a model that is not in use."),
}

generations = Subcommands(
    "generations",
    commands_at=COMMANDS,
    examples=(
        "muisti generations build ./my-model",
        "muisti generations compare --judged questions.json",
        "muisti generations switch",
    ),
    help="Exchange the embedding model of a space while it is in use.\n\nThe models at hand are MUISTI_MODEL and those "
    "that MUISTI_MODELS lists.",
)

force_option = click.option(
    "--force", is_flag=True, help="Also when vectors are missing, or the probes find less with it."
)


@click.command("list", cls=Command, examples=("muisti generations list",))
@click.pass_obj
def list_generations(options: Globals) -> None:
    """List the models of the space, and those that are at hand.

    Plain lines have the hash, the name, the role, the passages that are embedded, and all passages.
    """
    exchanging.show_all(options)


@click.command(cls=Command, examples=("muisti generations build ./my-model", "muisti generations build m --no-wait"))
@click.argument("model")
@click.option("--wait/--no-wait", default=True, show_default=True, help="Follow the task until it ends.")
@click.pass_context
def build(context: click.Context, model: str, wait: bool) -> None:
    """Embed the space with a second model, while the first one is in use.

    MODEL is one of the models at hand. Writes are embedded by both models from now on. On a database file this command
    does the work. You can stop it and run it again. Prints the task.
    """
    context.exit(exchanging.build(context.ensure_object(Globals), model, wait=wait))


@click.command(cls=Command, examples=("muisti generations compare", "muisti generations compare --judged qrels.json"))
@click.option("--query", "queries", metavar="TEXT", multiple=True, help="A question to ask; repeat it.")
@click.option(
    "--judged",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help='JSON with grades of memories by question: {"when do we deploy?": {"ID": 1}}.',
)
@click.option("--k", type=click.IntRange(1, 100), default=10, show_default=True, help="Memories to compare.")
@click.pass_obj
def compare(options: Globals, queries: tuple[str, ...], judged: str | None, k: int) -> None:
    """Ask both models the same questions.

    The probes of the space (`muisti probe`) are asked too. Prints for both models the recall of the probes, the nDCG of
    judged questions and the milliseconds of a search. The last line has the share of the first memories that both find.
    """
    exchanging.compare(options, queries, judged, k)


@click.command(cls=Command, examples=("muisti generations switch",))
@force_option
@click.pass_obj
def switch(options: Globals, force: bool) -> None:
    """Use the second model from now on.

    The next search uses it, in every process. The model before is kept up to date until you drop it.
    """
    exchanging.switch(options, force=force)


@click.command(cls=Command, examples=("muisti generations rollback",))
@force_option
@click.pass_obj
def rollback(options: Globals, force: bool) -> None:
    """Use the model before again; nothing is embedded."""
    exchanging.roll_back(options, force=force)


@click.command(cls=Command, examples=("muisti generations drop 9c61d7a04be2",))
@click.argument("model")
@click.pass_obj
def drop(options: Globals, model: str) -> None:
    """Delete the vectors of a model that is not in use.

    MODEL is its name, or the first 12 or more characters of its hash. Prints the hash and how many were deleted.
    """
    exchanging.drop(options, model)
