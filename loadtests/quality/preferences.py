"""Measures whether the profile of a context has the preference that a question is about.

    python -m loadtests.quality.preferences DATA [--stored 50] [--tokens 256] [--users 200]

DATA is a folder of judged preferences (`evaluation.dataset`), such as PrefEval: the questions have almost no word of
the preference that answers them. Each question is that of a user of its own. The user has stored the right preference
and others, drawn at random, in a space of their own. The section `profile` has so many tokens.
"""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import numpy as np

from loadtests.quality.contexts import opened
from muisti.core.conversations.context.counting import USUAL
from muisti.core.conversations.context.sections import USER
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.engine import Engine
from muisti.core.model.context import Wanted
from muisti.core.model.values import Draft
from muisti.core.views.context import Request
from muisti.service.evaluation.dataset import Dataset, DatasetError, Document, Query, load
from muisti.service.evaluation.metrics import bootstrap

ROOM = 64  # tokens of the budget beside the profile: the notice and the title


def asked(data: Dataset, stored: int, users: int) -> Iterator[tuple[Query, Document, list[Document]]]:
    """Yield questions, the right preference of each, and all that its user has stored, in random order."""
    draw = random.Random(0)
    every = [(group, query) for group, queries in data.queries.items() for query in queries]
    for group, query in draw.sample(every, min(users, len(every))):
        documents = data.documents[group]
        right = next(one for one in documents if one.id in data.qrels[query.id])
        others = draw.sample([one for one in documents if one is not right], min(stored - 1, len(documents) - 1))
        yield query, right, draw.sample([right, *others], len(others) + 1)


def is_there(engine: Engine, space: str, query: Query, right: Document, own: Sequence[Document], tokens: int) -> bool:
    """Store a user's preferences in a space of their own; return whether the profile has the right one."""
    engine.spaces.create(space)
    drafts = [Draft(content=one.text, type="preference", author=USER) for one in own]
    memories = engine.owner.write.add(space, drafts, on_conflict="keep").memories
    wanted = memories[own.index(right)].id
    request = Request(
        query=query.text,
        token_budget=tokens + ROOM,
        encoding=USUAL,
        sections={"profile": Wanted(max_tokens=tokens)},
    )
    return wanted in {one.id for one in engine.owner.context.build(space, request).citations}


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--stored", type=click.IntRange(1), default=50, show_default=True, help="Preferences of a user.")
@click.option("--tokens", type=click.IntRange(16), default=256, show_default=True, help="Tokens of the profile.")
@click.option("--users", type=click.IntRange(1), default=200, show_default=True, help="Questions at most.")
def main(folder: Path, *, stored: int, tokens: int, users: int) -> None:
    """Print for how many users the profile has the right preference."""
    try:
        data = load(folder)
    except DatasetError as error:
        raise click.ClickException(str(error)) from error
    with opened(StaticEncoder()) as engine:
        found = [
            is_there(engine, f"u{number}", query, right, own, tokens)
            for number, (query, right, own) in enumerate(asked(data, stored, users))
        ]
    share = bootstrap(np.array(found, np.float64))
    click.echo(
        f"{data.name}: {len(found)} users with {stored} preferences each, {tokens} tokens: the right one is there for "
        f"{share.mean:.3f} [{share.low:.3f} {share.high:.3f}]"
    )


if __name__ == "__main__":
    main()
