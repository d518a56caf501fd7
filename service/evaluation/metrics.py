"""Metrics of rankings (recall, precision, nDCG, MRR and MAP) for one query and over a run, and two runs side by side.

A ranking is a sequence of document ids, best first. Only the first place of a repeated document counts.
Relevance maps the ids of relevant documents to gains above 0. Definitions are those of trec_eval.

The file of a run: {"format": 1, "dataset", "mode", "queries": [{"id", "group", "category", "recall_5", "recall_10",
"precision_10", "ndcg_10", "mrr", "map", "ms", "ranked": [document ids]}, …]}. A reader takes its own format only;
fields may be added within a format.
"""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec
import numpy as np
import numpy.typing as npt
from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from muisti.core.query.gain import ndcg

RESAMPLES = 2_000
LEVEL = 0.95
AT_ONCE = 4_000_000  # drawn indexes in memory at a time
TIE = 1e-9  # a difference below this is rounding

Metric = Literal["recall_5", "recall_10", "precision_10", "ndcg_10", "mrr", "map"]
METRICS: tuple[Metric, ...] = get_args(Metric)


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one query: its metrics, the ids of the documents it ranked, each once, and its milliseconds.

    Files of earlier versions have neither `precision_10` nor `map`.
    """

    id: str
    group: str
    category: str
    recall_5: float
    recall_10: float
    ndcg_10: float
    mrr: float
    ms: float
    ranked: tuple[str, ...]
    precision_10: float | None = None
    map: float | None = None


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """All queries of a dataset in one search mode."""

    dataset: str
    mode: str
    queries: tuple[Result, ...]


class Interval(msgspec.Struct, frozen=True):
    """A mean, and where 95 % of the means of resampled queries lie."""

    mean: float
    low: float
    high: float


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """A run in one row. `ms_median` and `ms_p95` are milliseconds of a query."""

    mode: str
    queries: int
    recall_5: Interval
    recall_10: Interval
    ndcg_10: Interval
    mrr: Interval
    precision_10: Interval
    map: Interval
    ms_median: float
    ms_p95: float


@dataclass(frozen=True, slots=True)
class Moved:
    """A query and its metric in both runs."""

    id: str
    before: float
    after: float

    @property
    def difference(self) -> float:
        return self.after - self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Means of both runs over the queries they share, and the mean of the differences, after less before.

    `wins` counts queries that got better. `moved` holds those that changed most, the largest change first.
    `only_before` and `only_after` name queries that only one run has; they count nowhere.
    """

    metric: Metric
    before: float
    after: float
    difference: Interval
    wins: int
    losses: int
    ties: int
    moved: tuple[Moved, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]

    @property
    def is_clear(self) -> bool:
        """Tell whether the interval of the difference leaves out zero."""
        return self.difference.low > 0 or self.difference.high < 0


def recall(ranked: Sequence[str], relevant: Mapping[str, float], k: int) -> float:
    """Compute recall: the share of the relevant documents that are among the first `k`.

    >>> recall(["a", "x", "b"], {"a": 1, "b": 1}, k=2)
    0.5

    Raises:
        ValueError: nothing is relevant.
    """
    _require(relevant)
    return sum(document in relevant for document in _first(ranked, k)) / len(relevant)


def precision(ranked: Sequence[str], relevant: Mapping[str, float], k: int) -> float:
    """Compute precision: the share of relevant documents among the first `k`, of which a short ranking lacks some.

    >>> precision(["a", "x", "b"], {"a": 1, "b": 1}, k=2), precision(["a"], {"a": 1}, k=2)
    (0.5, 0.5)

    Raises:
        ValueError: nothing is relevant.
    """
    _require(relevant)
    return sum(document in relevant for document in _first(ranked, k)) / k


def average_precision(ranked: Sequence[str], relevant: Mapping[str, float]) -> float:
    """Compute the mean precision at the rank of each relevant document; 0 for one that the ranking lacks.

    >>> average_precision(["a", "x", "b"], {"a": 1, "b": 1})
    0.8333333333333333

    Raises:
        ValueError: nothing is relevant.
    """
    _require(relevant)
    ranks = [rank for rank, document in enumerate(_first(ranked, None), start=1) if document in relevant]
    return sum(number / rank for number, rank in enumerate(ranks, start=1)) / len(relevant)


