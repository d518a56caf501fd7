"""Draws how much evidence contexts keep by their budget, as an SVG: a panel for each set of data."""

from collections.abc import Mapping, Sequence
from math import log

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 320, 260, 44, 36, 30
COLOURS = ("#8c959f", "#57606a", "#bf8700", "#8250df", "#cf222e", "#0969da", "#1a7f37")
INK, PAPER = "#57606a", "#ffffff"


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
