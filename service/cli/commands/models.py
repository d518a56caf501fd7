"""Commands about embedding models: those that the settings name, and those of a space."""

import json
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click
import msgspec

from muisti.client import calls
from muisti.core.support.lazy import Lazy
from muisti.service.terminal.base import CONFLICT, ERROR, Failure, Globals, Subcommands, command
from muisti.service.terminal.calling import Operations
from muisti.service.terminal.options import flag, integer, limit, option
from muisti.service.terminal.output import print_json, show, talk
from muisti.service.terminal.session import (
    Stages,
    ask,
    concluded,
    demand,
    in_force,
    refusals,
    server_url,
    session,
    settings_for,
    space_choice,
)
from muisti.service.terminal.views import Table, Text, View, cell, fields, grid, listed, stated, tabbed

if TYPE_CHECKING:
    from muisti.core.embedding import models as hosted
    from muisti.core.embedding.encoder import Encoder
    from muisti.core.engine import Engine
    from muisti.core.model import errors
    from muisti.core.model.spaces import Space
    from muisti.core.placement import directory
    from muisti.service.runtime import models as embedders
else:  # with the core
    hosted = Lazy("muisti.core.embedding.models")
    errors = Lazy("muisti.core.model.errors")
    directory = Lazy("muisti.core.placement.directory")
    embedders = Lazy("muisti.service.runtime.models")

QUERIES = 10
PARAPHRASES = (  # few words in common
    ("How do I reset my password?", "I forgot my login credentials and need new ones."),
    ("The cat sat on the mat.", "A kitten was resting on the rug."),
    ("The company fired half of its staff.", "The firm laid off fifty percent of employees."),
    ("It is pouring outside.", "There is heavy rain right now."),
    ("She purchased a new automobile.", "The woman bought a car."),
    ("The database is slow under load.", "Queries take long when many users connect."),
)
TEXT = (
    "Note {number}: the nightly job copies the orders of the shop into the reporting database, and the team looks at "
    "the totals in the morning before the first call. When a total is missing, somebody starts the job again by hand."
)


models = Subcommands(
    "models",
    examples=("muisti models test", "muisti models test onnx:./my-model --json"),
    help="Try the embedding models that the settings name.",
)


@models.has(
    "muisti models test",
    "MUISTI_EMBEDDING_URL=http://localhost:11434/v1 MUISTI_EMBEDDING_MODEL=nomic-embed-text muisti models test",
)
@click.argument("model", required=False)
@integer("--texts", "Texts that are embedded for it.", 2, 10_000, default=128)
def test(options: Globals, model: str | None, texts: int) -> None:
    """Try a model, and measure how fast it is.

    MODEL is a name as in MUISTI_MODEL; without it, the model of the settings is tried. Prints its identity and its
    dimensions, milliseconds for a query (median and longest), and texts a second. `near` of `pairs` English texts are
    nearest to their paraphrase. Nothing is stored. The command fails when the model does not answer.
    """
    with refusals(options):
        settings = in_force(options)
        encoder = embedders.models_of(settings).default if model is None else embedders.encoder_of(settings, model)
        if encoder is None:
            raise Failure("embeddings are off")
        try:
            found = _tried(encoder, texts)
        except errors.MuistiError as error:
            raise Failure(str(error)) from error
        finally:
            if isinstance(encoder, hosted.Hosted):
                encoder.close()
    values = msgspec.structs.asdict(found)
    show(
        options,
        values,
        lambda _: fields([(name, str(value)) for name, value in values.items()]),
        lambda _: [tabbed(name, value) for name, value in values.items()],
    )


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """The result. Times are in milliseconds; `near` of `pairs` texts are nearest to their paraphrase."""

    name: str
    identity: str
    dimensions: int
    query_ms: float
    longest_query_ms: float
    texts_per_second: float
    near: int
    pairs: int = len(PARAPHRASES)


def _tried(encoder: "Encoder", texts: int) -> Trial:
    """Try an encoder.

    Raises:
        MuistiError: it does not embed.
    """
    if isinstance(encoder, hosted.Hosted):
        encoder.settle(hosted.recognise(encoder.configuration, encoder.probe(), []))
    near = _near(encoder)  # and loads the model before the times are taken
    queries = [_seconds_of_query(encoder, number) for number in range(QUERIES)]
    began = perf_counter()
    encoder.encode([TEXT.format(number=number) for number in range(texts)])
    took = perf_counter() - began
    return Trial(
        name=encoder.name,
        identity=encoder.identity,
        dimensions=encoder.dimensions,
        query_ms=round(1000 * median(queries), 2),
        longest_query_ms=round(1000 * max(queries), 2),
        texts_per_second=round(texts / took, 1),
        near=near,
    )


