"""Draws what `loadtests.simulation` simulates beside what was measured, on one page."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

from loadtests.drawing import OTHERS, OURS, STYLE, save
from loadtests.scale.constants import Constants
from loadtests.simulation import FITTED, GB, RESTORE_SECONDS, TENANTS, Measured, hit_rate, year


def draw(found: Constants, measured: Measured, path: Path) -> None:
    mpl.use("svg")
    with mpl.rc_context(STYLE):
        figure, ((search, restoring), (hits, moves)) = plt.subplots(2, 2, figsize=(10, 7))
        sizes = np.geomspace(1_000, 100_000_000, 80)
        search.plot(sizes, [1000 * found.search(size) for size in sizes], color=OTHERS, label="simulated")
        for points, marker, label in ((found.measured, "o", "measured, fitted"), (found.checks, "D", "held out")):
            search.plot([one.memories for one in points], [1000 * one.search for one in points], marker, color=OURS,
                        label=label)  # fmt: skip
        search.set(xscale="log", yscale="log", xlabel="memories of one tenant", ylabel="search, ms")
        bytes_ = np.geomspace(2e6, 2e11, 50)
        restoring.plot(bytes_ / GB, [measured.restore(one) for one in bytes_], color=OTHERS)
        for fits, marker in ((True, "o"), (False, "D")):
            mine = [one for one in measured.restores if (one.memories in FITTED) == fits]
            restoring.plot([one.size / GB for one in mine], [one.seconds for one in mine], marker, color=OURS)
        restoring.axhline(RESTORE_SECONDS, color=OTHERS, lw=0.8, ls=":")
        restoring.set(xscale="log", yscale="log", xlabel="database, GB", ylabel="restore, s")
        names = [f"{one.balancer}\n{'hash' if one.way == 'hash' else 'in turn'}" for one in measured.balanced]
        hits.bar(names, [100 * one.hits for one in measured.balanced], color=OURS, width=0.5)
        hits.plot(names, [100 * hit_rate(one.way) for one in measured.balanced], "_", color=OTHERS, ms=40, mew=2)
        hits.set(ylabel="searches that find the index loaded, %", ylim=(0, 100))
        counts = np.geomspace(100_000, TENANTS, 5).astype(int)
        years = [year(found, measured, int(one), 1_000) for one in counts]
        moves.plot(counts, [one.databases for one in years], "o-", color=OTHERS, ms=3, label="databases")
        moves.plot(counts, [one.moved / GB for one in years], "o--", color=OTHERS, ms=3, label="GB moved a day")
        moves.set(xscale="log", yscale="log", xlabel="tenants at the end of a year")
        moves.legend(frameon=False, fontsize=9)
        search.legend(frameon=False, fontsize=9)
        save(figure, path)
