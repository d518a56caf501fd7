"""`make bench-quick`: a guard against regressions, by ratios to numpy and bm25s in the same run.

It is processor time that is compared, which a busy machine hardly changes. The bounds are generous all the same: they
fail when something has become several times slower, not before.
"""

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from loadtests import texts
from loadtests.bed import Bed
from loadtests.muisti import Muisti, below
from loadtests.peers import bm25s_peer, numpy_peer, rank_bm25_peer
from loadtests.peers.dense import Selection
from loadtests.timing import WARMING, Engine, interleaved

SIZE = 10_000
QUERIES = 200
K = 10
RECALL = 0.99


@dataclass(frozen=True, slots=True)
class Bound:
    """`ours` may take at most `factor` times the processor time of `theirs`, by median."""

    ours: str
    theirs: str
    factor: float


BOUNDS = (
    Bound("dense", "numpy", 1.5),
    Bound("dense, 1 % filter", "numpy", 0.5),
    Bound("keyword", "bm25s", 3.0),
    Bound("keyword", "rank-bm25", 0.1),
    Bound("whole hybrid search", "numpy", 10.0),
    Bound("whole hybrid search, 10 % filter", "numpy", 10.0),
)


def main() -> int:
    console = Console(width=110)
    with tempfile.TemporaryDirectory() as folder:
        memories, questions = texts.invented(SIZE)
        with Bed(memories, questions, Path(folder)) as bed:
            medians, recall = _measure(bed)
    table = Table(
        "Muisti", "ms", "beside", "ms", "ratio", "at most", title=f"{SIZE:,} made texts, median processor time"
    )
    failed = recall < RECALL
    for bound in BOUNDS:
        ratio = medians[bound.ours] / medians[bound.theirs]
        failed |= ratio > bound.factor
        table.add_row(
            bound.ours,
            f"{medians[bound.ours]:.3f}",
            bound.theirs,
            f"{medians[bound.theirs]:.3f}",
            f"{ratio:.2f}",
            f"{bound.factor:.2f}",
            style="bold red" if ratio > bound.factor else None,
        )
    console.print(table)
    console.print(f"recall@{K} beside exact float32: {recall:.3f}, at least {RECALL}")
    if failed:
        console.print("[bold red]Slower or less exact than the bounds allow.[/]")
    return int(failed)


def _measure(bed: Bed) -> tuple[dict[str, float], float]:
    """Median milliseconds by name, and the recall of the dense ranking."""
    vectors, most = bed.vectors(), QUERIES + WARMING
    directions = bed.directions(most)
    exact = numpy_peer.engines(vectors, bed.embedded, slow=False)[0]
    (bm25s,), (okapi,) = bm25s_peer.engines(bed.texts, bed.shelf), rank_bm25_peer.engines(bed.texts, bed.shelf)
    few = _selection(bed.size)
    muisti = bed.muisti()
    rows = muisti.rows_of(few.mask)
    asked = bed.questions(most)
    engines: list[Engine[object]] = [
        Engine("dense", lambda n: muisti.dense(directions[n], K)),
        Engine("numpy", lambda n: exact.search(directions[n], K)),
        Engine("dense, 1 % filter", lambda n: muisti.dense(directions[n], K, rows)),
        Engine("keyword", lambda n: muisti.lexical(asked[n], K)),
        Engine("bm25s", lambda n: bm25s.search(asked[n], K)),
        Engine("rank-bm25", lambda n: okapi.search(asked[n], K), every=10),
        Engine("whole hybrid search", _whole(bed, muisti, most)),
        Engine("whole hybrid search, 10 % filter", _whole(bed, muisti, 2 * most, percent=10)),
    ]
    times = interleaved(engines, QUERIES)
    pairs = zip(times["dense"].answers.values(), times["numpy"].answers.values(), strict=True)
    recall = float(np.mean([np.intersect1d(np.asarray(ours), np.asarray(theirs)).size / K for ours, theirs in pairs]))
    return {name: measured.summary()["cpu"] for name, measured in times.items()}, recall


def _selection(size: int) -> Selection:
    mask = np.arange(size) % 100 == 0
    return Selection(1, np.arange(size) % 100, mask, np.flatnonzero(mask))


def _whole(bed: Bed, muisti: Muisti, first: int, percent: int | None = None) -> Callable[[int], object]:
    """Whole searches for questions that nothing else has asked."""
    asked = bed.questions(QUERIES + WARMING, first)
    search = partial(muisti.search, mode="hybrid", filter=None if percent is None else below(percent))
    return lambda number: search(asked[number])


if __name__ == "__main__":
    sys.exit(main())
