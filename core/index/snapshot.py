"""Snapshots: an index at one point of a space's history, and the best of its rows."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from muisti.core.index.collection_statistics import CollectionStatistics, aged, counted, followed, lived
from muisti.core.index.postings import Postings, table
from muisti.core.index.rows import Rows
from muisti.core.kernels import Doubles, Ints, Mask
from muisti.core.kernels.pool import best_memories
from muisti.core.model.values import Seq

RowNumbers = npt.NDArray[np.int64]

POINTS = 4  # cached snapshots of earlier points
POPULATIONS = 2  # cached statistics of a snapshot: for the present, and for another time that searches refer to


class Snapshot:
    """The first `size` rows of a space at `seq`. Immutable, except for its caches of statistics and past snapshots.

    `second` has the vectors by the space's second model, None when it has no such model.
    """

    def __init__(
        self,
        seq: Seq,
        rows: Rows,
        size: int,
        pieces: Sequence[Postings],
        unembedded: int,
        *populations: CollectionStatistics,
    ) -> None:
        """Take the rows and posting lists; `unembedded` is how many current rows have no vector."""
        self.seq = seq
        self.rows = rows
        self.size = size
        self.pieces = tuple(pieces)
        self.columns = rows.columns(size)
        self.second = None if rows.second is None else rows.second.view(size)
        self.table = table(self.pieces)
        self.unembedded = unembedded
        self._populations = populations
        self._past: tuple[Snapshot, ...] = ()

    def links(self) -> tuple[Ints, Ints]:
        """Return the links to the memory before and after each in its dialogue, by row; empty without dialogues.

        `Dialogues.before` describes the values.
        """
        after = self.rows.dialogues.after()  # first, because it grows second: `before` has at least as many rows
        return self.rows.dialogues.before(), after

    def alive(self, now: int) -> Mask:
        """Return a flag for each row: whether its memory is current and not expired, whatever its status."""
        return lived(self.rows, self.size, self.seq.number) & (self.rows.expires.view(self.size) > now)

    def as_of(self, number: int) -> "Snapshot":
        """Return the snapshot of these rows at change `number`, which must not be later than this one's."""
        if number == self.seq.number:
            return self
        found = next((past for past in self._past if past.seq.number == number), None)
        if found is None:
            bare = lived(self.rows, self.size, number) & ~self.rows.vectors.embedded.view(self.size)
            seq = Seq(self.seq.epoch, number)
            found = Snapshot(seq, self.rows, self.size, self.pieces, int(np.count_nonzero(bare)))
        if self._past[:1] != (found,):
            self._past = (found, *(past for past in self._past if past is not found))[:POINTS]
        return found

    def population(self, now: int) -> CollectionStatistics:
        """Return the statistics of the rows of default visibility at a time, in microseconds."""
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

    def followed_by(self, seq: Seq, pieces: Sequence[Postings], ended: RowNumbers, unembedded: int) -> "Snapshot":
        """Return the snapshot at `seq`, after rows were appended to `rows` and the versions of `ended` rows ended."""
        size = len(self.rows)
        populations = (followed(p, self.rows, size, seq.number, ended) for p in self._populations[:1])
        return Snapshot(seq, self.rows, size, pieces, unembedded, *populations)


# The best rows of a ranking, one for each memory. Ties are ordered by memory id, whatever the order of rows


def best_places(snapshot: Snapshot, rows: RowNumbers, scores: Doubles, wanted: int) -> RowNumbers:
    """Return the places of the best row of each of the `wanted` best memories, by falling score, then memory id."""
    c, heap, places = snapshot.columns, np.empty(len(rows), np.int64), np.empty(wanted, np.int64)
    return places[: best_memories(scores, rows, c.version, c.id_high, c.id_low, c.number, -1.0, wanted, heap, places)]


def in_order(snapshot: Snapshot, rows: RowNumbers, scores: npt.NDArray[np.floating]) -> RowNumbers:
    """Return the places of `rows` by falling score, then memory id, then passage."""
    c = snapshot.columns
    keys = (c.number[rows], c.id_low[rows], c.id_high[rows], -scores)
    return np.lexsort(keys)


def one_a_memory(snapshot: Snapshot, rows: RowNumbers) -> RowNumbers:
    """Return the places in `rows` of the first row of each memory, in the order given."""
    _, first = np.unique(snapshot.columns.version[rows], return_index=True)
    return np.sort(first)
