"""Worth of each part of the default ranking: nDCG@10 over judged sets, once as it is and once without the part.

    python -m loadtests.ablation FOLDER ... [--only CHANGE ...] [--sample N] [--docs docs]

Each FOLDER holds judged data (`service.evaluation.dataset`), which is stored once and asked in every way. The product
itself answers, and a part is taken away by its constant. Differences are paired, query by query, and every set counts
the same; the interval draws queries again within each set. The column of what is left out has the least and the most
of the mean when any one set is left out. Two signs there mean that other sets would choose otherwise. With --docs
the table is put into quality.md there. A second table, only printed, has each set beside its best single row.
"""

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import click
import numpy as np
import numpy.typing as npt

from loadtests.document import put_table
from muisti.core.index import lexical
from muisti.core.query import query
from muisti.core.search import answering, candidates, default_score, fusion, ranking
from muisti.core.text import speakers
from muisti.service.app.local import start
from muisti.service.evaluation.dataset import Dataset, DatasetError, load
from muisti.service.evaluation.metrics import LEVEL, RESAMPLES, Interval, values
from muisti.service.evaluation.run import Plan, Stored, measure, stored
from muisti.service.settings import Settings
from muisti.service.terminal.client import Client

TELLING = 0.0055  # a set that moves less is not named
NAMED_SETS = 3

Scores = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Change:
    """A change of the ranking: other values for attributes of modules or items of mappings, and other queries."""

    values: Sequence[tuple[Any, str, Any]] = ()
    plan: Plan = field(default_factory=lambda: Plan(mode="hybrid"))

    @contextmanager
    def made(self) -> Iterator[None]:
        """Within this, the product ranks so."""
        with ExitStack() as stack:
            for place, name, value in self.values:
                swapped = (
                    patch.dict(place, {name: value}) if isinstance(place, dict) else patch.object(place, name, value)
                )
                stack.enter_context(swapped)
            yield


DEFAULT = Change()
CHANGES: Mapping[str, Change] = {
    "weight of the cosine 0": Change([(fusion.ALPHAS, "absolute", 0.0)]),
    "turns around": Change([(lexical, "LENDS", np.zeros_like(lexical.LENDS))]),
    "expansion by the best hit": Change([(default_score, "FEEDBACK", 0.0)]),
    "related words": Change([(lexical, "WORTH", 0.0)]),
    "meaning of turns around": Change([(default_score, "TURN", 0.0)]),
    "those three": Change([(default_score, "FEEDBACK", 0.0), (lexical, "WORTH", 0.0), (default_score, "TURN", 0.0)]),
    "kinds of answer": Change([(answering, "GAIN", 0.0)]),
    "speaker": Change([(speakers, "NAMED", 0.0), (speakers, "SIDE", 0.0)]),
    "time words": Change([(ranking, "time_spans", lambda _text, _now, _zone: ())]),
    "late": Change([(default_score, "LATE", 0.0)]),
    "order": Change([(default_score, "ORDER", 0.0)]),
    "k1 1.2 everywhere": Change([(lexical, "saturation", lambda _average: default_score.USUAL_K1)]),
    "request words in full": Change([(query, "REQUEST", 1.0)]),
    "brevity": Change([(default_score, "UTTERANCE", 1e-9)]),  # a row may have no words
    "turns around as candidates": Change([(candidates, "BESIDE", 0)]),
    "`fusion: convex`": Change(plan=Plan(mode="hybrid", fusion="convex")),
    "`fusion: dbsf`": Change(plan=Plan(mode="hybrid", fusion="dbsf")),
    "`fusion: rrf`": Change(plan=Plan(mode="hybrid", fusion="rrf")),
    "`mode: keyword`": Change(plan=Plan(mode="keyword")),
    "`mode: semantic`": Change(plan=Plan(mode="semantic")),
}


def asked(client: Client, held: Stored, change: Change) -> Scores:
    """nDCG@10 of each query of a set, ranked so."""
    with change.made():
        run, _ = measure(client, held, change.plan, lambda *_: None)
    return values(run, "ndcg_10")


def paired(before: Sequence[Scores], after: Sequence[Scores], *, seed: int = 0) -> Interval:
    """The mean over sets of the mean differences, with its percentile bootstrap interval, drawn within each set."""
    return over_sets([new - old for old, new in zip(before, after, strict=True)], seed=seed)


def over_sets(moved: Sequence[Scores], *, seed: int = 0) -> Interval:
    """The mean over sets of the means of these values, with its interval, drawn within each set."""
    draw = np.random.default_rng(seed)
    means = [one[draw.integers(0, one.size, (RESAMPLES, one.size))].mean(axis=1) for one in moved]
    low, high = np.percentile(np.mean(means, axis=0), [50 * (1 - LEVEL), 50 * (1 + LEVEL)])
    return Interval(float(np.mean([one.mean() for one in moved])), float(low), float(high))


