"""Measures how much evidence a context keeps by its budget, and how much of the budget it uses.

    python -m loadtests.quality.context DATA... [--half all] [--sample N] [--plot FILE] [--docs docs]

DATA are folders of judged data (`service.evaluation.dataset`). Muisti's contexts are the default ones. The other ways
choose from the hits of the same search and render alike, below the same notice. `whole` is the share of the evidence
that is there whole. `credit` counts a memory that is cut by the share of the answer's words that it still has. `words`
is the share of the answer's words anywhere in the text. `used` is the median share of the budget for questions that one
memory answers. Lists with a share of the best score show what a cut saves and costs. Intervals are paired bootstraps
over questions.
"""

from collections.abc import Mapping, Sequence
from math import log
from pathlib import Path

import click
import numpy as np
import numpy.typing as npt

from loadtests.document import put_table
from loadtests.quality.contexts import Share, groups, judged, opened, questions
from loadtests.quality.packing import OURS, WAYS
from muisti.core.embedding.encoder import StaticEncoder
from muisti.service.evaluation.dataset import Dataset, DatasetError, load

BUDGETS = (250, 500, 1_000, 2_000)
BASES = ("rank order, stops", "rank order, skips")
MEASURES = ("whole", "credit", "words")
RESAMPLES = 4_000

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 320, 260, 44, 36, 30
COLOURS = ("#8c959f", "#57606a", "#bf8700", "#8250df", "#cf222e", "#0969da", "#1a7f37")
INK, PAPER = "#57606a", "#ffffff"

Shares = npt.NDArray[np.float64]  # questions, budgets, measures
Used = Mapping[str, npt.NDArray[np.float64]]  # by way: questions, budgets


def measured(dataset: Dataset, half: str, sample: int | None) -> tuple[dict[str, Shares], Used]:
    """Return the shares of each way, and what it uses of the budgets where one memory answers."""
    rows: dict[str, list[list[Share]]] = {name: [] for name in WAYS}
    used: dict[str, list[list[float]]] = {name: [] for name in WAYS}
    with opened(StaticEncoder()) as engine:
        for number, group in enumerate(groups(dataset, half)):
            for question in [*questions(engine, dataset, group, f"g{number}")][:sample]:
                for name, way in WAYS.items():
                    filled = [way(question.asked, budget) for budget in BUDGETS]
                    rows[name].append([judged(question, one.kept) for one in filled])
                    if len(question.relevant) == 1:
                        used[name].append([one.tokens / budget for one, budget in zip(filled, BUDGETS, strict=True)])
    shares = {name: np.array(found).reshape(-1, len(BUDGETS)) for name, found in used.items()}
    return {name: _array(found) for name, found in rows.items()}, shares


def interval(differences: Shares) -> tuple[Shares, Shares, Shares]:
    """Return the mean and the 95 % interval of differences, with questions drawn again."""
    known = ~np.isnan(differences).any(axis=(1, 2))
    own = differences[known] if known.any() else np.zeros((1, *differences.shape[1:]))
    drawn = np.random.default_rng(0).integers(0, len(own), (RESAMPLES, len(own)))
    counts = np.stack([np.bincount(one, minlength=len(own)) for one in drawn]) / len(own)
    low, high = np.percentile(np.tensordot(counts, own, 1), [2.5, 97.5], axis=0)
    return own.mean(axis=0), low, high


def table(name: str, shares: Mapping[str, Shares], used: Used) -> list[str]:
    """Return the result of a dataset as Markdown."""
    own = shares[OURS]
    title = f"{name} ({len(own)})"
    single = len(used[OURS])
    heads = [*(f"{measure} at {' / '.join(map(str, BUDGETS))}" for measure in MEASURES), f"used ({single})"]
    lines = [f"| {title} | {' | '.join(heads)} |", "| --- |" + " --- |" * len(heads)]
    for way, found in shares.items():
        cells = [*map(_row, np.nanmean(found, axis=0).T), _row(np.median(used[way], axis=0)) if single else ""]
        lines.append(f"| {way} | {' | '.join(cells)} |")
    for base in BASES:
        mean, low, high = interval((own - shares[base])[:, :, :2])
        cells = [
            " ".join(
                f"{m:+.3f} ({lo:+.3f} {hi:+.3f})"
                for m, lo, hi in zip(*(one[:, at] for one in (mean, low, high)), strict=True)
            )
            for at in range(2)
        ]
        lines.append(f"| Muisti less {base} | {' | '.join(cells)} | | |")
    return [*lines, ""]


