"""An index as it stood at one point of a space's history."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from muisti.core.index.collection import CollectionStatistics, aged, counted, followed, lived
from muisti.core.index.postings import Postings, table
from muisti.core.index.rows import Rows
from muisti.core.kernels import Ints, Mask
from muisti.core.model.values import Seq

RowNumbers = npt.NDArray[np.int64]

POINTS = 4  # of the past, whose snapshots are remembered
POPULATIONS = 2  # remembered by a snapshot: of the present, and of another time that searches refer to


class Snapshot:
    """The first `size` rows of a space at `seq`. Immutable, but for the populations that it remembers."""

    def __init__(
        self,
        seq: Seq,
        rows: Rows,
        size: int,
        pieces: Sequence[Postings],
        unembedded: int,
        *populations: CollectionStatistics,
    ) -> None:
        """`unembedded` is how many living rows have no vector."""
        self.seq = seq
        self.rows = rows
        self.size = size
        self.pieces = tuple(pieces)
        self.columns = rows.columns(size)
        self.table = table(self.pieces)
        self.unembedded = unembedded
        self._populations = populations
        self._past: tuple[Snapshot, ...] = ()

    def links(self) -> tuple[Ints, Ints]:
        """The memory before and after each in its dialogue, by row; empty where nobody speaks.

        See `Dialogues.before`.
        """
        after = self.rows.dialogues.after()  # first: it is the second to grow, so where it has rows both have
        return self.rows.dialogues.before(), after

    def alive(self, now: int) -> Mask:
        """Rows of current, unexpired memories of any status."""
        return lived(self.rows, self.size, self.seq.number) & (self.rows.expires.view(self.size) > now)

    def as_of(self, number: int) -> "Snapshot":
        """The same rows as they stood after change `number`, an earlier one."""
        if number == self.seq.number:
            return self
        found = next((past for past in self._past if past.seq.number == number), None)
        if found is None:
            bare = lived(self.rows, self.size, number) & ~self.rows.embedded.view(self.size)
            seq = Seq(self.seq.epoch, number)
            found = Snapshot(seq, self.rows, self.size, self.pieces, int(np.count_nonzero(bare)))
        if self._past[:1] != (found,):
            self._past = (found, *(past for past in self._past if past is not found))[:POINTS]
        return found

    def population(self, now: int) -> CollectionStatistics:
        """The rows of default visibility at a time, in microseconds."""
        known = self._populations
        found = next((p for p in known if p.since <= now < p.until), None)
        if found is None:
            before = next((p for p in known if p.until <= now), None)
            if before is None:
                found = counted(self.rows, self.size, self.seq.number, now)
            else:
                found = aged(before, self.rows, now)
        if known[:1] != (found,):
            self._populations = (found, *(p for p in known if p is not found))[:POPULATIONS]
        return found

    def followed_by(self, seq: Seq, pieces: Sequence[Postings], buried: RowNumbers, unembedded: int) -> "Snapshot":
        """The snapshot after births, which are in `rows` by now, and the deaths of the `buried` rows."""
        size = len(self.rows)
        populations = (followed(p, self.rows, size, seq.number, buried) for p in self._populations[:1])
        return Snapshot(seq, self.rows, size, pieces, unembedded, *populations)