def reciprocal_rank(ranked: Sequence[str], relevant: Mapping[str, float]) -> float:
    """Compute one over the rank of the first relevant document; 0 when the ranking has none.

    >>> reciprocal_rank(["x", "a", "b"], {"a": 1, "b": 2})
    0.5

    Raises:
        ValueError: nothing is relevant.
    """
    _require(relevant)
    hits = (1.0 / rank for rank, document in enumerate(_first(ranked, None), start=1) if document in relevant)
    return next(hits, 0.0)


def judge(
    ranked: Sequence[str], relevant: Mapping[str, float], *, id: str, group: str, category: str = "", ms: float
) -> Result:
    """Compute all metrics of one query. `ranked` may name a document several times, once for each of its parts."""
    return Result(
        id=id,
        group=group,
        category=category,
        recall_5=recall(ranked, relevant, 5),
        recall_10=recall(ranked, relevant, 10),
        ndcg_10=ndcg(ranked, relevant, 10),
        mrr=reciprocal_rank(ranked, relevant),
        precision_10=precision(ranked, relevant, 10),
        map=average_precision(ranked, relevant),
        ms=ms,
        ranked=_first(ranked, None),
    )


def values(run: Run, metric: Metric) -> npt.NDArray[np.float64]:
    """Return the metric of each query, in the order of the run."""
    return np.array([getattr(result, metric) for result in run.queries], np.float64)


def summarise(run: Run) -> Summary:
    """Means with intervals over the queries of a run.

    Raises:
        ValueError: the run has no queries.
    """
    means = {metric: bootstrap(values(run, metric)) for metric in METRICS}
    median, p95 = np.percentile([result.ms for result in run.queries], [50, 95])
    return Summary(mode=run.mode, queries=len(run.queries), ms_median=float(median), ms_p95=float(p95), **means)


