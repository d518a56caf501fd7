"""Evaluation runs on judged data: measured, printed as a table, saved in files, compared with an earlier run."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any

import click
import msgspec
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from muisti.service.app.client import Client
from muisti.service.cli.base import USAGE, Failure, Globals
from muisti.service.cli.opening import throw_away
from muisti.service.cli.output import console, for_people, grid, print_json, talk
from muisti.service.cli.progress import Stages
from muisti.service.evaluation import metrics
from muisti.service.evaluation.dataset import Dataset, DatasetError, load
from muisti.service.evaluation.metrics import METRICS, Comparison, Run, compare, summarise
from muisti.service.evaluation.run import Lost, Plan, Stored, find_lost, measure, sample, stored

LOST_SHOWN = 20


def run(
    options: Globals,
    folders: Sequence[Path],
    *,
    modes: list[str],
    fusion: list[str],
    alpha: float | None,
    size: int | None,
    against: Path | None,
    save: Path | None,
    itself: bool,
) -> None:
    """Measure every dataset in every mode; save, compare and print the runs."""
    datasets, earlier = _datasets(folders, size), _earlier(against)
    plans = [plan for mode in modes for plan in _plans(mode, fusion, alpha)]
    target = _target(save)
    with Stages(console(options, stderr=True)) as stages, throw_away(options, "eval") as opened:
        measured = [_measure(opened, dataset, plans, itself, stages) for dataset in datasets]
    for each in measured:
        for run in each.runs:
            metrics.save(run, target / _file_name(run))
    comparisons = [found for each in measured for run in each.runs if (found := _compared(run, earlier)) is not None]
    _print(options, measured, comparisons)
    if earlier and not comparisons:
        talk(f"{against} has no run of these datasets; nothing was compared.")
    talk(f"Every query is in {target}; compare a later run with --against {target}")


@dataclass(frozen=True, slots=True)
class _Measured:
    """Measurements of one dataset. `checked` counts the texts that were searched by their own words."""

    name: str
    runs: list[Run]
    notes: list[str]
    checked: int
    lost: list[Lost]


@dataclass(frozen=True, slots=True)
class _Compared:
    run: Run
    before: Run
    result: Comparison

    @property
    def title(self) -> str:
        was = "" if self.before.mode == self.run.mode else f", {self.before.mode} before"
        return f"{self.run.dataset}, {self.run.mode}{was}"


def _datasets(folders: Sequence[Path], size: int | None) -> list[Dataset]:
    try:
        found = [load(folder) for folder in folders]
    except DatasetError as error:
        raise Failure(str(error), USAGE) from error
    names = [dataset.name for dataset in found]
    if len(set(names)) < len(names):
        raise Failure(f"two of the folders have the same name: {', '.join(names)}", USAGE)
    return [dataset if size is None else sample(dataset, size) for dataset in found]


def _plans(mode: str, fusions: Sequence[str], alpha: float | None) -> list[Plan]:
    if mode != "hybrid":
        return [Plan(mode=mode)]
    return [Plan(mode=mode, fusion=fusion, alpha=alpha) for fusion in fusions or [None]]


def _earlier(path: Path | None) -> list[Run]:
    if path is None:
        return []
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    try:
        return [metrics.load(file) for file in files]
    except metrics.RunFileError as error:
        raise Failure(str(error), USAGE) from error


def _target(given: Path | None) -> Path:
    """Create the folder to save in, before the measurement, which may take an hour."""
    target = given or Path("runs") / datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"{target}: cannot be made: {error.strerror}") from error
    return target


@contextmanager
def _stored(opened: Client, dataset: Dataset, stages: Stages) -> Iterator[Stored]:
    try:
        with stored(opened, dataset, stages.note) as held:
            yield held
    except DatasetError as error:
        raise Failure(str(error)) from error


def _measure(opened: Client, dataset: Dataset, plans: Sequence[Plan], itself: bool, stages: Stages) -> _Measured:
    stages.begin(dataset.name)
    notes, runs = list(dataset.notes), list[Run]()
    with _stored(opened, dataset, stages) as held:
        notes += held.notes
        for plan in plans:
            run, degraded = measure(opened, held, plan, stages.note)
            runs.append(run)
            notes += [f"{plan.name}: {note}" for note in degraded]
        checked, lost = find_lost(opened, held, stages.note) if itself else (0, [])
    return _Measured(dataset.name, runs, notes, checked, lost)


def _compared(run: Run, earlier: Sequence[Run]) -> _Compared | None:
    """Compare with the earlier run of the same dataset and mode, or with the dataset's only run."""
    same = [other for other in earlier if other.dataset == run.dataset]
    alike = [other for other in same if other.mode == run.mode] or (same if len(same) == 1 else [])
    return _Compared(run, alike[0], compare(alike[0], run)) if alike else None


