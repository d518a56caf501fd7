"""Commands that measure on judged data: eval and calibrate."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from muisti.core.model.choices import Fusion
from muisti.core.support.lazy import Lazy
from muisti.service.terminal.base import Globals, command
from muisti.service.terminal.options import Several, flag, integer, option, real

if TYPE_CHECKING:
    from muisti.service.cli.commands import evaluation_work
else:  # with the core
    evaluation_work = Lazy("muisti.service.cli.commands.evaluation_work")

MODES = ("keyword", "semantic", "hybrid")
FUSIONS = get_args(Fusion)


@command(
    "muisti eval my-questions",
    "muisti eval locomo beam100k --modes hybrid --fusion convex,rrf --save runs/fusion",
    "muisti eval my-questions --against runs/before",
    "muisti eval my-questions --url http://127.0.0.1:8321 --self",
    name="eval",
)
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(file_okay=False, path_type=Path))
@option("--modes", "Search modes, with commas between.", Several(MODES), default=",".join(MODES))
@option("--fusion", "Ways to combine both rankings, for hybrid; one run each.", Several(FUSIONS))
@real("--alpha", "Weight of meaning against words, 0 to 1, for hybrid.", 0, 1)
@integer("--sample size", "Ask at most N queries of each folder.", 1)
@option("--against", "File or folder of an earlier run, to compare with.", click.Path(exists=True, path_type=Path))
@option("--save", "Folder to write to.  [default: runs/TIME]", click.Path(file_okay=False, path_type=Path))
@flag("--self itself", "Also search every document by its own text, in keyword mode.")
def evaluate(options: Globals, folders: Sequence[Path], **asked: Any) -> None:
    """Measure retrieval quality on judged data.

    DIR holds corpus.jsonl, queries.jsonl and qrels.tsv. The documents go into a temporary database; with --url, into
    spaces of that server that are deleted at the end. Each group of documents has a space of its own. Every query is
    asked in every mode.
    """
    evaluation_work.evaluate(options, folders, **asked)


@command(
    "muisti calibrate --space notes --save evidence.json",
    "MUISTI_MODEL=./my-model muisti calibrate judged/first judged/second --save my-model/evidence.json",
)
@click.argument("folders", metavar="[DIR...]", nargs=-1, type=click.Path(file_okay=False, path_type=Path))
@integer("--sample", "Ask at most N questions of each folder.", 1, default=200)
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
    evaluation_work.calibrate(options, folders, sample, save, drawn)