def table(names: Sequence[str], default: Sequence[Scores], changed: Mapping[str, Sequence[Scores]]) -> Iterator[str]:
    """Return a row for each change, the most costly first."""
    mean = float(np.mean([one.mean() for one in default]))
    yield f"| without, or instead | mean of {len(names)} | one set left out | where |"
    yield "| --- | --- | --- | --- |"
    yield f"| (the default) | {_bare(mean, 4)} | | |"
    found = {name: paired(default, scores) for name, scores in changed.items()}
    for name, moved in sorted(found.items(), key=lambda one: one[1].mean):
        of_sets = {one: float((new - old).mean()) for one, old, new in zip(names, default, changed[name], strict=True)}
        telling = sorted((one for one in of_sets.items() if abs(one[1]) >= TELLING), key=lambda one: -abs(one[1]))
        where = ", ".join(f"{set_} {_signed(by)}" for set_, by in telling[:NAMED_SETS])
        change = f"{_signed(moved.mean, 4)} ({_signed(moved.low)} {_signed(moved.high)})"
        yield f"| {name} | {change} | {_others([*of_sets.values()])} | {where} |"


def by_set(names: Sequence[str], default: Sequence[Scores], changed: Mapping[str, Sequence[Scores]]) -> Iterator[str]:
    """Return a row for each set: the default, each single ranking, and the best of all other ways to rank."""
    single = [name for name in changed if name.startswith("`mode")]
    ways = [name for name in changed if name.startswith("`")]
    yield f"| set, questions | default | {' | '.join(single)} | best other way |"
    yield "| --- |" + " --- |" * (len(single) + 2)
    for place, (name, own) in enumerate(zip(names, default, strict=True)):
        means = {way: float(changed[way][place].mean()) for way in ways}
        best = max(means, key=lambda way: means[way])
        cells = [
            _bare(float(own.mean()), 3),
            *(_bare(means[way], 3) for way in single),
            f"{_bare(means[best], 3)} {best}",
        ]
        yield f"| {name}, {own.size:,} | {' | '.join(cells)} |"


def _others(differences: Sequence[float]) -> str:
    """Return the least and the most of the mean of all differences but one."""
    if len(differences) < 2:
        return ""
    means = [(sum(differences) - one) / (len(differences) - 1) for one in differences]
    return f"{_signed(min(means))} {_signed(max(means))}"


def _signed(number: float, digits: int = 3) -> str:
    return ("−" if number < 0 else "+") + _bare(abs(number), digits)


def _bare(number: float, digits: int) -> str:
    return f"{number:.{digits}f}".removeprefix("0")


def sampled(dataset: Dataset, most: int) -> Dataset:
    """Return a set with at most so many of its questions, spread evenly."""
    every = [query.id for queries in dataset.queries.values() for query in queries]
    kept = {*every[:: -(-len(every) // most)]}
    queries = {group: tuple(query for query in own if query.id in kept) for group, own in dataset.queries.items()}
    return replace(dataset, queries=queries)


def _all_ways(client: Client, dataset: Dataset, names: Sequence[str]) -> tuple[Scores, Mapping[str, Scores]]:
    with stored(client, dataset, lambda *_: None) as held:
        default = asked(client, held, DEFAULT)
        return default, {name: asked(client, held, CHANGES[name]) for name in names}


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--only", "names", type=click.Choice([*CHANGES]), multiple=True, help="Measure this change alone.")
@click.option("--sample", type=click.IntRange(1), help="Questions of each set, at most.")
@click.option("--docs", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Put the table there.")
def main(folders: Sequence[Path], names: Sequence[str], sample: int | None, docs: Path | None) -> None:
    """Measure what each part of the default ranking is worth."""
    try:
        datasets = [load(folder) for folder in folders]
        datasets = datasets if sample is None else [sampled(one, sample) for one in datasets]
    except DatasetError as error:
        raise click.UsageError(str(error)) from error
    default: list[Scores] = []
    changed: dict[str, list[Scores]] = {name: [] for name in names or CHANGES}
    for dataset in datasets:
        with (
            tempfile.TemporaryDirectory(prefix="muisti-ablation-") as place,
            start(Settings(database_url=f"file:{Path(place) / 'ablation.db'}")) as client,
        ):
            as_is, otherwise = _all_ways(client, dataset, [*changed])
        default.append(as_is)
        for name, scores in otherwise.items():
            changed[name].append(scores)
        click.echo(f"{dataset.name}: {as_is.mean():.4f}", err=True)
    told = [dataset.name for dataset in datasets]
    rows = [*table(told, default, changed)]
    click.echo("\n".join((*rows, *by_set(told, default, changed))))
    if docs is not None:
        put_table(docs / "why" / "quality.md", "ablation", rows)


if __name__ == "__main__":
    sys.exit(main())
