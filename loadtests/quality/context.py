"""Measures how much evidence a context keeps by its budget, against other ways to choose from the same ranking.

    python -m loadtests.quality.context DATA... [--half report] [--sample N] [--plot FILE] [--docs docs]

DATA are folders of judged data (`service.evaluation.dataset`) whose queries have answers. All ways choose from the same
candidates, render alike (a line for each day), and pay for their lines. `credit` is the share of the evidence that is
kept. Of a memory that is cut it counts the share of the answer's words that are left. `strict` asks for all of these
and for the best sentence. `words` is the share of the answer's words anywhere in the text. Intervals are paired
bootstraps over conversations.
"""

from collections.abc import Mapping, Sequence
from math import log
from pathlib import Path

import click
import numpy as np
import numpy.typing as npt

from loadtests.quality.contexts import Question, Share, groups, judged, opened, questions
from loadtests.quality.packing import OURS, WAYS
from muisti.core.embedding.encoder import StaticEncoder
from muisti.service.evaluation.dataset import Dataset, DatasetError, load

BUDGETS = (250, 500, 1_000, 2_000, 4_000)
BASES = ("naive, skips", "naive, stops")
MEASURES = ("credit", "strict", "words")
FINE = (250, 350, 500, 700, 850, 1_000, 1_250, 1_500, 2_000, 2_500, 3_000, 3_500, 4_000)  # for tokens to reach a level
RESAMPLES = 4_000

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 320, 260, 44, 36, 30
COLOURS = ("#8c959f", "#57606a", "#bf8700", "#8250df", "#cf222e", "#0969da", "#1a7f37")
INK, PAPER = "#57606a", "#ffffff"

Shares = npt.NDArray[np.float64]  # questions, budgets, measures


def measured(dataset: Dataset, half: str, sample: int | None) -> tuple[dict[str, Shares], list[str], Shares]:
    """Return the shares of each way, the group of each question, and Muisti's credit at each of `FINE`."""
    encoder = StaticEncoder()
    rows: dict[str, list[list[Share]]] = {name: [] for name in WAYS}
    fine: list[list[float]] = []
    of: list[str] = []
    with opened(encoder) as engine:
        for number, group in enumerate(groups(dataset, half)):
            for question in [*questions(engine, encoder, dataset, group, f"g{number}")][:sample]:
                of.append(group)
                for name, way in WAYS.items():
                    rows[name].append([judged(question, way(question.asked, budget)) for budget in BUDGETS])
                fine.append([_credit(question, budget) for budget in FINE])
    shares = {name: _array(found) for name, found in rows.items()}
    return shares, of, np.array(fine)


def interval(differences: Shares, of: Sequence[str]) -> tuple[Shares, Shares, Shares]:
    """Return the mean and the 95 % interval of differences, with whole groups drawn again."""
    known = ~np.isnan(differences)
    every = sorted(set(of))
    places = [np.array([place for place, one in enumerate(of) if one == group]) for group in every]
    sums = np.array([np.nansum(differences[place], axis=0) for place in places])
    counts = np.array([known[place].sum(axis=0) for place in places])
    drawn = np.random.default_rng(0).integers(0, len(every), (RESAMPLES, len(every)))
    means = sums[drawn].sum(axis=1) / np.maximum(counts[drawn].sum(axis=1), 1)
    low, high = np.percentile(means, [2.5, 97.5], axis=0)
    return np.nansum(differences, axis=0) / np.maximum(known.sum(axis=0), 1), low, high


def table(name: str, shares: Mapping[str, Shares], of: Sequence[str], fine: Shares) -> str:
    """Return the result of a dataset as Markdown."""
    lines = [f"**{name}** ({len(of)} questions, {len(set(of))} conversations)", ""]
    lines += ["| | " + " | ".join(f"{measure} at {' / '.join(map(str, BUDGETS))}" for measure in MEASURES) + " |"]
    lines += ["| --- |" + " --- |" * len(MEASURES)]
    for way, found in shares.items():
        means = np.nanmean(found, axis=0).T if len(of) else np.zeros((3, len(BUDGETS)))
        lines.append(f"| {way} | " + " | ".join(_row(own) for own in means) + " |")
    for base in BASES:
        mean, low, high = interval(shares[OURS] - shares[base], of)
        for place, measure in ((0, "credit"), (2, "words")):
            cells = " ".join(
                f"{m:+.3f} [{lo:+.3f} {hi:+.3f}]"
                for m, lo, hi in zip(mean[:, place], low[:, place], high[:, place], strict=True)
            )
            lines.append(f"| {measure}: Muisti less {base} | {cells} | | |")
    lines += ["", _reaches(shares, fine), ""]
    return "\n".join(lines)


def plot(curves: Mapping[str, Mapping[str, Sequence[float]]], budgets: Sequence[int]) -> str:
    """Draw the credit of each way by budget, on a logarithmic scale of tokens."""
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
        x, y = LEFT + 110 * (place % 3), HEIGHT + 8 + 16 * (place // 3)
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
@click.option("--half", type=click.Choice(["tune", "report", "all"]), default="report", show_default=True)
@click.option("--sample", type=click.IntRange(1), help="Questions of each conversation, at most.")
@click.option("--plot", "drawn", type=click.Path(dir_okay=False, path_type=Path), help="SVG file for the curves.")
def main(folders: Sequence[Path], *, half: str, sample: int | None, drawn: Path | None) -> None:
    """Print how much evidence contexts keep by their budget."""
    curves: dict[str, dict[str, list[float]]] = {}
    for folder in folders:
        try:
            dataset = load(folder)
        except DatasetError as error:
            raise click.ClickException(str(error)) from error
        shares, of, fine = measured(dataset, half, sample)
        if not of:
            raise click.ClickException(f"{folder}: there is no question in the half {half!r}")
        click.echo(table(dataset.name, shares, of, fine))
        curves[dataset.name] = {way: np.nanmean(found[:, :, 0], axis=0).tolist() for way, found in shares.items()}
    if drawn is not None:
        drawn.write_text(plot(curves, BUDGETS), "utf-8")


def _credit(question: Question, budget: int) -> float:
    return judged(question, WAYS[OURS](question.asked, budget)).credit


def _array(found: Sequence[Sequence[Share]]) -> Shares:
    return np.array([[(one.credit, one.strict, one.words) for one in row] for row in found])


def _row(values: Shares) -> str:
    return " ".join(f"{value:.3f}".removeprefix("0") for value in values)


def _reaches(shares: Mapping[str, Shares], fine: Shares) -> str:
    """Say with how many tokens Muisti reaches what `naive, stops` keeps in the largest budget."""
    level = float(shares["naive, stops"][:, -1, 0].mean())
    found = next((b for b, mean in zip(FINE, fine.mean(axis=0), strict=True) if mean >= level), None)
    reached = "not within it" if found is None else f"with {found:,}"
    return f"Muisti reaches the credit of naive, stops at {BUDGETS[-1]:,} tokens ({level:.3f}) {reached}."


if __name__ == "__main__":
    main()
