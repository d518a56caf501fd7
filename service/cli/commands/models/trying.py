"""Tries an embedding model: whether it answers, what it is, how long it takes, whether its vectors mean anything."""

from statistics import median
from time import perf_counter

import click
import msgspec
import numpy as np

from muisti.core.embedding.encoder import Encoder
from muisti.core.embedding.hosted import Hosted, recognise
from muisti.core.model.errors import MuistiError
from muisti.service.cli.base import Failure, Globals
from muisti.service.cli.configuration import in_force
from muisti.service.cli.opening import refusals
from muisti.service.cli.output import console, fields, for_people, tabbed
from muisti.service.runtime.models import encoder_of, models_of
from muisti.service.settings import Settings

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


def run(options: Globals, model: str | None, texts: int) -> None:
    """Try a model and print the result.

    Raises:
        Failure: embeddings are off, or the model does not embed.
    """
    with refusals(options):
        encoder = _chosen(in_force(options), model)
        try:
            found = tried(encoder, texts)
        except MuistiError as error:
            raise Failure(str(error)) from error
        finally:
            if isinstance(encoder, Hosted):
                encoder.close()
    if options.json:
        click.echo(msgspec.json.encode(found))
    elif for_people(options):
        console(options).print(fields([(name, str(value)) for name, value in msgspec.structs.asdict(found).items()]))
    else:
        for name, value in msgspec.structs.asdict(found).items():
            click.echo(tabbed(name, value))


def tried(encoder: Encoder, texts: int) -> Trial:
    """Try an encoder.

    Raises:
        MuistiError: it does not embed.
    """
    if isinstance(encoder, Hosted):
        encoder.settle(recognise(encoder.configuration, encoder.probe(), []))
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


def _chosen(settings: Settings, model: str | None) -> Encoder:
    encoder = models_of(settings).default if model is None else encoder_of(settings, model)
    if encoder is None:
        raise Failure("embeddings are off")
    return encoder


def _near(encoder: Encoder) -> int:
    """Count the texts whose nearest one among the paraphrases of all is their own."""
    ours, theirs = (encoder.encode([pair[side] for pair in PARAPHRASES]) for side in (0, 1))
    nearest = (ours @ theirs.T).argmax(axis=1)
    return int(np.count_nonzero(nearest == np.arange(len(PARAPHRASES))))


def _seconds_of_query(encoder: Encoder, number: int) -> float:
    began = perf_counter()
    encoder.encode_query(f"which job copies the orders, question {number}?")
    return perf_counter() - began