def plot(curves: Mapping[str, Mapping[str, Sequence[float]]], budgets: Sequence[int]) -> str:
    """Draw the whole evidence of each way by budget, on a logarithmic scale of tokens."""
    width = WIDTH * len(curves)
    panels = "".join(
        f'<g transform="translate({WIDTH * place} 0)">{_panel(name, ways, budgets)}</g>'
        for place, (name, ways) in enumerate(curves.items())
    )
    names = [*next(iter(curves.values()))]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT + 60}" font-family="sans-serif" '
        f'font-size="11" fill="{INK}"><rect width="100%" height="100%" fill="{PAPER}"/>{panels}{_legend(names)}</svg>\n'
    )


def _panel(name: str, ways: Mapping[str, Sequence[float]], budgets: Sequence[int]) -> str:
    parts = [f'<text x="{LEFT}" y="18" font-weight="bold">{name}</text>']
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(f'<path d="M{LEFT} {_y(share):.1f}H{WIDTH - 10}" stroke="#d0d7de"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{_y(share) + 4:.1f}" text-anchor="end">{share:.0%}</text>')
    for budget in budgets:
        x = _x(budget, budgets)
        parts.append(f'<text x="{x:.1f}" y="{_y(0) + 14:.1f}" text-anchor="middle">{budget:,}</text>')
    for colour, values in zip(COLOURS, ways.values(), strict=False):
        points = [f"{_x(b, budgets):.1f} {_y(v):.1f}" for b, v in zip(budgets, values, strict=True)]
        parts.append(f'<path d="M{"L".join(points)}" fill="none" stroke="{colour}" stroke-width="2"/>')
    parts.append(f'<text x="{(LEFT + WIDTH) / 2:.0f}" y="{_y(0) + 29:.1f}" text-anchor="middle">tokens</text>')
    return "".join(parts)


def _legend(names: Sequence[str]) -> str:
    parts: list[str] = []
    for place, (name, colour) in enumerate(zip(names, COLOURS, strict=False)):
        x, y = LEFT + 180 * (place % 3), HEIGHT + 8 + 16 * (place // 3)
        parts.append(f'<rect x="{x}" y="{y}" width="12" height="4" fill="{colour}"/>')
        parts.append(f'<text x="{x + 18}" y="{y + 6}">{name}</text>')
    return "".join(parts)


def _x(budget: int, budgets: Sequence[int]) -> float:
    first, last = log(budgets[0]), log(budgets[-1])
    return LEFT + 14 + (WIDTH - 40 - LEFT) * (log(budget) - first) / (last - first)


def _y(share: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * share


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--half", type=click.Choice(["tune", "report", "all"]), default="all", show_default=True)
@click.option("--sample", type=click.IntRange(1), help="Questions of each conversation, at most.")
@click.option("--plot", "drawn", type=click.Path(dir_okay=False, path_type=Path), help="SVG file for the curves.")
@click.option("--docs", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Put the tables there.")
def main(folders: Sequence[Path], *, half: str, sample: int | None, drawn: Path | None, docs: Path | None) -> None:
    """Print how much evidence contexts keep by their budget."""
    curves: dict[str, dict[str, list[float]]] = {}
    lines: list[str] = []
    for folder in folders:
        try:
            dataset = load(folder)
        except DatasetError as error:
            raise click.ClickException(str(error)) from error
        shares, used = measured(dataset, half, sample)
        if not len(shares[OURS]):
            raise click.ClickException(f"{folder}: there is no question in the half {half!r}")
        lines += table(dataset.name, shares, used)
        click.echo("\n".join(lines[-len(WAYS) - len(BASES) - 3 :]))
        curves[dataset.name] = {way: np.nanmean(found[:, :, 0], axis=0).tolist() for way, found in shares.items()}
    if drawn is not None:
        drawn.write_text(plot(curves, BUDGETS), "utf-8")
    if docs is not None:
        put_table(docs / "why" / "quality.md", "contexts", lines[:-1])


def _array(found: Sequence[Sequence[Share]]) -> Shares:
    return np.array([[(one.whole, one.credit, one.words) for one in row] for row in found])


def _row(values: Shares) -> str:
    return " ".join(f"{value:.3f}".removeprefix("0") for value in values)


if __name__ == "__main__":
    main()
