"""Commands about the embedding models that the settings name."""

from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

import click
import msgspec

from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Failure, Globals, Subcommands
from muisti.service.cli.options import integer
from muisti.service.cli.output import fields, show, tabbed
from muisti.service.cli.session import refusals

if TYPE_CHECKING:
    from muisti.core.embedding import hosted
    from muisti.core.embedding.encoder import Encoder
    from muisti.core.model import errors
    from muisti.service.cli import configuration
    from muisti.service.runtime import models as embedders
else:  # with the core
    hosted = Lazy("muisti.core.embedding.hosted")
    errors = Lazy("muisti.core.model.errors")
    configuration = Lazy("muisti.service.cli.configuration")
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
        settings = configuration.in_force(options)
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
