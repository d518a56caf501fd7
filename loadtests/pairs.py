"""Near-duplicates and conflicts on judged pairs: how right the rules of core/write/conflicts are, and what fits.

    python -m loadtests.pairs FOLDER [--fit]

Every file NAME_train.jsonl or NAME_dev.jsonl of the folder has a pair a line. A pair has `a`, `b`, and a `similarity`
from 0 to 5, a `label`, or both. A pair is a duplicate when it is labelled paraphrase or entailment, with a similarity
of 4 or more where there is one. Without a label that similarity makes a duplicate. A pair labelled contradiction is a
conflict. Where a name has no dev file, every fifth pair of its train file is held out instead.
"""

import itertools
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
import numpy.typing as npt

from muisti.core.embedding.encoder import Encoder, StaticEncoder
from muisti.core.model.outcomes import LikenessKind
from muisti.core.write.conflicts.judgement import (
    COMMON_MIN,
    SAME,
    Limits,
    Measures,
    Verdict,
    conclude,
    matched,
    measure,
)
from muisti.core.write.conflicts.words import read

SIMILAR = 4.0  # of 5
HELD_OUT = 5  # one in so many
PRECISIONS = {"SAME": 0.95, "NEARLY": 0.85}
WORSE = 0.03  # less precision than asked for is allowed on a single set
GRID = {
    "cosine": (0.75, 0.8, 0.83, 0.86, 0.88, 0.9, 0.92, 0.94),
    "share_existing": (0.05, 0.08, 0.1, 0.12, 0.15, 0.2),
    "share_new": (0.03, 0.05, 0.08, 0.1, 0.12, 0.15),
    "strange": (0.3, 0.4, 0.5, 0.6, 0.7),
    "order": (0.6, 0.7, 0.8, 0.9, 1.0),
}


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair with people's label, its measures and Muisti's verdict. `measures` is None beside a difference."""

    source: str
    held_out: bool
    duplicate: bool
    conflict: bool
    measures: Measures | None
    verdict: Verdict | None


@dataclass(frozen=True, slots=True)
class Score:
    """Counts behind precision and recall of a verdict: pairs that got it, pairs that deserve it, and both."""

    called: int
    true: int
    both: int

    def __str__(self) -> str:
        if not self.called or not self.true:
            return str(self.called)
        return f"{self.called}, {self.both / self.called:.3f}, {self.both / self.true:.3f}"


def load(folder: Path, encoder: Encoder) -> list[Judged]:
    """All pairs of a folder, compared."""
    return [judged for path in sorted(folder.glob("*.jsonl")) for judged in _pairs(path, encoder)]


def score(pairs: Sequence[Judged], kind: LikenessKind) -> Score:
    """Return the counts behind precision and recall of the verdict `kind`."""
    called = [pair.verdict is not None and pair.verdict.kind == kind for pair in pairs]
    true = [pair.duplicate if kind == "duplicate" else pair.conflict for pair in pairs]
    return Score(sum(called), sum(true), sum(map(all, zip(called, true, strict=True))))


def fit(pairs: Sequence[Judged], precision: float) -> Limits | None:
    """The limits with the highest mean recall of duplicates over the sources at a precision; None when none has it."""
    sources = sorted({pair.source for pair in pairs if pair.duplicate})
    true = np.array([sum(pair.duplicate for pair in pairs if pair.source == source) for source in sources])
    usable = [(pair, pair.measures) for pair in pairs if pair.measures is not None and pair.source in sources]
    measured = {name: np.array([getattr(measures, name) for _, measures in usable]) for name in GRID}
    source = np.array([sources.index(pair.source) for pair, _ in usable])
    right = np.array([pair.duplicate for pair, _ in usable])
    best, limits = 0.0, None
    for values in itertools.product(*GRID.values()):
        tried = dict(zip(GRID, values, strict=True))
        chosen = np.logical_and.reduce([_meets(name, measured[name], limit) for name, limit in tried.items()])
        called, both = (np.bincount(source[rows], minlength=len(sources)) for rows in (chosen, chosen & right))
        precise = both.sum() >= precision * called.sum() and (both >= (precision - WORSE) * called).all()
        if precise and (recall := float((both / true).mean())) > best:
            best, limits = recall, Limits(**tried)
    return limits


def _meets(name: str, values: npt.NDArray[np.float64], limit: float) -> npt.NDArray[np.bool_]:
    return values >= limit if name in ("cosine", "order") else values <= limit


def _pairs(path: Path, encoder: Encoder) -> Iterator[Judged]:
    source, _, part = path.stem.rpartition("_")
    has_dev = path.with_name(f"{source}_dev.jsonl").exists()
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    first, second = (encoder.encode([line[side] for line in lines]) for side in ("a", "b"))
    for place, (line, cosine) in enumerate(zip(lines, (first * second).sum(axis=1), strict=True)):
        ours, theirs = read(line["a"]), read(line["b"])
        paired = matched(ours, theirs)
        measures = None if paired is None else measure(*paired, float(cosine), encoder.encode)
        plain = paired is not None and not paired[1].differences and paired[0].common >= COMMON_MIN
        label, similar = line.get("label"), line.get("similarity", 5.0) >= SIMILAR
        yield Judged(
            source=source,
            held_out=part == "dev" or (not has_dev and place % HELD_OUT == 0),
            duplicate=similar and label in (None, "paraphrase", "entailment"),
            conflict=label == "contradiction",
            measures=measures if plain else None,
            verdict=None if paired is None or measures is None else conclude(measures, *paired, ours, theirs),
        )


def table(pairs: Sequence[Judged]) -> Iterator[str]:
    """Precision and recall of both verdicts for each source, on what is fitted and on what is held out."""
    yield "| pairs | duplicates: called, precision, recall | conflicts: called, precision, recall |"
    yield "| --- | --- | --- |"
    for held_out, source in itertools.product((False, True), sorted({pair.source for pair in pairs})):
        chosen = [pair for pair in pairs if pair.source == source and pair.held_out == held_out]
        scores = (score(chosen, "duplicate"), score(chosen, "conflict"))
        cells = " | ".join(map(str, scores))
        yield f"| {source} {'held out' if held_out else 'fitted'} ({len(chosen):,}) | {cells} |"


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--fit", "fitting", is_flag=True, help="Also look for better limits; minutes.")
@click.option("--model", help="Model to measure; unset is the shipped one.")
def main(folder: Path, fitting: bool, model: str | None) -> None:
    """Measure the rules for duplicates and conflicts on judged pairs."""
    pairs = load(folder, StaticEncoder(model))
    if not pairs:
        raise click.UsageError(f"{folder} has no pairs; it needs files such as NAME_train.jsonl and NAME_dev.jsonl")
    for line in table(pairs):
        click.echo(line)
    click.echo(f"SAME is {SAME}")
    for name, precision in PRECISIONS.items() if fitting else ():
        click.echo(f"{name} fits as {fit([pair for pair in pairs if not pair.held_out], precision)}")


if __name__ == "__main__":
    sys.exit(main())
