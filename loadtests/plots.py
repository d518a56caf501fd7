"""Saved figures as pictures for the documentation: plain SVG files by matplotlib, which is one of the peers' extras."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import pyplot as plt

from loadtests.tables import Results

OURS, OTHERS = "#c2410c", "#64748b"
FAMILIES = {"numpy": "#0f766e", "faiss": "#1d4ed8", "hnswlib": "#7c3aed", "usearch": "#a16207", "sqlite-vec": "#475569"}
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


def draw(results: Results, folder: Path) -> None:
    """Write the pictures that the figures allow."""
    mpl.use("svg")
    folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(STYLE):
        if results.get("dense"):
            _recall(results["dense"], folder / "bench-dense.svg")
        if results.get("lexical") or results.get("hybrid"):
            _growth(results, folder / "bench-growth.svg")
        if results.get("http"):
            _services(results["http"], folder / "bench-http.svg")
        if results.get("memory"):
            _memory(results["memory"], folder / "bench-memory.svg")


def _recall(sizes: Mapping[int, Any], path: Path) -> None:
    """Recall against time, a panel a size: up and to the left is better."""
    figure, panels = plt.subplots(1, len(sizes), figsize=(4.3 * len(sizes), 4.2), sharey=True, squeeze=False)
    for panel, (size, measured) in zip(panels[0], sizes.items(), strict=True):
        engines = measured["engines"]
        curve = sorted((e["median"], e["recall"]) for e in engines if e["name"].startswith("hnswlib"))
        panel.plot(*zip(*curve, strict=True), color=FAMILIES["hnswlib"], lw=1, alpha=0.5) if curve else None
        for number, engine in enumerate(sorted(engines, key=lambda engine: engine["median"])):
            _point(panel, engine, number)
        panel.set_xscale("log")
        panel.set_title(f"{size:,} memories", loc="left", fontsize=11, color="#0f172a")
        panel.set_xlabel("ms a query, median (log scale)")
        panel.margins(x=0.22)
        panel.axhline(0.99, color="#94a3b8", lw=0.8, ls=(0, (4, 4)))
    panels[0][0].set_ylabel("recall@10 of exact float32")
    panels[0][0].set_ylim(None, 1.012)
    _save(figure, path)


def _point(panel: Any, engine: Any, number: int) -> None:
    ours = engine["name"] == "Muisti"
    family = next((color for name, color in FAMILIES.items() if engine["name"].startswith(name)), OTHERS)
    color = OURS if ours else family
    panel.plot(engine["median"], engine["recall"], "D" if ours else "o", color=color, ms=9 if ours else 5.5, zorder=3)
    above = number % 2 == 0
    panel.annotate(
        engine["name"],
        (engine["median"], engine["recall"]),
        xytext=(0, 9 if above else -15),
        textcoords="offset points",
        ha="center",
        fontsize=9.5 if ours else 7.5,
        fontweight="bold" if ours else "normal",
        color=color,
    )


def _growth(results: Results, path: Path) -> None:
    """Milliseconds against size, both scales logarithmic."""
    wanted = [(stage, results[stage]) for stage in ("lexical", "hybrid") if results.get(stage)]
    figure, panels = plt.subplots(1, len(wanted), figsize=(6 * len(wanted), 4.2), squeeze=False)
    titles = {"lexical": "BM25 top 50 of whole questions", "hybrid": "whole hybrid search in process"}
    for panel, (stage, sizes) in zip(panels[0], wanted, strict=True):
        lines: dict[str, list[tuple[int, float]]] = {}
        for size, measured in sizes.items():
            for engine in measured["engines"]:
                if "filter" not in engine["name"]:
                    lines.setdefault(engine["name"], []).append((size, engine["median"]))
        last = 0.0
        for name, points in sorted(lines.items(), key=lambda line: line[1][-1][1]):
            ours = name.startswith("Muisti")
            panel.plot(*zip(*points, strict=True), "o-", color=OURS if ours else OTHERS, lw=2.4 if ours else 1.3, ms=4)
            height = max(points[-1][1], last * 1.35) if points[-1][0] == max(sizes) else points[-1][1]
            last = height if points[-1][0] == max(sizes) else last
            panel.annotate(
                name, (points[-1][0], height), xytext=(7, 0), textcoords="offset points", va="center", fontsize=8.5,
                color=OURS if ours else OTHERS, fontweight="bold" if ours else "normal",
            )  # fmt: skip
        panel.set(xscale="log", yscale="log", xlabel="memories", ylabel="ms a query, median")
        panel.set_xlim(min(sizes) * 0.8, max(sizes) * (10 if stage == "lexical" else 14))
        panel.set_xticks(list(sizes), [f"{size:,}" for size in sizes])
        panel.minorticks_off()
        panel.set_title(titles[stage], loc="left", fontsize=11, color="#0f172a")
    _save(figure, path)


def _services(sizes: Mapping[int, Any], path: Path) -> None:
    """Requests a second of 16 clients, as bars."""
    shown = [(size, measured) for size, measured in sizes.items() if len(measured["search"]) > 2] or list(sizes.items())
    size, measured = shown[-1]
    kinds = [(kind, title) for kind, title in (("search", "searches"), ("write", "durable single writes"))]
    kinds = [(kind, title) for kind, title in kinds if measured.get(kind)]
    figure, panels = plt.subplots(1, len(kinds), figsize=(6 * len(kinds), 2.7), squeeze=False)
    for panel, (kind, title) in zip(panels[0], kinds, strict=True):
        rows = [row for row in measured[kind] if row["clients"] == 16][::-1]
        rates = [row["per second"] for row in rows]
        colors = [OURS if row["name"].startswith("Muisti") else OTHERS for row in rows]
        bars = panel.barh([row["name"] for row in rows], rates, color=colors, height=0.62)
        panel.bar_label(bars, [f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}" for rate in rates], padding=4)
        panel.set_xscale("log")
        panel.set_xlim(min(1.0, min(rates) / 2), max(rates) * 4)
        panel.grid(axis="y", visible=False)
        panel.set_title(f"{title} a second, 16 clients, {size:,} memories", loc="left", fontsize=11, color="#0f172a")
    _save(figure, path)


def _memory(sizes: Mapping[int, Any], path: Path) -> None:
    """Bytes a memory, the largest columns side by side."""
    size, measured = list(sizes.items())[-1]
    columns = sorted(measured["columns"].items(), key=lambda column: -column[1])
    largest, rest = columns[:8], sum(width for _, width in columns[8:])
    figure, panel = plt.subplots(figsize=(9, 1.9))
    at = 0.0
    shades = plt.get_cmap("YlOrBr")
    for number, (name, width) in enumerate([*largest, ("other columns", rest)]):
        panel.barh(0, width, left=at, color=shades(0.75 - 0.07 * number), edgecolor="white", height=0.6)
        if width > 0.035 * measured["in use"]:
            label = name.replace("postings.", "postings\n").replace("_", "\n")
            panel.text(at + width / 2, 0, f"{label}\n{width:.0f}", ha="center", va="center", fontsize=8)
        at += width
    panel.set_yticks([])
    panel.grid(visible=False)
    panel.spines["left"].set_visible(False)
    panel.set_xlabel("bytes a memory")
    panel.set_title(f"index of {size:,} memories of {measured['words']:.0f} words", loc="left", fontsize=11)
    _save(figure, path)


def _save(figure: Any, path: Path) -> None:
    figure.tight_layout()
    figure.savefig(path, format="svg", metadata=EMPTY)
    plt.close(figure)
