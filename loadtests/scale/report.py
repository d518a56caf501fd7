"""Tables and plots of the measured costs and of the model's predictions."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

from loadtests.drawing import OTHERS, OURS, STYLE, save
from loadtests.scale.constants import Constants, Size, apart
from loadtests.scale.model import Traffic, alone, fleet, shared
from loadtests.scale.simulate import Costs, Outcome, Replica, Tenants, simulated
from loadtests.tables import Table

GB = 1e9
FLEETS = (10_000, 100_000, 1_000_000, 10_000_000)
LARGE = (1_000_000, 3_000_000, 10_000_000, 30_000_000)
BEGUN = (0.5, 1.0, 2.0, 4.0, 8.0, 12.0, 16.0)  # new sessions a second of one replica
CAPS = (1 << 30, 4 << 30)
SECONDS = 2_000.0
FULL = 0.97  # of the cores: a queue grows for as long as that lasts, and a real server refuses instead


def tables(constants: Constants, each: Tenants, traffic: Traffic, replica: Replica) -> Iterator[Table]:
    yield _measured(constants)
    yield _checked(constants)
    yield _one_replica(constants, each, replica)
    yield _fleets(constants, each, traffic, replica)
    yield _large(constants, replica)


def _measured(constants: Constants) -> Table:
    rows = [_size(one) for one in sorted([*constants.measured, *constants.checks], key=lambda one: one.memories)]
    header = ["memories", "search ms", "load s", "index MB", "database MB"]
    return Table("scale-measured", "one space, processor time in process", header, rows)


def _size(one: Size) -> list[str]:
    cells = [f"{1000 * one.search:.2f}", f"{one.load:.3f}", f"{one.index / 1e6:,.1f}", f"{one.file / 1e6:,.1f}"]
    return [f"{one.memories:,}", *cells]


def _checked(constants: Constants) -> Table:
    rows: list[list[str]] = []
    for one in constants.checks:
        predicted = constants.predicted(one.memories)
        off = apart(predicted, one)
        rows += [
            [f"{one.memories:,} memories, {what}", f"{scale * p:,.2f}", f"{scale * m:,.2f}", f"{off[name]:+.0%}"]
            for what, name, scale in (
                ("search ms", "search", 1e3),
                ("load s", "load", 1.0),
                ("index MB", "index", 1e-6),
                ("database MB", "file", 1e-6),
            )
            for p, m in [(getattr(predicted, name), getattr(one, name))]
        ]
    told = constants.shared
    misses, search = shared(constants)
    name = f"{told.tenants} tenants of {told.memories:,}, room for {told.held}"
    rows.append(
        [f"{name}: searches that load", f"{misses:.1%}", f"{told.misses:.1%}", f"{misses / told.misses - 1:+.0%}"]
    )
    milliseconds = [f"{1000 * search:.2f}", f"{1000 * told.search:.2f}"]
    rows.append([f"{name}: ms a search", *milliseconds, f"{search / told.search - 1:+.0%}"])
    return Table(
        "scale-checked",
        "predictions for sizes that the model was not fitted on",
        ["", "predicted", "measured", "off"],
        rows,
    )


def _one_replica(constants: Constants, each: Tenants, replica: Replica) -> Table:
    rows = [
        [
            f"{begun:g}",
            f"{begun * each.requests:,.0f}",
            f"{cap / (1 << 30):.0f}",
            f"{found.busy:.0%}",
            f"{found.misses:.1%}",
            *(f"{1000 * found.percentile(p):,.1f}" if found.busy < FULL else "sheds" for p in (50, 95, 99)),
        ]
        for cap, begun, found in _runs(constants, each, replica)
    ]
    header = ["sessions/s", "requests/s", "index memory GiB", "cores busy", "loads", "p50 ms", "p95 ms", "p99 ms"]
    return Table("scale-replica", f"one replica of {replica.cores} cores, simulated", header, rows)


def _runs(constants: Constants, each: Tenants, replica: Replica) -> Iterator[tuple[int, float, Outcome]]:
    costs = Costs.of(constants, each.memories)
    for cap in CAPS:
        for begun in BEGUN:
            yield cap, begun, simulated(costs, each, Replica(replica.cores, cap), begun, seconds=SECONDS)


def _fleets(constants: Constants, each: Tenants, traffic: Traffic, replica: Replica) -> Table:
    found = [fleet(constants, tenants, each, traffic, replica) for tenants in FLEETS]
    rows = [
        [
            f"{one.tenants:,}",
            f"{one.stored / GB:,.0f}",
            f"{one.sessions:,.1f}",
            f"{one.requests:,.0f}",
            f"{one.writes:,.0f}",
            f"{one.cores:,.1f}",
            f"{one.awake / GB:,.1f}",
            f"{one.replicas:,} ({one.limit})",
            f"{one.primaries:,} ({one.primaries_limit})",
        ]
        for one in found
    ]
    header = ["tenants", "stored GB", "sessions/s", "requests/s", "writes/s", "cores busy", "awake GB"]
    title = f"tenants of {each.memories:,} memories, at the peak of the day"
    return Table("scale-fleet", title, [*header, "replicas (limit)", "primaries (limit)"], rows)


def _large(constants: Constants, replica: Replica) -> Table:
    found = [alone(constants, memories, replica) for memories in LARGE]
    rows = [
        [
            f"{one.memories:,}",
            f"{1000 * one.search:,.0f}",
            f"{one.searches_per_second:,.1f}",
            f"{one.load:,.1f}",
            f"{one.index / GB:,.1f}",
            f"{one.file / GB:,.1f}",
        ]
        for one in found
    ]
    header = ["memories", "search ms", f"searches/s of {replica.cores} cores", "load s", "index GB", "database GB"]
    return Table("scale-large", "one tenant", header, rows)


def draw(constants: Constants, each: Tenants, traffic: Traffic, replica: Replica, folder: Path) -> None:
    mpl.use("svg")
    folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(STYLE):
        _draw_replica(constants, each, replica, folder / "scale-replica.svg")
        _draw_fleet(constants, each, traffic, replica, folder / "scale-fleet.svg")
        _draw_large(constants, folder / "scale-large.svg")


def _draw_replica(constants: Constants, each: Tenants, replica: Replica, path: Path) -> None:
    figure, panels = plt.subplots(1, len(CAPS), figsize=(5.2 * len(CAPS), 3.4), sharey=True)
    runs = list(_runs(constants, each, replica))
    for panel, cap in zip(panels, CAPS, strict=True):
        mine = [(begun * each.requests, found) for size, begun, found in runs if size == cap and found.busy < FULL]
        for percent, color, width in ((50, OTHERS, 1.4), (95, "#a16207", 1.6), (99, OURS, 2.2)):
            at = [requests for requests, _ in mine]
            panel.plot(at, [1000 * found.percentile(percent) for _, found in mine], "o-", color=color, lw=width, ms=4)
            panel.annotate(f"p{percent}", (at[-1], 1000 * mine[-1][1].percentile(percent)), xytext=(6, 0),
                           textcoords="offset points", va="center", color=color)  # fmt: skip
        panel.set(yscale="log", xlabel="requests a second")
        panel.set_xlim(0, BEGUN[-1] * each.requests)
        panel.set_title(f"{cap >> 30} GiB for indexes", loc="left", fontsize=11)
    panels[0].set_ylabel("ms, simulated")
    save(figure, path)


def _draw_fleet(constants: Constants, each: Tenants, traffic: Traffic, replica: Replica, path: Path) -> None:
    counts = np.unique(np.geomspace(1_000, 100_000_000, 60).astype(int))
    found = [fleet(constants, int(count), each, traffic, replica) for count in counts]
    figure, panel = plt.subplots(figsize=(7, 3.4))
    for name, color in (("replicas", OURS), ("primaries", OTHERS)):
        panel.plot(counts, [getattr(one, name) for one in found], color=color, lw=2)
        panel.annotate(name, (counts[-1], getattr(found[-1], name)), xytext=(6, 0), textcoords="offset points",
                       va="center", color=color)  # fmt: skip
    panel.set(xscale="log", yscale="log", xlabel=f"tenants of {each.memories:,} memories", ylabel="machines")
    panel.set_xlim(counts[0], counts[-1] * 6)
    save(figure, path)


def _draw_large(constants: Constants, path: Path) -> None:
    sizes = np.geomspace(1_000, 30_000_000, 200)
    kinds = (("search", "search, ms", 1e3), ("load", "load, s", 1.0), ("index", "index, GB", 1e-9))
    figure, panels = plt.subplots(1, len(kinds), figsize=(4.2 * len(kinds), 3.3))
    for panel, (name, title, scale) in zip(panels, kinds, strict=True):
        predicted = getattr(constants, name)
        panel.plot(sizes, [scale * predicted(size) for size in sizes], color=OURS, lw=1.6, zorder=2)
        _points(panel, constants.measured, name, scale, "o", OURS, "measured")
        _points(panel, constants.checks, name, scale, "D", OTHERS, "held out")
        panel.set(xscale="log", yscale="log", xlabel="memories of one space")
        panel.set_title(title, loc="left", fontsize=11)
    panels[0].legend(frameon=False, fontsize=9)
    save(figure, path)


def _points(panel, sizes: Sequence[Size], name: str, scale: float, marker: str, color: str, label: str) -> None:
    at = [one.memories for one in sizes]
    values = [scale * getattr(one, name) for one in sizes]
    panel.plot(at, values, marker, color=color, ms=6, label=label, zorder=3, ls="none")
