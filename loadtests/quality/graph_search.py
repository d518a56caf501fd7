"""Measure the ranking by the graph: searches without it and with several weights, over the same store.

    python -m loadtests.quality.graph_search DATA… [--weights 0.1 0.2] [--made] [--default]

Each DATA is a folder of judged data. `named` are the questions that name a speaker of the group. Intervals are of
paired differences. Milliseconds are medians of processor time. `--made` adds chains of names that a script makes from
templates. For how many of them does the graph have the answer among the neighbours of the first name? `--default`
compares searches without options instead: with the policy `graph` off, and after the graph was read.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import process_time
from typing import NamedTuple

import msgspec
import numpy as np
from rich.console import Console
from rich.table import Table

from loadtests.quality.contexts import opened, store
from loadtests.quality.name_chains import made
from loadtests.quality.neighbours import COMPARED, NEAR, gain, reached, speakers_of
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.engine import Engine
from muisti.core.graph.entities.name_keys import folded
from muisti.core.model.times import to_us
from muisti.core.query.query import Options, Query
from muisti.service.evaluation.dataset import Dataset, load
from muisti.service.evaluation.metrics import Result, Run, compare, judge
from muisti.service.evaluation.run import LIMIT, latest_time


class Found(NamedTuple):
    """Results of all questions without the graph, and by weight; and the ids of those that name a speaker."""

    plain: list[Result]
    by_weight: Mapping[float, list[Result]]
    named: frozenset[str]


def measured(data: Dataset, weights: Sequence[float]) -> Found:
    """Ask all questions of a dataset, each in a space of its group."""
    plain: list[Result] = []
    by_weight: dict[float, list[Result]] = {weight: [] for weight in weights}
    named: set[str] = set()
    for group, documents in data.documents.items():
        questions = data.queries.get(group, ())
        if not questions:
            continue
        with opened(StaticEncoder()) as engine:
            of = {memory.id: document.id for memory, document in store(engine, "group", documents)}
            engine.owner.graph.extend("group")
            speakers = speakers_of(documents)
            latest = latest_time(documents)
            at = None if latest is None else to_us(latest)
            for question in questions:
                if speakers & set(_words(question.text)):
                    named.add(question.id)
                for weight, results in ((0.0, plain), *by_weight.items()):
                    began = process_time()
                    ranked = _ranked(engine, question.text, weight, at)
                    ms = 1e3 * (process_time() - began)
                    about = {"id": question.id, "group": group, "category": question.category}
                    results.append(judge([of[one] for one in ranked], data.qrels[question.id], **about, ms=ms))
    return Found(plain, by_weight, frozenset(named))


def by_default(data: Dataset) -> tuple[list[Result], list[Result]]:
    """Ask all questions of a dataset without options: with the policy `graph` off, and with a graph that is read."""
    without: list[Result] = []
    with_graph: list[Result] = []
    for group, documents in data.documents.items():
        with opened(StaticEncoder()) as engine:
            of = {memory.id: document.id for memory, document in store(engine, "group", documents)}
            latest = latest_time(documents)
            at = None if latest is None else to_us(latest)
            for switch, results in (("off", without), ("on", with_graph)):
                engine.spaces.set_policy("group", {"graph": switch})
                if switch == "on":
                    engine.owner.graph.extend("group")
                for question in data.queries.get(group, ()):
                    began = process_time()
                    ranked = [of[one] for one in _ranked(engine, question.text, 0.0, at)]
                    about = {"id": question.id, "group": group, "category": question.category}
                    ms = 1e3 * (process_time() - began)
                    results.append(judge(ranked, data.qrels[question.id], **about, ms=ms))
    return without, with_graph


def _ranked(engine: Engine, text: str, weight: float, at: int | None) -> list[str]:
    options = Options(rankings={"graph": weight}) if weight else None
    query = Query(text=text, limit=LIMIT, options=options, reference_time=at, no_touch=True)
    return [hit.memory.id for hit in engine.owner.read.search("group", query).hits]


def _words(text: str) -> Iterator[str]:
    words = text.split()
    for first in range(len(words)):
        for after in range(first + 1, min(first + 4, len(words) + 1)):
            yield folded(" ".join(words[first:after]))


def rows(data: Dataset, found: Found) -> Iterator[tuple[str, ...]]:
    """Yield rows of the table: all questions, those that name a speaker, and those of a category of several hops."""
    parts: dict[str, frozenset[str]] = {"all": frozenset(one.id for one in found.plain)}
    if found.named:
        parts["named"] = found.named
    for category in sorted({one.category for one in found.plain if "hop" in one.category or "tie" in one.category}):
        parts[category] = frozenset(one.id for one in found.plain if one.category == category)
    for part, ids in parts.items():
        before = _run(data, "plain", found.plain, ids)
        for weight, results in found.by_weight.items():
            after = _run(data, f"{weight:g}", results, ids)
            compared = {metric: compare(before, after, metric=metric) for metric in COMPARED}
            yield (
                *(data.name, part, str(len(ids)), f"{weight:g}"),
                *(text for one in compared.values() for text in gain(one)),
                "{0.wins}/{0.losses}".format(compared["recall_10"]),
                f"{_median(before):.2f} {_median(after):.2f}",
            )


def default_row(data: Dataset) -> tuple[str, ...]:
    """Return the row of a dataset in the table of `--default`."""
    before, after = (_run(data, "default", results, None) for results in by_default(data))
    gains = [compare(before, after, metric=metric) for metric in COMPARED]
    same = sum(one == other for one, other in zip(_judged(before), _judged(after), strict=True))
    texts = [text for one in gains for text in gain(one)]
    return data.name, str(len(before.queries)), *texts, str(same), f"{_median(before):.2f} {_median(after):.2f}"


def _judged(run: Run) -> list[Result]:
    """Return the results of a run without their times."""
    return [msgspec.structs.replace(one, ms=0.0) for one in run.queries]


def _run(data: Dataset, mode: str, results: Sequence[Result], ids: frozenset[str] | None) -> Run:
    return Run(dataset=data.name, mode=mode, queries=tuple(one for one in results if ids is None or one.id in ids))


def _median(run: Run) -> float:
    return float(np.median([one.ms for one in run.queries]))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="*")
    parser.add_argument("--weights", type=float, nargs="+", default=[0.1, 0.2])
    parser.add_argument("--made", action="store_true", help="add chains of names made from templates")
    parser.add_argument("--default", action="store_true", help="compare searches without options, graph off and on")
    options = parser.parse_args()
    gains = [title for metric in ("nDCG@10", "R@10") for title in (metric, "difference")]
    if options.default:
        print_by_default(options.data, gains)
        return
    table = Table("set", "questions", "n", "weight", *gains, "R better/worse", "ms without, with")
    sets = [*(load(folder) for folder in options.data), *([made()[0]] if options.made else [])]
    for data in sets:
        found = measured(data, options.weights)
        for row in rows(data, found):
            table.add_row(*row)
    Console(width=180).print(table)
    if options.made:
        for category, (near, total) in reached(*made()).items():
            sys.stdout.write(f"{category}: the answer is among {NEAR} neighbours in {near} of {total} questions\n")


def print_by_default(folders: Sequence[Path], gains: Sequence[str]) -> None:
    """Print the table of `--default`, a row as soon as it is measured."""
    columns = ("set", "questions", *gains, "same results", "ms off, on")
    sys.stdout.write("\t".join(columns) + "\n")
    for folder in folders:
        sys.stdout.write("\t".join(default_row(load(folder))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
