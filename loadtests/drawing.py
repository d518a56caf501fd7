"""Style of all pictures."""

from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt

OURS, OTHERS = "#c2410c", "#64748b"
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "muisti",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#94a3b8",
    "axes.labelcolor": "#334155",
    "xtick.color": "#475569",
    "ytick.color": "#475569",
    "axes.grid": True,
    "grid.color": "#e2e8f0",
    "grid.linewidth": 0.8,
    "axes.axisbelow": True,
    "figure.facecolor": "white",
}
EMPTY = {"Date": None, "Creator": None}


def save(figure: Any, path: Path, *, tight: bool = True) -> None:
    if tight:
        figure.tight_layout()
    figure.savefig(path, format="svg", metadata=EMPTY)
    plt.close(figure)
