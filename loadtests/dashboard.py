"""The dashboard drawn by matplotlib, where there is no Grafana: the same panels and queries, from real data."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from loadtests.plots import STYLE

if TYPE_CHECKING:
    from loadtests.watch import Series, Shown

COLUMNS = 3
COLOURS = ("#c2410c", "#1d4ed8", "#0f766e", "#7c3aed", "#a16207", "#be185d", "#475569", "#15803d", "#0369a1", "#9f1239")
UNITS = {
    "s": (1000, "ms"),
    "bytes": (2**-20, "MiB"),
    "percentunit": (100, "%"),
    "reqps": (1, "a second"),
    "cps": (1, "a second"),
    "wps": (1, "a second"),
}
LEGEND_MAX = 6
GAP_SECONDS = 2


def draw(shown: "Sequence[Shown]", began: float, names: Mapping[str, str], file: Path) -> None:
    """Write the picture. `began` is in seconds since 1970; `names` are those that instances go by."""
    mpl.use("agg")
    numbers = [one for one in shown if one.panel.get("type") == "stat"]
    graphs = [one for one in shown if one.panel.get("type") == "timeseries"]
    restarts = [
        at for one in shown if one.panel.get("name") == "Restarts" for _, found in one.series for at in _risen(found)
    ]
    rows = -(-len(graphs) // COLUMNS)
    with mpl.rc_context(STYLE | {"font.size": 8}):
        figure = plt.figure(figsize=(16, 1.3 + 2.5 * rows), layout="constrained")
        grid = figure.add_gridspec(rows + 1, COLUMNS * 2, height_ratios=[0.45, *[1] * rows])
        for place, one in enumerate(numbers):
            _number(figure.add_subplot(grid[0, place]), one)
        for place, one in enumerate(graphs):
            across, down = place % COLUMNS, place // COLUMNS
            _graph(figure.add_subplot(grid[1 + down, 2 * across : 2 * across + 2]), one, began, restarts, names)
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, dpi=80)
        plt.close(figure)


def _number(axes: Axes, shown: "Shown") -> None:
    axes.set_axis_off()
    scale, unit = UNITS.get(shown.panel["fieldConfig"]["defaults"]["unit"], (1, ""))
    found = shown.series[0][1]
    value = f"{float(found[0]['value'][1]) * scale:,.3g} {unit}" if found else "no data"
    axes.text(0.5, 0.45, value, ha="center", fontsize=17, color=COLOURS[0])
    axes.text(0.5, 0.05, shown.panel["title"], ha="center", color="#334155")


def _graph(axes: Axes, shown: "Shown", began: float, restarts: Sequence[float], names: Mapping[str, str]) -> None:
    defaults = shown.panel["fieldConfig"]["defaults"]
    scale, unit = UNITS.get(defaults["unit"], (1, ""))
    lines = [(_legend(legend, one["metric"], names), one["values"]) for legend, found in shown.series for one in found]
    stacked = defaults["custom"]["stacking"]["mode"] == "normal"
    below: dict[float, float] = {}
    for place, (name, values) in enumerate(sorted(lines, key=_peak, reverse=True)):
        times = [at - began for at, _ in values]
        heights = [float(value) * scale for _, value in values]
        colour = COLOURS[place % len(COLOURS)]
        if stacked:
            floor = [below.get(at, 0.0) for at, _ in values]
            heights = [low + (0.0 if high != high else high) for low, high in zip(floor, heights, strict=True)]
            axes.fill_between(times, floor, heights, color=colour, alpha=0.3, linewidth=0)
            below.update({at: high for (at, _), high in zip(values, heights, strict=True)})
        label = name if place < LEGEND_MAX else None
        axes.plot(*_broken(times, heights), color=colour, linewidth=1.1, label=label)
    for at in restarts:
        axes.axvline(at - began, color="#f59e0b", linewidth=0.5, alpha=0.5, zorder=0)
    axes.set_title(f"{shown.panel['title']}{', ' + unit if unit else ''}", loc="left", fontsize=9)
    axes.set_ylim(0, 1.3 * max(axes.get_ylim()[1], 1e-9))
    axes.legend(fontsize=6.5, framealpha=0.8, edgecolor="none", loc="upper left", ncols=2)
    if axes.get_subplotspec().is_last_row():  # pyright: ignore[reportOptionalMemberAccess]
        axes.set_xlabel("seconds")


def _legend(template: str, labels: Mapping[str, str], names: Mapping[str, str]) -> str:
    """A legend as Grafana writes it, with the names of instances."""

    def filled(match: re.Match[str]) -> str:
        value = labels.get(match[1], "")
        return names.get(value, value)

    return re.sub(r"\{\{(\w+)\}\}", filled, template).strip()


def _peak(line: tuple[str, list[Any]]) -> float:
    return max((float(value) for _, value in line[1] if value != "NaN"), default=0.0)


def _broken(times: Sequence[float], heights: Sequence[float]) -> tuple[list[float], list[float]]:
    """A line with gaps where there was nothing to be had."""
    across, up = list[float](), list[float]()
    for at, height in zip(times, heights, strict=True):
        if across and at - across[-1] > GAP_SECONDS:
            across.append(at)
            up.append(float("nan"))
        across.append(at)
        up.append(height)
    return across, up


def _risen(found: "Series") -> list[float]:
    """When a series began to be there: a restart stays within the window of its query for a while."""
    moments: list[float] = []
    for one in found:
        times: list[Any] = [at for at, _ in one["values"]]
        moments += [at for before, at in zip([float("-inf"), *times], times, strict=False) if at - before > GAP_SECONDS]
    return moments
