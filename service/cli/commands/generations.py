"""Commands about the embedding models of a space."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muisti.client import calls
from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import ERROR, Failure, Globals, Subcommands
from muisti.service.cli.options import flag, integer, option
from muisti.service.cli.output import View, cell, grid, lines, listed, tabbed, talk
from muisti.service.cli.session import ask, session

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from muisti.service.cli import progress
else:  # the bar of a task, and a client
    progress = Lazy("muisti.service.cli.progress")


generations = Subcommands(
    "generations",
    examples=(
        "muisti generations build ./my-model",
        "muisti generations compare --judged questions.json",
        "muisti generations switch",
    ),
    help="Exchange the embedding model of a space while it is in use.\n\nThe models at hand are MUISTI_MODEL and those "
    "that MUISTI_MODELS lists.",
)

force_option = flag("--force", "Also when vectors are missing, or the probes find less with it.")


def _role(one: Any) -> "Text":
    words = f"{one['role']}, before" if one["served"] else one["role"]
    return cell(words, "green" if one["role"] == "current" else "")


GENERATIONS = listed(
    {
        "model": "model",
        "hash": lambda one: one["generation"][:12],
        "role": _role,
        "embedded": lambda one: f"{one['embedded']}/{one['passages']}",
        "at hand": lambda one: "yes" if one["available"] else "no",
    },
    ("generation", "model", "role", "embedded", "passages"),
    right=("embedded",),
    none="Nothing is embedded yet.",
)
SIDES = ("current", "shadow")


@generations.has("muisti generations list", name="list")
def list_generations(options: Globals) -> None:
    """List the models of the space, and those that are at hand.

    Plain lines have the hash, the name, the role, the passages that are embedded, and all passages.
    """
    data = ask(options, calls.list_generations, GENERATIONS, reads=True)
    talk("At hand: " + (", ".join(data["models"]) or "no model, embeddings are off"))


@generations.has("muisti generations build ./my-model", "muisti generations build m --no-wait")
@click.argument("model")
@click.option("--wait/--no-wait", default=True, show_default=True, help="Follow the task until it ends.")
def build(options: Globals, model: str, wait: bool) -> int:
    """Embed the space with a second model, while the first one is in use.

    MODEL is one of the models at hand. Writes are embedded by both models from now on. On a database file this command
    does the work. You can stop it and run it again. Prints the task.
    """
    with session(options) as opened:
        task = opened.client.send(calls.build_generation(opened.space, {"model": model})).data
        return progress.concluded(options, opened, task, wait=wait)


@generations.has("muisti generations compare", "muisti generations compare --judged qrels.json")
@option("--query queries", "A question to ask; repeat it.", metavar="TEXT", multiple=True)
@option(
    "--judged",
    'JSON with grades of memories by question: {"when do we deploy?": {"ID": 1}}.',
    click.Path(exists=True, dir_okay=False),
    metavar="FILE",
)
@integer("--k", "Memories to compare.", 1, 100, default=10)
def compare(options: Globals, queries: tuple[str, ...], judged: str | None, k: int) -> None:
    """Ask both models the same questions.

    The probes of the space (`muisti probe`) are asked too. Prints for both models the recall of the probes, the nDCG of
    judged questions and the milliseconds of a search. The last line has the share of the first memories that both find.
    """
    body = {"k": k, "queries": [*queries], "qrels": {} if judged is None else _judged(Path(judged))}
    data = ask(options, lambda space: calls.compare_generations(space, body), View(_compared, _compared_lines))
    if not data["questions"]:
        talk("There was no question: add probes with muisti probe add, or give --query or --judged.")


@generations.has("muisti generations switch")
@force_option
def switch(options: Globals, force: bool) -> None:
    """Use the second model from now on.

    The next search uses it, in every process. The model before is kept up to date until you drop it.
    """
    ask(options, lambda space: calls.switch_generation(space, {"force": force}), GENERATIONS)
    talk("muisti generations rollback leads back; muisti generations drop ends the model before.")


@generations.has("muisti generations rollback")
@force_option
def rollback(options: Globals, force: bool) -> None:
    """Use the model before again; nothing is embedded."""
    ask(options, lambda space: calls.roll_back_generation(space, {"force": force}), GENERATIONS)


@generations.has("muisti generations drop 9c61d7a04be2")
@click.argument("model")
def drop(options: Globals, model: str) -> None:
    """Delete the vectors of a model that is not in use.

    MODEL is its name, or the first 12 or more characters of its hash. Prints the hash and how many were deleted.
    """
    view = View(lambda one: cell(f"{one['generation']} {one['dropped']}"), lines("generation", "dropped"))
    ask(options, lambda space: calls.drop_generation(space, model), view)


def _judged(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise Failure(f"{path} is no JSON: {error}", ERROR) from error


def _compared_lines(data: Any) -> list[str]:
    found = [tabbed(side, *(_number(data[side][name]) for name in ("recall", "ndcg", "ms"))) for side in SIDES]
    return [*found, tabbed("overlap", _number(data["overlap"]), data["questions"], data["missing"])]


def _compared(data: Any) -> "Table":
    table = grid(None, "", "hash", "probe recall", f"nDCG@{data['k']}", "ms", right=("probe recall", "ms"))
    for side in SIDES:
        one = data[side]
        table.add_row(side, one["generation"][:12], *(_number(one[name]) for name in ("recall", "ndcg", "ms")))
    table.add_row(f"overlap@{data['k']}", _number(data["overlap"]), f"{data['questions']} questions", "", "")
    return table


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
