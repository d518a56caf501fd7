"""Draws what thresholds of evidence can reach with the rule for advice and without it, from a saved measurement.

python -m loadtests.false_alarms_plot alarms.json false-alarms.svg
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click
import msgspec
import numpy as np
from matplotlib import pyplot as plt

from loadtests.drawing import OTHERS, OURS, STYLE, save
from loadtests.false_alarms import AS_ADVICE, FOREIGN, OWN, Asked, Measured, Seen, strength

AT = np.linspace(0.3, 1.5, 121)  # thresholds
ASKED = {"answered": 0.30, "foreign": 0.90}  # shares of `none`: at most, and at least


def draw(name: str, found: Asked, path: Path) -> None:
    """Draw the share of `none` among questions with an answer over that among foreign ones, for every threshold."""
    rules: Sequence[tuple[str, Callable[[Seen], float], str]] = (
        ("without the rule", lambda one: one.strength, OTHERS),
        ("with the rule", _shipped, OURS),
    )
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(1, 2, figsize=(9, 4), sharey=True)
        for panel, kind in zip(panels, (FOREIGN, AS_ADVICE), strict=True):
            for label, of, colour in rules:
                panel.plot(
                    *zip(*(_point(found, kind, of, float(at)) for at in AT), strict=True), color=colour, label=label
                )
                panel.plot(*_point(found, kind, of, None), "o", color=colour)
            panel.axhline(100 * ASKED["answered"], color=OTHERS, lw=0.8, ls="--")
            panel.axvline(100 * ASKED["foreign"], color=OTHERS, lw=0.8, ls="--")
            panel.set(xlim=(70, 100.5), ylim=(0, 100), xlabel=f"none of questions: {kind}, %")
        panels[0].set_ylabel(f"none of questions: {OWN}, %")
        panels[0].legend(frameon=False, title=name)
        save(figure, path)


def _shipped(one: Seen) -> float:
    return one.strength if one.advised is None else strength(one, one.advised.usual)


def _point(found: Asked, kind: str, of: Callable[[Seen], float], at: float | None) -> tuple[float, float]:
    """Return the percent of `none` of a kind and of the questions with an answer, at a threshold or at the model's."""
    share = {
        which: 100 * float(np.mean([not s.every and of(s) < (s.weak if at is None else at) for s in found[which]]))
        for which in (kind, OWN)
    }
    return share[kind], share[OWN]


@click.command()
@click.argument("measured", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("picture", type=click.Path(dir_okay=False, path_type=Path))
def main(measured: Path, picture: Path) -> None:
    """Draw the set with the most false alarms."""
    known = msgspec.json.decode(measured.read_bytes(), type=Measured)
    worst = max(known.sets, key=lambda name: float(np.mean([one.before for one in known.sets[name][OWN]])))
    draw(worst, known.sets[worst], picture)


if __name__ == "__main__":
    sys.exit(main())
