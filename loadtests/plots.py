"""Saved figures as pictures for the documentation: plain SVG files by matplotlib, which is one of the peers' extras."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import pyplot as plt

from loadtests.drawing import OTHERS, OURS, STYLE, save
from loadtests.tables import Results

APART = 1.75  # of neighbouring labels, on a logarithmic scale
MARKS = {
    "Muisti": (OURS, "D"),
    "numpy": ("#0f766e", "o"),
    "faiss Flat": ("#1d4ed8", "s"),
    "faiss SQ8": ("#1d4ed8", "v"),
    "faiss HNSW": ("#1d4ed8", "X"),
    "hnswlib": ("#7c3aed", "o"),
    "usearch exact f32": ("#a16207", "s"),
    "usearch exact i8": ("#a16207", "v"),
    "usearch HNSW": ("#a16207", "X"),
    "sqlite-vec": ("#475569", "P"),
    "zvec Flat": ("#be123c", "s"),
    "zvec HNSW": ("#be123c", "X"),
    "Qdrant Edge exact": ("#a21caf", "s"),
    "Qdrant Edge ef": ("#a21caf", "X"),
}
LAPS = ("#1e3a8a", "#1d4ed8", "#60a5fa", "#a16207", "#cbd5e1", "#c2410c", "#0f766e")


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
    figure, panels = plt.subplots(1, len(sizes), figsize=(4.1 * len(sizes), 4.6), sharey=True, squeeze=False)
    for panel, (size, measured) in zip(panels[0], sizes.items(), strict=True):
        for name, (color, marker) in MARKS.items():
            curve = sorted((e["median"], e["recall"]) for e in measured["engines"] if e["name"].startswith(name))
            if curve:
                ours = name == "Muisti"
                line = {
                    "color": color,
                    "marker": marker,
                    "ms": 11 if ours else 7,
                    "lw": 1.2,
                    "zorder": 4 if ours else 3,
                }
                panel.plot(*zip(*curve, strict=True), label=name, markeredgecolor="white", **line)
        panel.set_xscale("log")
        panel.xaxis.set_major_formatter("{x:g}")
        panel.xaxis.set_minor_formatter("")
        panel.set_title(f"{size:,} memories", loc="left", fontsize=11, color="#0f172a")
        panel.set_xlabel("ms a query, median (log scale)")
        panel.margins(x=0.1)
        panel.axhline(0.99, color="#94a3b8", lw=0.9, ls=(0, (4, 4)), zorder=1)
    panels[0][0].set_ylabel("recall@10 of exact float32")
    lowest = min(e["recall"] for measured in sizes.values() for e in measured["engines"])
    panels[0][0].set_ylim(lowest - 0.005, 1.003)
    known = dict(zip(*reversed(panels[0][0].get_legend_handles_labels()), strict=True))
    for panel in panels[0][1:]:
        known |= dict(zip(*reversed(panel.get_legend_handles_labels()), strict=True))
    columns = min(len(known), 3 * len(sizes) - 1 if len(sizes) > 1 else 3)
    rows = -(-len(known) // columns)
    figure.tight_layout(rect=(0, 0.065 * rows, 1, 1))
    figure.legend(known.values(), known.keys(), loc="lower center", ncols=columns, frameon=False, fontsize=9)
    save(figure, path, tight=False)


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
            height = max(points[-1][1], last * APART) if points[-1][0] == max(sizes) else points[-1][1]
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
    save(figure, path)


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
        panel.set_xlim(0, max(rates) * 1.18)
        panel.grid(axis="y", visible=False)
        panel.set_title(title, loc="left", fontsize=11, color="#0f172a")
    figure.suptitle(f"requests a second of 16 clients, {size:,} memories", x=0.01, ha="left", fontsize=11)
    save(figure, path)


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
    save(figure, path)


def starts(found: Mapping[tuple[str, int], Mapping[str, float]], stages: Sequence[str], folder: Path) -> None:
    """The stages of each service's start, end to end."""
    mpl.use("svg")
    with mpl.rc_context(STYLE):
        figure, panel = plt.subplots(figsize=(8.2, 0.55 * len(found) + 1.6))
        names = [f"{name}, {memories:,}" for name, memories in found]
        done = [0.0] * len(found)
        for stage, color in zip(stages, LAPS, strict=True):
            taken = [max(times[stage], 0.0) for times in found.values()]
            panel.barh(names, taken, left=done, color=color, label=stage, height=0.62)
            done = [before + more for before, more in zip(done, taken, strict=True)]
        for at, end in enumerate(done):
            panel.annotate(f"{end:,.0f}", (end, at), xytext=(4, 0), textcoords="offset points", va="center")
        panel.invert_yaxis()
        panel.grid(axis="y", visible=False)
        panel.set_xlabel("milliseconds from the start of the process to its first answer")
        figure.legend(loc="upper center", ncols=len(stages), frameon=False, fontsize=9)
        figure.tight_layout(rect=(0, 0, 1, 0.93))
        save(figure, folder / "bench-starts.svg", tight=False)
