"""Draws what the cut of hits that probably do not answer costs, from a saved measurement.

python -m loadtests.applies_plot applies.json applies.svg
"""

import sys
from collections.abc import Mapping
from pathlib import Path

import click
import msgspec
import numpy as np
from matplotlib import pyplot as plt

from loadtests.drawing import OTHERS, OURS, STYLE, save
from loadtests.quality.applies import FOREIGN, OTHER, Asked, Weights, judge
from muisti.core.model.choices import APPLIES

AT = np.linspace(0.02, 0.98, 49)  # cuts


def draw(sets: Mapping[str, tuple[list[Asked], Weights]], path: Path) -> None:
    """Draw recall lost over the share of unrelated questions for which anything surfaces, for every cut."""
    with plt.rc_context(STYLE):
        figure, panel = plt.subplots(figsize=(6, 4))
        for kind, colour in ((FOREIGN, OURS), (OTHER, OTHERS)):
            known = [one for one in sets.values() if any(asked.kind == kind for asked in one[0])]
            points: list[tuple[float, float]] = []
            for least in (*AT.tolist(), APPLIES):
                every = [judge(asked, weights, least) for asked, weights in known]
                shown, lost = [getattr(one, kind) for one in every], [one.lost for one in every]
                points.append((100 * float(np.mean(shown)), 100 * float(np.mean(lost))))
            panel.plot(*zip(*points[:-1], strict=True), color=colour, label=f"{kind} questions")
            panel.plot(*points[-1], "o", color=colour)
        panel.set(xlim=(0, 60), ylim=(0, 30), xlabel="questions for which anything surfaces, %")
        panel.set_ylabel("recall lost, points")
        panel.legend(frameon=False)
        save(figure, path)


@click.command()
@click.argument("measured", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("picture", type=click.Path(dir_okay=False, path_type=Path))
def main(measured: Path, picture: Path) -> None:
    """Draw the mean of all sets, each by weights that were fitted without it."""
    draw(msgspec.json.decode(measured.read_bytes(), type=dict[str, tuple[list[Asked], Weights]]), picture)


if __name__ == "__main__":
    sys.exit(main())
