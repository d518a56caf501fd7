"""Commands about the embedding models that the settings name."""

from typing import TYPE_CHECKING

import click

from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Command, Globals, Subcommands

if TYPE_CHECKING:
    from muisti.service.cli.commands.models import trying
else:  # with the core
    trying = Lazy("muisti.service.cli.commands.models.trying")

models = Subcommands(
    "models",
    commands_at={"test": ("models:test", "Try a model, and measure how fast it is.")},
    examples=("muisti models test", "muisti models test onnx:./my-model --json"),
    help="Try the embedding models that the settings name.",
)


@click.command(
    cls=Command,
    examples=(
        "muisti models test",
        "MUISTI_EMBEDDING_URL=http://localhost:11434/v1 MUISTI_EMBEDDING_MODEL=nomic-embed-text muisti models test",
    ),
)
@click.argument("model", required=False)
@click.option(
    "--texts", type=click.IntRange(2, 10_000), default=128, show_default=True, help="Texts that are embedded for it."
)
@click.pass_obj
def test(options: Globals, model: str | None, texts: int) -> None:
    """Try a model, and measure how fast it is.

    MODEL is a name as in MUISTI_MODEL; without it, the model of the settings is tried. Prints its identity and its
    dimensions, milliseconds for a query (median and longest), and texts a second. `near` of `pairs` English texts are
    nearest to their paraphrase. Nothing is stored. The command fails when the model does not answer.
    """
    trying.run(options, model, texts)