def _near(encoder: "Encoder") -> int:
    """Count the texts whose nearest one among the paraphrases of all is their own."""
    ours, theirs = (encoder.encode([pair[side] for pair in PARAPHRASES]) for side in (0, 1))
    nearest = (ours @ theirs.T).argmax(axis=1)
    return sum(int(found) == place for place, found in enumerate(nearest))


def _seconds_of_query(encoder: "Encoder", number: int) -> float:
    began = perf_counter()
    encoder.encode_query(f"which job copies the orders, question {number}?")
    return perf_counter() - began


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
        settings = settings_for(options)
        with options.application.open_here(settings) as engine, Stages(options) as stages:
            directory.demand_single(engine.database)
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
    engine: "Engine", names: list[str], stages: "Stages", *, force: bool, every: bool
) -> "tuple[list[Space], list[str]]":
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


generations = Operations(
    "generations",
    examples=(
        "muisti generations build ./my-model",
        "muisti generations compare --judged questions.json",
        "muisti generations switch",
    ),
    help="Exchange the embedding model of a space while it is in use.\n\nThe models at hand are MUISTI_MODEL and those "
    "that MUISTI_MODELS lists.",
)

FORCED = {"force": "Also when vectors are missing, or the probes find less with it."}


def _role(one: Any) -> Text:
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


generations.call(
    "list",
    calls.list_generations,
    GENERATIONS,
    help="""List the models of the space, and those that are at hand.

    Plain lines have the hash, the name, the role, the passages that are embedded, and all passages.
    """,
    then=lambda _, data: talk("At hand: " + (", ".join(data["models"]) or "no model, embeddings are off")),
)


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
        return concluded(options, opened, task, wait=wait)


@generations.has("muisti generations compare", "muisti generations compare --judged qrels.json")
@option("--query queries", "A question to ask; repeat it.", metavar="TEXT", multiple=True)
@option(
    "--judged",
    'JSON with grades of memories by question: {"when do we deploy?": {"ID": 1}}.',
    click.Path(exists=True, dir_okay=False),
    metavar="FILE",
)
@limit("Memories to compare.", 10, "--k")
def compare(options: Globals, queries: tuple[str, ...], judged: str | None, k: int) -> None:
    """Ask both models the same questions.

    The probes of the space (`muisti probe`) are asked too. Prints for both models the recall of the probes, the nDCG of
    judged questions and the milliseconds of a search. The last line has the share of the first memories that both find.
    """
    body = {"k": k, "queries": [*queries], "qrels": {} if judged is None else _judged(Path(judged))}
    data = ask(options, lambda space: calls.compare_generations(space, body), View(_compared, _compared_lines))
    if not data["questions"]:
        talk("There was no question: add probes with muisti probe add, or give --query or --judged.")


generations.call(
    "switch --force",
    calls.switch_generation,
    GENERATIONS,
    help="""Use the second model from now on.

    The next search uses it, in every process. The model before is kept up to date until you drop it.
    """,
    texts=FORCED,
    then=lambda *_: talk("muisti generations rollback leads back; muisti generations drop ends the model before."),
)
generations.call(
    "rollback --force",
    calls.roll_back_generation,
    GENERATIONS,
    help="Use the model before again; nothing is embedded.",
    texts=FORCED,
)
generations.call(
    "drop MODEL=generation",
    calls.drop_generation,
    stated("{generation} {dropped}", "generation", "dropped"),
    "muisti generations drop 9c61d7a04be2",
    help="""Delete the vectors of a model that is not in use.

    MODEL is its name, or the first 12 or more characters of its hash. Prints the hash and how many were deleted.
    """,
)


def _judged(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise Failure(f"{path} is no JSON: {error}", ERROR) from error


def _compared_lines(data: Any) -> list[str]:
    found = [tabbed(side, *_figures(data[side])) for side in SIDES]
    return [*found, tabbed("overlap", _figure(data["overlap"]), data["questions"], data["missing"])]


def _compared(data: Any) -> Table:
    rows = [(side, data[side]["generation"][:12], *_figures(data[side])) for side in SIDES]
    rows.append((f"overlap@{data['k']}", _figure(data["overlap"]), f"{data['questions']} questions", "", ""))
    columns = ("", "hash", "probe recall", f"nDCG@{data['k']}", "ms")
    return grid(None, *columns, right=("probe recall", "ms"), rows=rows)


def _figures(one: Any) -> list[str]:
    return [_figure(one[name]) for name in ("recall", "ndcg", "ms")]


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
