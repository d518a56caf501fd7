"""Runs for people, as tables, and for programs, as JSON with a line for each query.

The file: {"format": 1, "dataset", "mode", "queries": [{"id", "group", "category", "recall_5", "recall_10",
"precision_10", "ndcg_10", "mrr", "map", "ms", "ranked": [document ids]}, …]}. A reader takes its own format only;
fields may be added within a format.
"""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from muisti.service.evaluation.metrics import Comparison, Run, Summary

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
