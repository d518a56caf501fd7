"""Pictures of what `make load` has measured, drawn in the environment of locust: `python -m loadtests.load_plots`."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

from loadtests.drawing import OTHERS, OURS, STYLE, save

COLORS = ("#fdba74", "#f97316", "#c2410c", "#7c2d12")
WINDOW_SECONDS = 1.0
Figures = Mapping[str, Any]


def sweep(found: Sequence[Figures], path: Path) -> None:
    """Throughput and 99th percentile by users: a column for each number of workers, a line for each of memories."""
    workers = sorted({one["workers"] for one in found})
    figure, panels = plt.subplots(2, len(workers), figsize=(5.2 * len(workers), 7), sharex=True, squeeze=False)
    for column, count in enumerate(workers):
        mine = [one for one in found if one["workers"] == count]
        for one, color in zip(mine, COLORS, strict=False):
            users = [cell["users"] for cell in one["cells"]]
            for row, name in enumerate(("per second", "p99")):
                values = [cell[name] for cell in one["cells"]]
                panels[row][column].plot(users, values, "o-", color=color, ms=4, label=f"{one['size']:,} memories")
        for row, (title, scale) in enumerate((("searches a second", "linear"), ("99th percentile, ms", "log"))):
            panel = panels[row][column]
            panel.set(xscale="log", yscale=scale)
            panel.set_xticks(users, [str(user) for user in users])
            panel.minorticks_off()
            panel.set_ylabel(title)
        panels[0][column].set_ylim(0)
        panels[0][column].set_title(f"{count} {'worker' if count == 1 else 'workers'}", loc="left", fontsize=11)
        panels[1][column].set_xlabel("users, each of whom waits for the answer")
    lines = panels[0][0].get_legend_handles_labels()
    figure.tight_layout(rect=(0, 0.04, 1, 1))
    figure.legend(*lines, loc="lower center", ncols=len(COLORS), frameon=False, fontsize=9)
    save(figure, path, tight=False)


def overload(phases: Sequence[Figures], path: Path) -> None:
    """Requests by the second when they were due, and how long those took that were answered and those refused."""
    figure, (upper, lower) = plt.subplots(2, 1, figsize=(9, 6), sharex=True)
    for row in phases:
        at = [row["began"] + place for place in range(len(row["answered"]))]
        upper.plot(at, row["refused"], color=OTHERS, lw=1.4, label="refused")
        upper.plot(at, row["answered"], color=OURS, lw=2, label="answered")
        lower.plot(at, row["refused ms"], color=OTHERS, lw=1.4)
        lower.plot(at, row["answered ms"], color=OURS, lw=2)
        upper.annotate(row["name"], (at[0], 1.02), xycoords=("data", "axes fraction"), fontsize=9, color="#334155")
    upper.set(yscale="symlog", ylabel="requests a second", ylim=(0, None))
    lower.set(yscale="log", ylabel="99th percentile, ms", xlabel="seconds")
    known = dict(zip(*reversed(upper.get_legend_handles_labels()), strict=True))
    upper.legend(known.values(), known.keys(), frameon=False, loc="center right")
    save(figure, path)


def scenarios(samples: Sequence[tuple[str, float, float, int]], folder: Path) -> None:
    """Latency of each kind of request, and over time."""
    names = sorted({sample[0] for sample in samples})
    figure, panel = plt.subplots(figsize=(9, 0.5 * len(names) + 1.2))
    times = [np.array([ms for name, _, ms, _ in samples if name == wanted]) for wanted in names]
    for row, values in enumerate(times):
        p50, p95, p99 = np.percentile(values, (50, 95, 99))
        panel.plot([p50, p99], [row, row], color=OTHERS, lw=1.2, zorder=1)
        panel.scatter([p50, p95, p99], [row] * 3, c=[OURS, "#f97316", "#fdba74"], s=40, zorder=2)
    panel.set_yticks(range(len(names)), names)
    panel.set(xscale="log", xlabel="ms from when it was due: median, 95th, 99th percentile")
    save(figure, folder / "latency.svg")
    figure, panel = plt.subplots(figsize=(9, 3))
    panel.scatter([due for _, due, _, _ in samples], [ms for _, _, ms, _ in samples], s=4, alpha=0.4, c=OURS)
    panel.set(yscale="log", xlabel="seconds", ylabel="ms")
    save(figure, folder / "time.svg")


def main(kind: str, figures: Path, target: Path) -> None:
    mpl.use("svg")
    found = json.loads(figures.read_text("utf-8"))
    with mpl.rc_context(STYLE):
        {"sweep": sweep, "overload": overload, "scenarios": scenarios}[kind](found, target)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
