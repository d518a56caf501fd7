"""Runs of eval and calibrate on judged data: measured, printed, saved, compared with an earlier run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any, cast

import click
import msgspec
from rich.table import Table
from rich.text import Text

from muisti.client import calls
from muisti.core.model.errors import InvalidInput
from muisti.core.model.hits import Thresholds
from muisti.core.query.evidence import LEVELS, Entry, RankedMode, write
from muisti.service.evaluation import metrics
from muisti.service.evaluation.dataset import Dataset, DatasetError, load
from muisti.service.evaluation.evidence import (
    FOREIGN_QUESTIONS,
    Cosines,
    Fitted,
    Strengths,
    fit,
    fit_unrelated,
    found_by,
    from_others,
    judged,
    largest,
    own,
    plot,
)
from muisti.service.evaluation.metrics import METRICS, Comparison, Run, compare, summarise
from muisti.service.evaluation.run import Lost, Plan, find_lost, measure, sample, stored
from muisti.service.terminal.base import USAGE, Failure, Globals
from muisti.service.terminal.client import Client
from muisti.service.terminal.opening import throw_away
from muisti.service.terminal.output import console, for_people, print_json, talk
from muisti.service.terminal.progress import Stages
from muisti.service.terminal.session import session
from muisti.service.terminal.views import Shown, grid

LOST_SHOWN = 20


def evaluate(
    options: Globals, folders: Sequence[Path], *, against: Path | None, save: Path | None, itself: bool, **asked: Any
) -> None:
    """Measure every dataset in every mode; save, compare and print the runs."""
    datasets, earlier = _datasets(folders, asked["size"]), _earlier(against)
    plans = [plan for mode in asked["modes"] for plan in _plans(mode, asked["fusion"], asked["alpha"])]
    target = _target(save)
    try:
        with Stages(options) as stages, throw_away(options, "eval") as opened:
            measured = [_measure(opened, dataset, plans, itself, stages) for dataset in datasets]
    except DatasetError as error:
        raise Failure(str(error)) from error
    for each in measured:
        for run in each.runs:
            metrics.save(run, target / f"{run.dataset}-{run.mode.replace(':', '-')}.json")
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


def _plans(mode: str, fusions: Sequence[str] | None, alpha: float | None) -> list[Plan]:
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


def _measure(opened: Client, dataset: Dataset, plans: Sequence[Plan], itself: bool, stages: Stages) -> _Measured:
    stages.begin(dataset.name)
    notes, runs = list(dataset.notes), list[Run]()
    with stored(opened, dataset, stages.note) as held:
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


def _print(options: Globals, measured: Sequence[_Measured], comparisons: Sequence[_Compared]) -> None:
    if options.json:
        print_json(_as_json(measured, comparisons))
        return
    for part in _report(measured, comparisons):
        _put(options, part)


def _put(options: Globals, part: Shown) -> None:
    if for_people(options):
        console(options).print(part)
    else:
        click.echo(metrics.as_text(part, width=metrics.WIDTH))


def _report(measured: Sequence[_Measured], comparisons: Sequence[_Compared]) -> Iterator[Shown]:
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
    rows = (
        (mode, *(f"{found[metric]:.3f}" for metric in METRICS), f"{found['ms_median']:.2f}")
        for mode, found in _means(measured).items()
    )
    return grid(f"mean over {len(measured)} datasets", "mode", *columns, right=columns, rows=rows)


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


MODES: tuple[RankedMode, ...] = ("hybrid", "semantic", "keyword")

Asked = Mapping[str, list[Mapping[str, Strengths]]]
"""Questions asked of each dataset, by mode."""


class _Found(msgspec.Struct, frozen=True):
    """Results of questions, of a model, and of one space or of datasets; `cosines` are those of foreign questions."""

    asked: Asked
    generation: str | None
    space: str | None
    cosines: Sequence[Cosines]


def calibrate(options: Globals, folders: Sequence[Path], sample: int, save: Path | None, drawn: Path | None) -> None:
    """Ask, fit, print and save."""
    try:
        with Stages(options) as stages:
            found = _judged(options, folders, sample, stages) if folders else _own(options, stages)
    except DatasetError as error:
        raise Failure(str(error)) from error
    fitted = [fit(mode, _by_kind(strengths)) for mode, strengths in found.asked.items()]
    modes: dict[RankedMode, Thresholds] = {cast(RankedMode, one.mode): one.thresholds for one in fitted}
    unrelated = fit_unrelated(found.cosines) or msgspec.UNSET
    entry = Entry(generation=found.generation, space=found.space, modes=modes, unrelated=unrelated)
    _print_fitted(options, fitted, entry)
    try:
        if save is not None:
            write(save, entry)
        if drawn is not None:
            drawn.write_text(plot(fitted), "utf-8")
    except (OSError, InvalidInput) as error:
        raise Failure(f"the result cannot be saved: {error}") from error
    talk("The service reads the file of the setting calibration at its start.")


def _judged(options: Globals, folders: Sequence[Path], sample: int, stages: Stages) -> _Found:
    datasets = _datasets(folders, None)
    asked: dict[str, list[Mapping[str, Strengths]]] = {}
    cosines: list[Cosines] = []
    generation: str | None = None
    with throw_away(options, "calibrate") as opened:
        for one in datasets:
            stages.begin(one.name)
            with stored(opened, one, stages.note) as held:
                generation = _generation(opened, next(iter(held.spaces.values())))
                others = from_others(datasets, one) or list(FOREIGN_QUESTIONS)
                for mode in _modes(generation):
                    asked.setdefault(mode, []).append(judged(opened, held, others, mode, stages.note, sample))
                if generation is not None:
                    cosines.append(found_by(opened, held.spaces[largest(one)], others))
    return _Found(asked, generation, None, cosines)


def _own(options: Globals, stages: Stages) -> _Found:
    with session(options) as opened:
        name = opened.space
        stages.begin(name)
        generation = _generation(opened.client, name)
        asked = {mode: [own(opened.client, name, FOREIGN_QUESTIONS, mode, stages.note)] for mode in _modes(generation)}
        cosines = [] if generation is None else [found_by(opened.client, name, FOREIGN_QUESTIONS)]
    return _Found(asked, generation, name, cosines)


def _generation(opened: Client, name: str) -> str | None:
    found = [space["generation"] for space in opened.send(calls.list_spaces()).data["items"] if space["name"] == name]
    if not found:
        raise Failure(f"there is no space {name}; `muisti spaces` lists those that exist")
    return found[0]


def _modes(generation: str | None) -> Sequence[RankedMode]:
    return MODES if generation is not None else ("keyword",)


def _by_kind(found: Sequence[Mapping[str, Strengths]]) -> dict[str, list[Strengths]]:
    return {kind: [one[kind] for one in found] for kind in found[0]}


def _print_fitted(options: Globals, fitted: Sequence[Fitted], entry: Entry) -> None:
    if options.json:
        names = ("mode", "thresholds", "auroc", "pooled", "confusion")
        shown = [{name: getattr(one, name) for name in names} for one in fitted]
        told = {"generation": entry.generation, "space": entry.space, "items": shown}
        print_json(told | ({"unrelated": entry.unrelated} if entry.unrelated else {}))
        return
    for one in fitted:
        _put(options, _table(one))
    if entry.unrelated:
        click.echo(
            f"One unrelated question in ten finds a cosine of {entry.unrelated.first:.2f}, and "
            f"{entry.unrelated.growth:.3f} more for ten times as many passages."
        )


def _table(fitted: Fitted) -> Table:
    columns = [*LEVELS, "AUROC", "pooled"]
    title = f"{fitted.mode}: weak from {fitted.thresholds.weak:.2f}, strong from {fitted.thresholds.strong:.2f}"
    table = grid(title, "questions", *columns, right=columns)
    for kind, shares in fitted.confusion.items():
        areas = [f"{found[kind]:.3f}" if kind in found else "" for found in (fitted.auroc, fitted.pooled)]
        table.add_row(kind, *(f"{shares[level]:.1%}" for level in LEVELS), *areas)
    return table
