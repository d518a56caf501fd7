"""Cost of each option of a search, and of several spaces, in processor time beside the plain search.

    python -m loadtests.search_options [--memories 10000] [--questions 200]

The words of the texts follow Zipf's law; every memory is a turn of a dialogue and has a tag and a category.
A second space has a tenth of them. All searches take turns, a block of questions each.
"""

import tempfile
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from loadtests.texts import made
from loadtests.timing import USED, Engine, interleaved
from muisti.core import engine as core
from muisti.core.databases import open_file
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.model.choices import BATCH_MAX
from muisti.core.model.times import system_clock
from muisti.core.model.values import Draft
from muisti.core.query.query import Options, Part, Query

TURNS = 500  # of a dialogue
MANY, FEW = "many", "few"  # spaces
ASKED: Mapping[str, Options | None] = {
    "plain": None,
    "min_score": Options(min_score=0.3),
    "group_by category": Options(group_by="category"),
    "group_by metadata.session": Options(group_by="metadata.session"),
    "diversity": Options(diversity=0.3),
    "context_window 2": Options(context_window=2),
    "signals": Options(signals={"tag": 0.3, "position": 0.1}),
    "preset": Options(preset="balanced"),
    "intent": Options(intent="told"),
}


@click.command()
@click.option("--memories", default=10_000, show_default=True)
@click.option("--questions", default=200, show_default=True)
def main(memories: int, questions: int) -> None:
    """Print the table."""
    with (
        tempfile.TemporaryDirectory() as folder,
        core.Engine(open_file(Path(folder) / "muisti.db"), StaticEncoder(), system_clock) as engine,
    ):
        ids = [_fill(engine, space, count) for space, count in ((MANY, memories), (FEW, memories // 10))][0]
        asked = list(islice(made((4, 14), seed=2), questions + USED))
        times = interleaved(_searches(engine, asked, ids), questions, warming=USED)
    table = Table("search", "processor time, ms", "of plain", title=f"{memories:,} memories, {questions} questions")
    plain = times["plain"].summary()["cpu"]
    for name, one in times.items():
        cost = one.summary()["cpu"]
        table.add_row(name, f"{cost:.3f}", f"{cost / plain:.2f}")
    Console().print(table)


def _fill(engine: core.Engine, space: str, count: int) -> list[str]:
    """Store memories; return their ids."""
    engine.spaces.create(space)
    rng, ids = np.random.default_rng(3), list[str]()
    texts = list(enumerate(islice(made((8, 50), seed=1), count)))
    for start in range(0, count, BATCH_MAX):
        drafts = [
            Draft(
                content=text,
                category=f"category {number % 7}",
                tags=(text.split()[int(rng.integers(4))],),
                metadata={"session": f"session {number // TURNS}", "turn": number % TURNS},
            )
            for number, text in texts[start : start + BATCH_MAX]
        ]
        ids += [memory.id for memory in engine.owner.write.add(space, drafts, on_conflict="keep").memories]
    return ids


def _searches(engine: core.Engine, asked: list[str], ids: list[str]) -> list[Engine[Any]]:
    read = engine.owner.read

    def one(options: Options | None) -> Callable[[int], object]:
        return lambda number: read.search(MANY, Query(text=asked[number], options=options, no_touch=True))

    def similar(number: int) -> object:
        return read.search(MANY, Query(options=Options(similar_to=ids[number]), no_touch=True))

    def joint(*parts: Part) -> Callable[[int], object]:
        return lambda number: read.search_spaces(parts, Query(text=asked[number], no_touch=True))

    return [
        *(Engine(name, one(options)) for name, options in ASKED.items()),
        Engine("similar_to", similar),
        Engine("one space, jointly", joint(Part(MANY))),
        Engine("two spaces", joint(Part(MANY), Part(FEW, 0.5))),
    ]


if __name__ == "__main__":
    main()
