"""`python -m loadtests.travel`: compare searches at past points with answers recorded then, and measure their cost.

After random changes, a search at a random past point must return the answer that was recorded there. A memory that
changes all the time must not slow searches of the present. To show this, two spaces of the same memories are searched
in turn.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from msgspec.structs import replace
from rich.console import Console

from loadtests import texts
from loadtests.document import markdown, put
from loadtests.tables import Table
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.engine import Engine
from muisti.core.model.errors import NotFound
from muisti.core.model.hits import Answer
from muisti.core.model.values import Draft
from muisti.core.query.points import AsOf
from muisti.core.query.query import Query
from muisti.core.store.file.database import FileDatabase

CHANGES, POINTS, HOT, BESIDE = 10_000, 500, 10_000, 10_000
SEARCHES = 1_000
SPACE, CALM, HOT_SPACE = "past", "calm", "hot"
BATCH = 500


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m loadtests.travel", description=__doc__)
    parser.add_argument("--docs", type=Path, help="folder whose performance.md takes the table")
    parser.add_argument("--changes", type=int, default=CHANGES)
    parser.add_argument("--points", type=int, default=POINTS)
    parser.add_argument("--hot", type=int, default=HOT, help="changes of the hot memory")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder) / "muisti.db") as engine:
        same, first, later, live = travelled(engine, options.changes, options.points)
        calm, hot = beside_a_hot_memory(engine, options.hot)
    rows = [
        [f"searches of {options.points} past points that equal the answers given then", f"{same:,}"],
        ["the first of them, which loads the index of all versions, ms", f"{first:,.1f}"],
        ["a search at another past point, median, ms", f"{later:.2f}"],
        ["the same search of the present, median, ms", f"{live:.2f}"],
        [
            f"search beside a memory changed {options.hot:,} times, over one without, medians in turn",
            f"{hot / calm:.3f}",
        ],
    ]
    title = f"time travel, after {options.changes:,} random changes"
    table = Table("travel", title, ["what", "measured"], rows)
    Console().print(markdown(table))
    if options.docs is not None:
        put({"travel": markdown(table)}, options.docs / "why" / "performance.md")
    return 0 if same == options.points else 1


@contextmanager
def opened(path: Path) -> Iterator[Engine]:
    with Engine(FileDatabase(path), StaticEncoder(), lambda: time.time_ns() // 1000) as engine:
        engine.warm()
        yield engine


@dataclass(frozen=True)
class Recorded:
    """A search, the point at which it was asked, and what was answered."""

    query: Query
    number: int
    answer: Answer


def travelled(engine: Engine, changes: int, points: int) -> tuple[int, float, float, float]:
    """Return how many answers are the same, and milliseconds of the first search, of later ones and of those of now."""
    engine.spaces.ensure(SPACE)
    chance, (words, asked) = random.Random(2026), texts.invented(changes + 1)
    recorded: list[Recorded] = []
    ids = [one.id for one in engine.owner.write.add(SPACE, [Draft(content=words[0])], on_conflict="keep").memories]
    due = set(chance.sample(range(changes), points))
    for number in range(changes):
        _change(engine, chance, ids, words[number + 1])
        if number in due:
            query = Query(text=asked[len(recorded)], reference_time=engine.now(), explain=True)
            answer = engine.owner.read.search(SPACE, query)
            recorded.append(Recorded(query, answer.seq.number, answer))
    chance.shuffle(recorded)
    same, took, live = 0, list[float](), list[float]()
    for one in recorded:
        began = time.perf_counter()
        found = engine.owner.read.search(SPACE, replace(one.query, as_of=AsOf(number=one.number)))
        took.append(1000 * (time.perf_counter() - began))
        same += _told(found) == _told(one.answer)
        began = time.perf_counter()
        engine.owner.read.search(SPACE, one.query)
        live.append(1000 * (time.perf_counter() - began))
    return same, took[0], float(np.median(took[1:])), float(np.median(live))


def beside_a_hot_memory(engine: Engine, changes: int) -> tuple[float, float]:
    """Median milliseconds of a search of the same memories, without a hot one among them and with it."""
    words, asked = texts.invented(BESIDE)
    for space in (CALM, HOT_SPACE):
        engine.spaces.ensure(space)
        for start in range(0, BESIDE, BATCH):
            drafts = [Draft(content=text) for text in words[start : start + BATCH]]
            engine.owner.write.add(space, drafts, on_conflict="keep")
        engine.owner.read.search(space, Query(text=asked[0]))
    (hot,) = engine.owner.write.add(HOT_SPACE, [Draft(content="the counter stands at 0")], on_conflict="keep").memories
    for number in range(1, changes + 1):
        engine.owner.write.update(HOT_SPACE, hot.id, {"content": f"the counter stands at {number}"})
        if number % 100 == 0:
            engine.owner.read.search(HOT_SPACE, Query(text=asked[0]))
    took: dict[str, list[float]] = {CALM: [], HOT_SPACE: []}
    for number, question in enumerate(asked[:SEARCHES]):
        for space in (CALM, HOT_SPACE) if number % 2 else (HOT_SPACE, CALM):  # the second finds the question known
            began = time.perf_counter()
            engine.owner.read.search(space, Query(text=question))
            took[space].append(1000 * (time.perf_counter() - began))
    return float(np.median(took[CALM])), float(np.median(took[HOT_SPACE]))


def _change(engine: Engine, chance: random.Random, ids: list[str], text: str) -> None:
    what, id_ = chance.choices(("add", "update", "supersede", "delete"), (5, 3, 1, 1))[0], chance.choice(ids)
    try:
        if what == "update":
            engine.owner.write.update(SPACE, id_, {"content": text, "importance": chance.choice(("low", "high"))})
        elif what == "supersede":
            ids.append(engine.owner.write.supersede(SPACE, id_, Draft(content=text)).memories[0].id)
        elif what == "delete":
            engine.owner.write.delete(SPACE, id_)
        else:
            ids.append(engine.owner.write.add(SPACE, [Draft(content=text)], on_conflict="keep").memories[0].id)
    except NotFound:  # it was deleted or superseded before
        return


def _told(answer: Answer) -> tuple[Sequence[object], object]:
    hits = [(hit.memory, hit.score, hit.ranks, hit.passage, hit.explain) for hit in answer.hits]
    return hits, (answer.total, answer.evidence, answer.strength, answer.strategy, answer.seq)


if __name__ == "__main__":
    sys.exit(main())
