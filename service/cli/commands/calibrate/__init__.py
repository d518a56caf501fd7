"""The calibrate command."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Globals, command
from muisti.service.cli.options import option

if TYPE_CHECKING:
    from muisti.service.cli.commands.calibrate import thresholds
else:  # with the core
    thresholds = Lazy("muisti.service.cli.commands.calibrate.thresholds")


@command(
    "muisti calibrate --space notes --save evidence.json",
    "MUISTI_MODEL=./my-model muisti calibrate judged/first judged/second --save my-model/evidence.json",
)
@click.argument("folders", metavar="[DIR...]", nargs=-1, type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--sample", type=click.IntRange(1), metavar="N", default=200, help="Ask at most N questions of each folder."
)
@option("--save", "File to add the thresholds to.", click.Path(dir_okay=False, path_type=Path))
@option("--plot drawn", "SVG file for the curves.", click.Path(dir_okay=False, path_type=Path))
def calibrate(options: Globals, folders: Sequence[Path], *, sample: int, save: Path | None, drawn: Path | None) -> None:
    """Fit the thresholds that tell answers from near misses.

    Each search says whether the evidence for its hits is strong, weak or none; the thresholds depend on the model. DIR
    holds judged data as for `muisti eval`. Its questions are asked with their answers stored and without them, and the
    questions of the other folders as unrelated ones. Without DIR the space is asked about its own texts, and a list of
    unrelated questions. The server reads the file that its setting calibration names, else evidence.json in the model's
    folder.
    """
    thresholds.run(options, folders, sample, save, drawn)
