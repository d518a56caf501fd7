"""Measure the order of neighbours in the graph: by memories alone, and times association (PMI).

    python -m loadtests.quality.neighbours DATA… [--made]

Each DATA is a folder of judged data. A question counts that names entities of its group. Which of the names in its
judged documents, and not in the question, are among the first neighbours of its names? The judged documents are there,
so this judges the order, not the reach. Questions of the row `speakers` name speakers alone, who have the most
neighbours. Speakers are no answers, and are left out of the order. Intervals are of paired differences. `--made` adds
chains of names that a script makes from templates. Is the answer among the first ten?
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import process_time

import numpy as np
from rich.console import Console
from rich.table import Table

from loadtests.quality.contexts import opened, store
from loadtests.quality.name_chains import made
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.engine import Engine
from muisti.core.graph.entities.name_keys import folded
from muisti.core.graph.entities.recogniser import shipped
from muisti.core.model.choices import NeighbourSort
from muisti.core.model.errors import NotFound
from muisti.service.evaluation.dataset import Dataset, Document, load
from muisti.service.evaluation.metrics import Comparison, Metric, Result, Run, compare, judge

NEAR = 10  # neighbours of a name
ROLES = frozenset({"user", "assistant"})
COMPARED: tuple[Metric, ...] = ("ndcg_10", "recall_10")
BY_COUNT: NeighbourSort = "-weight"
SORTS: tuple[NeighbourSort, ...] = (BY_COUNT, "-association")


def measured(data: Dataset) -> dict[NeighbourSort, list[Result]]:
    """Ask for the neighbours of the names of all questions, in each order. Categories are `names` and `speakers`."""
    found: dict[NeighbourSort, list[Result]] = {sort: [] for sort in SORTS}
    for group, documents in data.documents.items():
        with opened(StaticEncoder()) as engine:
            store(engine, "group", documents)
            engine.owner.graph.extend("group")
            speakers = speakers_of(documents)
            named = {one.id: _names(one.text, speakers) for one in documents}
            for question in data.queries.get(group, ()):
                asked = _names(question.text, speakers)
                wanted = _wanted(data.qrels[question.id], documents, named) - asked - speakers
                if not wanted or not asked:
                    continue
                about = {"id": question.id, "group": group, "category": "names" if asked - speakers else "speakers"}
                for sort, results in found.items():
                    began = process_time()
                    ranked = _ranked(engine, sorted(asked - speakers or asked), asked | speakers, sort)
                    ms = 1e3 * (process_time() - began)
                    if ranked is not None:
                        results.append(judge(ranked, dict.fromkeys(wanted, 1.0), **about, ms=ms))
    return found


def speakers_of(documents: Sequence[Document]) -> set[str]:
    """Return the folded names of those who speak in documents, without roles."""
    return {folded(str(one.meta["speaker"])) for one in documents if one.meta.get("speaker")} - ROLES


def reached(data: Dataset, firsts: Mapping[str, str], sort: NeighbourSort = BY_COUNT) -> dict[str, tuple[int, int]]:
    """Return for how many questions the neighbours of the first name have the answer, and of how many, by category."""
    counts: dict[str, tuple[int, int]] = {}
    (group,) = data.documents
    with opened(StaticEncoder()) as engine:
        store(engine, "group", data.documents[group])
        engine.owner.graph.extend("group")
        for question in data.queries[group]:
            depth = int(question.category[0])
            near = engine.owner.graph.neighbours("group", firsts[question.id], depth=depth, sort=sort, limit=NEAR)
            found = any(folded(one.entity.name) == folded(question.answer) for one in near.items)
            hits, total = counts.get(question.category, (0, 0))
            counts[question.category] = hits + found, total + 1
    return counts


def _ranked(engine: Engine, names: Sequence[str], without: set[str], sort: NeighbourSort) -> list[str] | None:
    """Return the neighbours of names, one of each name in turn; None when no name is known."""
    lists: list[list[str]] = []
    for name in names:
        try:
            near = engine.owner.graph.neighbours("group", name, sort=sort, limit=NEAR + len(without)).items
        except NotFound:
            continue
        found = (folded(one.entity.name) for one in near)
        lists.append([one for one in found if one not in without][:NEAR])
    if not lists:
        return None
    turns = (own[place] for place in range(NEAR) for own in lists if place < len(own))
    return [*dict.fromkeys(turns)]


def _names(text: str, speakers: set[str]) -> set[str]:
    found = shipped().read(text, speakers=speakers)
    return {folded(text[one.start : one.stop]) for one in found if one.kind != "date"}


def _wanted(judged: Mapping[str, float], documents: Sequence[Document], named: Mapping[str, set[str]]) -> set[str]:
    return {name for one in documents if judged.get(one.id, 0) > 0 for name in named[one.id]}


def rows(data: Dataset, found: Mapping[NeighbourSort, Sequence[Result]]) -> Iterator[tuple[str, ...]]:
    """Yield rows of the table: all questions, and those of a category."""
    every = found[BY_COUNT]
    for part in ("all", *sorted({one.category for one in every})):
        runs = [
            Run(dataset=data.name, mode=sort, queries=tuple(one for one in own if part in ("all", one.category)))
            for sort, own in found.items()
        ]
        compared = [compare(*runs, metric=metric) for metric in COMPARED]
        yield (
            *(data.name, part, str(len(runs[0].queries))),
            *(text for one in compared for text in gain(one)),
            f"{compared[0].wins}/{compared[0].losses}",
            " ".join(f"{np.median([one.ms for one in run.queries]):.2f}" for run in runs),
        )


def gain(one: Comparison) -> tuple[str, str]:
    """Return the mean before, and the mean difference with its interval."""
    d = one.difference
    return f"{one.before:.4f}", f"{d.mean:+.4f} ({d.low:+.4f} {d.high:+.4f})"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="*")
    parser.add_argument("--made", action="store_true", help="add chains of names made from templates")
    options = parser.parse_args()
    table = Table("set", "questions", "n", "nDCG@10 by count", "by association", "R@10 by count", "by association",
                  "better/worse", "ms by count, by association")  # fmt: skip
    for folder in options.data:
        data = load(folder)
        found = measured(data)
        for row in rows(data, found) if found[BY_COUNT] else [(data.name, "none names a name of a judged document")]:
            table.add_row(*row)
    if options.data:
        Console(width=180).print(table)
    if options.made:
        for sort in SORTS:
            for category, (near, total) in reached(*made(), sort).items():
                sys.stdout.write(f"{sort}, {category}: the answer is among {NEAR} neighbours for {near} of {total}\n")


if __name__ == "__main__":
    main()
