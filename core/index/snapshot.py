"""An index as it stood at one point of a space's history."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.index.postings import Postings
from core.index.rows import NEVER, Rows
from core.kernels import Mask
from core.values import Seq

RowNumbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Population:
    """The rows of default visibility (active, not expired) at a time: what BM25's statistics count.

    `average` and `spread` are the mean and the coefficient of variation of the weighted lengths.
    It holds for every time from `since` until `until`, in microseconds.
    """

    mask: Mask
    rows: int
    average: float
    spread: float
    since: int
    until: int


@dataclass(frozen=True, slots=True)
class Allowed:
    """The rows that may be an answer: a flag for each row of a snapshot, and how many are set."""

    mask: Mask
    count: int


class Snapshot:
    """The first `size` rows of a space at `seq`. Immutable, but for the population that it remembers."""

    def __init__(self, seq: Seq, rows: Rows, size: int, pieces: Sequence[Postings]) -> None:
        self.seq = seq
        self.rows = rows
        self.size = size
        self.pieces = tuple(pieces)
        self._population: Population | None = None

    def alive(self, now: int) -> Mask:
        """Rows of current, unexpired memories of any status."""
        return (self.rows.died.view(self.size) > self.seq.number) & (self.rows.expires.view(self.size) > now)

    def population(self, now: int) -> Population:
        known = self._population
        if known is None or not known.since <= now < known.until:
            known = self._population = self._count(now)
        return known

    def unembedded(self) -> int:
        """How many living rows have no vector."""
        alive = self.rows.died.view(self.size) > self.seq.number
        return int(np.count_nonzero(alive & ~self.rows.embedded.view(self.size)))

    def _count(self, now: int) -> Population:
        living = (self.rows.died.view(self.size) > self.seq.number) & self.rows.active.view(self.size)
        expires = self.rows.expires.view(self.size)
        mask = living & (expires > now)
        lengths = self.rows.length.view(self.size)[mask].astype(np.float64)
        average = float(lengths.mean()) if len(lengths) else 0.0
        spread = float(lengths.std() / average) if average else 0.0
        return Population(
            mask=mask,
            rows=len(lengths),
            average=average,
            spread=spread,
            since=int(expires[living & ~mask].max(initial=np.iinfo(np.int64).min)),
            until=int(expires[mask].min(initial=NEVER)),
        )