def bootstrap(sample: npt.NDArray[np.float64], *, resamples: int = RESAMPLES, seed: int = 0) -> Interval:
    """The mean with its percentile bootstrap interval (Efron 1979): queries drawn again with replacement.

    For a paired comparison give the differences, query by query.

    Raises:
        ValueError: the sample is empty.
    """
    if sample.size == 0:
        raise ValueError("a mean of no queries")
    draw = np.random.default_rng(seed)
    step = max(1, AT_ONCE // sample.size)
    means = [
        sample[draw.integers(0, sample.size, (min(step, resamples - start), sample.size))].mean(axis=1)
        for start in range(0, resamples, step)
    ]
    low, high = np.percentile(np.concatenate(means), [50 * (1 - LEVEL), 50 * (1 + LEVEL)])
    return Interval(float(sample.mean()), float(low), float(high))


def compare(before: Run, after: Run, *, metric: Metric = "ndcg_10", most: int = 10) -> Comparison:
    """Compare query by query; queries are matched by id.

    Raises:
        ValueError: the runs are of different datasets, or share no query.
    """
    if before.dataset != after.dataset:
        raise ValueError(f"the runs are of different datasets, {before.dataset} and {after.dataset}")
    old = {result.id: float(getattr(result, metric)) for result in before.queries}
    new = {result.id: float(getattr(result, metric)) for result in after.queries}
    pairs = [Moved(id, old[id], new[id]) for id in sorted(old.keys() & new.keys())]
    if not pairs:
        raise ValueError(f"the runs of {before.dataset} share no query")
    differences = np.array([pair.difference for pair in pairs], np.float64)
    moved = sorted((pair for pair in pairs if abs(pair.difference) > TIE), key=lambda pair: -abs(pair.difference))
    wins, losses = int((differences > TIE).sum()), int((differences < -TIE).sum())
    return Comparison(
        metric=metric,
        before=float(np.mean([pair.before for pair in pairs])),
        after=float(np.mean([pair.after for pair in pairs])),
        difference=bootstrap(differences),
        wins=wins,
        losses=losses,
        ties=len(pairs) - wins - losses,
        moved=tuple(moved[:most]),
        only_before=tuple(sorted(old.keys() - new.keys())),
        only_after=tuple(sorted(new.keys() - old.keys())),
    )


def _first(ranked: Sequence[str], k: int | None) -> tuple[str, ...]:
    return tuple(islice(dict.fromkeys(ranked), k))


def _require(relevant: Mapping[str, float]) -> None:
    if not relevant or min(relevant.values()) <= 0:
        raise ValueError("a metric needs relevant documents, with gains above 0")


FORMAT = 1
NAMES = {
    "recall_5": "R@5",
    "recall_10": "R@10",
    "precision_10": "P@10",
    "ndcg_10": "nDCG@10",
    "mrr": "MRR",
    "map": "MAP",
}
COLUMNS = ("recall_5", "recall_10", "ndcg_10", "mrr")  # of a table, which fits a terminal of 80 columns
WIDTH = 100  # columns of plain text


class RunFileError(Exception):
    """A file has no readable run. The message names the file."""


class _File(msgspec.Struct, frozen=True, kw_only=True):
    format: int
    dataset: str
    mode: str
    queries: list[Any]


def summary_table(title: str, summaries: Sequence[Summary]) -> Table:
    """Make a table with a row for each mode: means with their 95 % intervals below, and the median time of a query."""
    table = _table(title, ["mode", *(NAMES[name] for name in COLUMNS), "ms/query"])
    for row in summaries:
        means = [getattr(row, name) for name in COLUMNS]
        table.add_row(
            _cell(row.mode, f"{row.queries} queries"),
            *(_cell(f"{mean.mean:.3f}", f"{mean.low:.3f}-{mean.high:.3f}") for mean in means),
            _cell(f"{row.ms_median:.2f}", f"p95 {row.ms_p95:.2f}"),
        )
    return table


def comparison_report(title: str, comparison: Comparison) -> RenderableType:
    """Describe the difference of two runs in words, with a table of the queries that changed most."""
    name = NAMES[comparison.metric]
    change = comparison.difference
    verdict = "more than chance" if comparison.is_clear else "may be chance"
    lines = [
        f"{title}: {name} {comparison.before:.3f} -> {comparison.after:.3f}",
        f"difference {change.mean:+.3f}, 95 % interval {change.low:+.3f} to {change.high:+.3f}: {verdict}",
        f"{comparison.wins} better, {comparison.losses} worse, {comparison.ties} the same",
    ]
    for ids, run in ((comparison.only_before, "earlier"), (comparison.only_after, "later")):
        if ids:
            lines.append(f"{len(ids)} queries are only in the {run} run and were left out, such as {ids[0]}")
    if not comparison.moved:
        return Text("\n".join(lines))
    table = _table("moved most", ["query", "before", "after", "difference"])
    for moved in comparison.moved:
        table.add_row(Text(moved.id), f"{moved.before:.3f}", f"{moved.after:.3f}", f"{moved.difference:+.3f}")
    return Group(Text("\n".join(lines)), table)


def as_text(report: RenderableType, *, width: int = WIDTH) -> str:
    """Return the report as plain text, without colours, for files and pipes."""
    out = io.StringIO()
    Console(file=out, width=width, no_color=True, force_terminal=False, color_system=None).print(report)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()).strip("\n") + "\n"


def save(run: Run, path: Path) -> None:
    """Write the run as JSON, a line for each query, so that two files can be compared with `diff`.

    Raises:
        OSError: the file cannot be written.
    """
    head = msgspec.json.encode({"format": FORMAT, "dataset": run.dataset, "mode": run.mode})
    lines = b",\n".join(msgspec.json.encode(result) for result in run.queries)
    path.write_bytes(head[:-1] + b',"queries":[\n' + lines + b"\n]}\n")


def load(path: Path) -> Run:
    """Read a run that `save` wrote.

    Raises:
        RunFileError: the file cannot be read, or is of another format.
    """
    try:
        content = path.read_bytes()
        found = msgspec.json.decode(content, type=_File)
        if found.format != FORMAT:
            raise RunFileError(f"{path}: is of format {found.format}; this Muisti reads format {FORMAT}")
        return msgspec.json.decode(content, type=Run)
    except OSError as error:
        raise RunFileError(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:  # bad JSON, or not a run
        raise RunFileError(f"{path}: is no run of muisti eval: {error}") from error


def _table(title: str, columns: Sequence[str]) -> Table:
    table = Table(title=Text(title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", no_wrap=True)
    return table


def _cell(first: str, second: str) -> Text:
    return Text.assemble(first, "\n", (second, "dim"))
