"""Cost of filters in whole hybrid searches, in processor time beside the same search without one.

    python -m loadtests.filters [--memories 100000] [--questions 200] [--other DIR] [--text DIR]

Each filter passes 1, 10 or 50 % of the memories. It is asked for the first time since its field was read, then again,
then after each of some writes. With --other, another checkout answers in turn with this one, over a copy of the file.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from loadtests import texts
from loadtests.bed import Bed
from loadtests.checkout import ROOT, THIS, Checkout
from loadtests.fill import SPACE, fill
from loadtests.muisti import forget_filters
from muisti.core.databases import open_file
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.engine import Engine
from muisti.core.model.times import system_clock
from muisti.core.model.values import Draft
from muisti.core.query.filters import parse
from muisti.core.query.query import Query

BLOCK = 10  # searches of one kind before the next has its turn
SHARES = (1, 10, 50)  # percent of the memories
FIELDS = ("category", "author", "tags", "metadata.team", "metadata.a")
STEPS = ("first", "again", "written")
PLAIN = {"first": "again", "again": "again", "written": "written"}  # the step of the search without a filter
MEMORY = 16 << 30  # bytes that the index may take: nothing is evicted


def fields(row: int) -> Mapping[str, Any]:
    """Fields whose values have the shares; tags are several, and a fifth of the memories has no team."""
    category, author, tag, team, a = (_percent(row, salt) for salt in range(5))
    return {
        "category": _named(category),
        "author": _named(author),
        "tags": (_named(tag), f"topic {row % 40}", f"week {row // 500}"),
        "metadata": {"a": a} | ({"team": _named(team)} if team < 80 else {}),
    }


def _percent(row: int, salt: int) -> int:
    return (row + 1) * (2654435761 + 2 * 40503 * salt) % (1 << 32) * 100 >> 32


def _named(percent: int) -> str:
    return "share 1" if percent < 1 else "share 10" if percent < 11 else "share 50" if percent < 61 else "rest"


@dataclass(frozen=True, slots=True)
class Case:
    """A filter on a field that passes `share` percent, no filter for an empty `field`, and when it is asked."""

    field: str
    share: int
    step: str

    @property
    def filter(self) -> dict[str, Any] | None:
        """The filter in JSON."""
        if not self.field:
            return None
        return {self.field: {"lt": self.share} if self.field == "metadata.a" else f"share {self.share}"}


FILTERS = [(field, share) for field in FIELDS for share in SHARES]
CASES = [
    *(Case("", 100, step) for step in STEPS[1:]),
    *(Case(field, share, step) for field, share in FILTERS for step in STEPS),
]


@click.command()
@click.option("--memories", default=100_000, show_default=True)
@click.option("--questions", default=100, show_default=True, help="Of each case.")
@click.option("--other", type=click.Path(path_type=Path), help="Another checkout to measure in turn.")
@click.option("--text", type=click.Path(path_type=Path), help="Folder of texts; else made words.")
@click.option("--cache", type=click.Path(path_type=Path), default=Path("runs/cache"), show_default=True)
@click.option("--file", type=click.Path(path_type=Path), help="A database that `fill` made with `fields` before.")
@click.option("--answer", type=click.Path(path_type=Path), hidden=True)
def main(
    memories: int,
    questions: int,
    other: Path | None,
    text: Path | None,
    cache: Path,
    file: Path | None,
    answer: Path | None,
) -> None:
    """Print the table."""
    if answer is not None:
        _answer(answer)
        return
    known, asked = texts.invented(memories) if text is None else texts.real(text, cache)
    with Bed(known[:memories], asked, cache, peers=False) as bed:
        database = file
        if database is None:
            database, _ = bed.embedded.kept("filters.db", lambda path: fill(path, bed.texts, fields=fields))
        asked = bed.questions(len(CASES) * questions)
    trees = [THIS] if other is None else [Checkout(other), THIS]
    found = _measured(trees, database, asked, questions)
    Console(width=150).print(_table(found, memories))


def _measured(
    trees: Sequence[Checkout], database: Path, asked: Sequence[str], questions: int
) -> list[dict[Case, list[float]]]:
    """Return the seconds of each case, by tree."""
    found: list[dict[Case, list[float]]] = [{case: [] for case in CASES} for _ in trees]
    with ExitStack() as closing:
        folder = Path(closing.enter_context(tempfile.TemporaryDirectory(dir=database.parent)))
        answering = [
            closing.enter_context(_answering(tree, Path(shutil.copy(database, folder / f"{number}.db"))))
            for number, tree in enumerate(trees)
        ]
        for start in range(-BLOCK, questions, BLOCK):  # the first block warms up
            for place, case in enumerate(CASES):
                first = place * questions + max(start, 0)
                for times, process in zip(found, answering, strict=True):
                    took = _ask(process, case, asked[first : first + BLOCK])
                    times[case] += took if start >= 0 else []
    return found


def _ask(process: subprocess.Popen[str], case: Case, questions: Sequence[str]) -> list[float]:
    assert process.stdin is not None and process.stdout is not None
    print(json.dumps([case.filter, case.step, questions]), file=process.stdin, flush=True)
    return json.loads(process.stdout.readline())


@contextmanager
def _answering(tree: Checkout, database: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that searches with the code of a tree, and with this module."""
    tree.prepare()
    own = tree.environment
    paths = [path for path in (own.get("PYTHONPATH"), str(ROOT)) if path]
    environment = {**os.environ, **own, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "loadtests.filters", "--answer", str(database)]
    with subprocess.Popen(
        command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def _answer(database: Path) -> None:
    """Answer cases, one a line of JSON, with the processor time of each search."""
    with Engine(open_file(database), StaticEncoder(), system_clock, index_memory=MEMORY) as engine:
        for line in sys.stdin:
            filter, step, questions = json.loads(line)
            parsed = None if filter is None else parse(filter)
            engine.owner.read.search(SPACE, Query(text="", mode="metadata", filter=parsed, limit=1, no_touch=True))
            took = list[float]()
            for question in questions:
                if step == "first":
                    forget_filters(engine, SPACE)
                elif step == "written":
                    engine.owner.write.add(SPACE, [Draft(content=question, **fields(len(took)))], on_conflict="keep")
                query = Query(text=question, filter=parsed, no_touch=True)
                began = time.process_time()
                engine.owner.read.search(SPACE, query)
                took.append(time.process_time() - began)
            click.echo(json.dumps(took))


def _table(found: Sequence[Mapping[Case, Sequence[float]]], memories: int) -> Table:
    """Medians in µs, and each by the search without a filter of the same tree and step."""
    names = ["this tree"] if len(found) == 1 else ["other tree", "this tree"]
    table = Table(title=f"{memories:,} memories: processor time of a hybrid search in µs (beside no filter)")
    table.add_column("filter")
    for step in ("first use", "again", "after a write"):
        for name in names:
            table.add_column(f"{step}, {name}", justify="right")
    medians = [{case: 1e6 * float(np.median(times)) for case, times in one.items()} for one in found]
    for field, share in (("", 100), *FILTERS):
        row = [f"{field} {share} %" if field else "no filter"]
        for step in STEPS:
            for one in medians:
                took, plain = one.get(Case(field, share, step)), one[Case("", 100, PLAIN[step])]
                row.append("" if took is None else f"{took:,.0f} ({took / plain:.2f})")
        table.add_row(*row)
    return table


if __name__ == "__main__":
    main()