def _file_name(run: Run) -> str:
    return f"{run.dataset}-{run.mode.replace(':', '-')}.json"


def _print(options: Globals, measured: Sequence[_Measured], comparisons: Sequence[_Compared]) -> None:
    if options.json:
        print_json(_as_json(measured, comparisons))
        return
    width = None if for_people(options) else metrics.WIDTH
    for part in _report(measured, comparisons):
        if width is None:
            console(options).print(part)
        else:
            click.echo(metrics.as_text(part, width=width))


def _report(measured: Sequence[_Measured], comparisons: Sequence[_Compared]) -> Iterator[RenderableType]:
    for each in measured:
        yield metrics.summary_table(each.name, [summarise(run) for run in each.runs])
        for note in each.notes:
            yield Text(f"Note: {note}")
        if each.checked:
            yield _lost_text(each)
    if len(measured) > 1:
        yield _mean_table(measured)
    for compared in comparisons:
        yield metrics.comparison_report(compared.title, compared.result)


def _lost_text(each: _Measured) -> Text:
    found = each.checked - len(each.lost)
    lines = [f"{found} of {each.checked} texts were found first by their own text, {found / each.checked:.2%}"]
    lines += [f"  {lost.id}: found {lost.first or 'nothing'} first" for lost in each.lost[:LOST_SHOWN]]
    if len(each.lost) > LOST_SHOWN:
        lines.append(f"  and {len(each.lost) - LOST_SHOWN} more; --json has all")
    return Text("\n".join(lines))


def _means(measured: Sequence[_Measured]) -> dict[str, dict[str, float]]:
    """Return the mean of each metric over the datasets, with equal weights, by mode."""
    means: dict[str, dict[str, float]] = {}
    for runs in zip(*(each.runs for each in measured), strict=True):
        rows = [summarise(run) for run in runs]
        found = {metric: fmean(getattr(row, metric).mean for row in rows) for metric in METRICS}
        means[runs[0].mode] = found | {"ms_median": fmean(row.ms_median for row in rows)}
    return means


def _mean_table(measured: Sequence[_Measured]) -> Table:
    columns = [*metrics.NAMES.values(), "ms/query"]
    table = grid(f"mean over {len(measured)} datasets", "mode", *columns, right=columns)
    for mode, found in _means(measured).items():
        table.add_row(mode, *(f"{found[metric]:.3f}" for metric in METRICS), f"{found['ms_median']:.2f}")
    return table


def _as_json(measured: Sequence[_Measured], comparisons: Sequence[_Compared]) -> dict[str, Any]:
    items = [{"dataset": each.name, **msgspec.to_builtins(summarise(run))} for each in measured for run in each.runs]
    checked = [
        {"dataset": each.name, "checked": each.checked, "lost": [asdict(lost) for lost in each.lost]}
        for each in measured
        if each.checked
    ]
    return {
        "items": items,
        "mean": _means(measured),
        "notes": {each.name: each.notes for each in measured if each.notes},
        "self": checked,
        "comparisons": [
            {"dataset": each.run.dataset, "mode": each.run.mode, "before": each.before.mode}
            | {"result": msgspec.to_builtins(each.result)}
            for each in comparisons
        ],
    }
