"""Thresholds of weak and strong evidence, fitted for a model or for a space."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import click
import msgspec
from rich.table import Table

from muisti.client import calls
from muisti.core.model.errors import InvalidInput
from muisti.core.model.hits import Thresholds
from muisti.core.query.evidence import LEVELS, Entry, RankedMode, write
from muisti.service.app.client import Client
from muisti.service.cli.base import USAGE, Failure, Globals
from muisti.service.cli.opening import throw_away
from muisti.service.cli.output import console, for_people, grid, print_json, talk
from muisti.service.cli.progress import Stages
from muisti.service.cli.session import session
from muisti.service.evaluation import metrics
from muisti.service.evaluation.dataset import DatasetError, load
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
from muisti.service.evaluation.run import stored

MODES: tuple[RankedMode, ...] = ("hybrid", "semantic", "keyword")

Asked = Mapping[str, list[Mapping[str, Strengths]]]
"""Questions asked of each dataset, by mode."""


class _Found(msgspec.Struct, frozen=True):
    """Results of questions, of a model, and of one space or of datasets; `cosines` are those of foreign questions."""

    asked: Asked
    generation: str | None
    space: str | None
    cosines: Sequence[Cosines]


def run(options: Globals, folders: Sequence[Path], sample: int, save: Path | None, drawn: Path | None) -> None:
    """Ask, fit, print and save."""
    try:
        with Stages(console(options, stderr=True)) as stages:
            found = _judged(options, folders, sample, stages) if folders else _own(options, stages)
    except DatasetError as error:
        raise Failure(str(error)) from error
    fitted = [fit(mode, _by_kind(strengths)) for mode, strengths in found.asked.items()]
    modes: dict[RankedMode, Thresholds] = {cast(RankedMode, one.mode): one.thresholds for one in fitted}
    unrelated = fit_unrelated(found.cosines) or msgspec.UNSET
    entry = Entry(generation=found.generation, space=found.space, modes=modes, unrelated=unrelated)
    _print(options, fitted, entry)
    try:
        if save is not None:
            write(save, entry)
        if drawn is not None:
            drawn.write_text(plot(fitted), "utf-8")
    except (OSError, InvalidInput) as error:
        raise Failure(f"the result cannot be saved: {error}") from error
    talk("The service reads the file of the setting calibration at its start.")


def _judged(options: Globals, folders: Sequence[Path], sample: int, stages: Stages) -> _Found:
    try:
        datasets = [load(folder) for folder in folders]
    except DatasetError as error:
        raise Failure(str(error), USAGE) from error
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


def _print(options: Globals, fitted: Sequence[Fitted], entry: Entry) -> None:
    if options.json:
        shown = [
            {
                "mode": one.mode,
                "thresholds": one.thresholds,
                "auroc": one.auroc,
                "pooled": one.pooled,
                "confusion": one.confusion,
            }
            for one in fitted
        ]
        told = {"generation": entry.generation, "space": entry.space, "items": shown}
        print_json(told | ({"unrelated": entry.unrelated} if entry.unrelated else {}))
        return
    for one in fitted:
        if for_people(options):
            console(options).print(_table(one))
        else:
            click.echo(metrics.as_text(_table(one), width=metrics.WIDTH))
    if entry.unrelated:
        click.echo(
            f"One unrelated question in ten finds a cosine of {entry.unrelated.first:.2f}, and "
            f"{entry.unrelated.growth:.3f} more for ten times as many passages."
        )


def _table(fitted: Fitted) -> Table:
    """Return the confusion matrix at the thresholds, and the AUROC of each kind against questions with an answer."""
    columns = [*LEVELS, "AUROC", "pooled"]
    title = f"{fitted.mode}: weak from {fitted.thresholds.weak:.2f}, strong from {fitted.thresholds.strong:.2f}"
    table = grid(title, "questions", *columns, right=columns)
    for kind, shares in fitted.confusion.items():
        areas = [f"{found[kind]:.3f}" if kind in found else "" for found in (fitted.auroc, fitted.pooled)]
        table.add_row(kind, *(f"{shares[level]:.1%}" for level in LEVELS), *areas)
    return table
