"""The calibrate command."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Command, Globals

if TYPE_CHECKING:
    from muisti.service.cli.commands.calibrate import thresholds
else:  # with the core
    thresholds = Lazy("muisti.service.cli.commands.calibrate.thresholds")


@click.command(
    cls=Command,
    examples=(
        "muisti calibrate --space notes --save evidence.json",
        "MUISTI_MODEL=./my-model muisti calibrate judged/first judged/second --save my-model/evidence.json",
    ),
)
@click.argument("folders", metavar="[DIR...]", nargs=-1, type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--sample", type=click.IntRange(1), metavar="N", default=200, help="Ask at most N questions of each folder."
)
@click.option("--save", type=click.Path(dir_okay=False, path_type=Path), help="File to add the thresholds to.")
@click.option("--plot", "drawn", type=click.Path(dir_okay=False, path_type=Path), help="SVG file for the curves.")
@click.pass_obj
def calibrate(options: Globals, folders: Sequence[Path], *, sample: int, save: Path | None, drawn: Path | None) -> None:
    """Fit the thresholds of evidence.

    For the model that runs, or for a space. DIR holds judged data as for eval: its questions are asked with and without
    their answers, and those of the other folders as foreign ones. Without DIR the space is asked about its own texts,
    and a list of foreign questions. The setting calibration names the file to read; evidence.json in the model's folder
    is read without it.
    """
    thresholds.run(options, folders, sample, save, drawn)
