"""The rows of an index (passages), one array for each column. Rows are appended and never change, with two exceptions.

`died` is the change number that ended a version, written in place. Readers of an older point compare it with theirs,
so they still see the row as current. A vector that comes after its passage is written in place too, its scale last.
Readers take a row without a scale for one without a vector.
"""

from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from muisti.core.embedding.vectors import planes_of
from muisti.core.index.buffers import Buffer
from muisti.core.index.dialogue import Dialogues
from muisti.core.index.inserted import Inserted
from muisti.core.index.sign_bits import SignBits
from muisti.core.kernels import Bytes, Codes, Floats, Ints, Longs, Mask

ALIVE = np.iinfo(np.int64).max


class Columns(NamedTuple):
    """Arrays of the columns that searches read, cut to the rows of a snapshot; `bits` has a place for each block."""

    version: Longs
    id_high: Codes
    id_low: Codes
    number: Ints
    start: Ints
    stop: Ints
    importance: Bytes
    at: Longs
    text: Codes
    length: Ints
    codes: Bytes
    scales: Floats
    fine: Bytes
    fine_scales: Floats
    bits: Codes
    blanks: int


class Rows:
    """Columns of the passages of a space, in the order in which their versions were inserted."""

    def __init__(self, dimensions: int) -> None:
        """Make empty columns; `dimensions` is that of the vectors, 0 when nothing is embedded."""
        self.version = Buffer(np.int64)
        self.id_high = Buffer(np.uint64)
        self.id_low = Buffer(np.uint64)
        self.number = Buffer(np.int32)
        self.start = Buffer(np.int32)
        self.stop = Buffer(np.int32)
        self.active = Buffer(np.bool_)
        self.importance = Buffer(np.int8)
        self.at = Buffer(np.int64)
        self.expires = Buffer(np.int64)
        self.text = Buffer(np.uint64)  # of the whole memory: half of its text's hash
        self.born = Buffer(np.int64)
        self.died = Buffer(np.int64)
        self.length = Buffer(np.int32)  # units, see core/index/postings.py
        self.embedded = Buffer(np.bool_)
        self.codes = Buffer(np.int8, dimensions)
        self.scales = Buffer(np.float32)
        self.fine = Buffer(np.int8, dimensions)
        self.fine_scales = Buffer(np.float32)
        self.bits = SignBits(dimensions)
        self.blanks = 0  # rows without a vector, or with one of length 0
        self.dimensions = dimensions
        self.dialogues = Dialogues()

    def __len__(self) -> int:
        return len(self.version)

    @property
    def nbytes(self) -> int:
        return sum(buffer.nbytes for buffer in self._buffers().values()) + self.bits.nbytes + self.dialogues.nbytes

    def columns(self, size: int) -> Columns:
        """Return the columns of the first `size` rows, without copying."""
        views = {name: getattr(self, name).view(size) for name in Columns._fields if name != "blanks"}
        return Columns(**views, blanks=self.blanks)

    def append(self, inserted: Inserted, lengths: npt.NDArray[np.int32]) -> None:
        """Append new rows, and the length of each in units."""
        planes = planes_of(inserted.vectors)
        self.blanks += int(np.count_nonzero(planes.scales == 0))  # first: a reader may count too many, never too few
        for buffer, values in (
            (self.version, inserted.version),
            (self.id_high, inserted.ids[:, 0]),
            (self.id_low, inserted.ids[:, 1]),
            (self.number, inserted.number),
            (self.start, inserted.start),
            (self.stop, inserted.stop),
            (self.active, inserted.active),
            (self.importance, inserted.importance),
            (self.at, inserted.at),
            (self.expires, inserted.expires),
            (self.text, inserted.text),
            (self.born, inserted.born),
            (self.died, inserted.died),
            (self.length, lengths),
            (self.embedded, inserted.embedded),
            (self.codes, planes.codes),
            (self.scales, planes.scales),
            (self.fine, planes.fine),
            (self.fine_scales, planes.fine_scales),
        ):
            buffer.append(values)
        self.bits.append(planes.codes)
        self.dialogues.append(inserted.number, inserted.sessions, inserted.turns, inserted.speakers)

    def mark_ended(self, versions: npt.NDArray[np.int64], seqs: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Write the change that ended each version into its rows, and return these rows.

        Versions that are not in the index, or that have ended already, are skipped.
        """
        known = self.version.view()  # ascending: rows arrive in the order in which versions were inserted
        first, last = np.searchsorted(known, versions), np.searchsorted(known, versions, side="right")
        died = self.died.view()
        spans = zip(first.tolist(), last.tolist(), strict=True)
        rows = np.concatenate([np.arange(start, stop, dtype=np.int64) for start, stop in spans])
        seqs, newly = np.repeat(seqs, last - first), died[rows] == ALIVE
        died[rows[newly]] = seqs[newly]
        return rows[newly]

    def bare(self, after: int, upto: int) -> Longs:
        """Return the rows without a vector of versions that began after change `after`, at `upto` at the latest."""
        born = self.born.view()
        return np.flatnonzero(~self.embedded.view() & (born > after) & (born <= upto))

    def unembedded(self) -> int:
        """Count the current rows that have no vector."""
        return int(np.count_nonzero((self.died.view() == ALIVE) & ~self.embedded.view()))

    def give_vectors(self, rows: Longs, vectors: Bytes) -> None:
        """Write the stored vectors of rows that had none."""
        planes = planes_of(vectors)
        self.codes.view()[rows] = planes.codes
        self.fine.view()[rows] = planes.fine
        self.fine_scales.view()[rows] = planes.fine_scales
        self.bits.put(rows, planes.codes)
        self.scales.view()[rows] = planes.scales
        self.embedded.view()[rows] = True
        self.blanks -= int(np.count_nonzero(planes.scales))

    def only(self, alive: Mask) -> "Rows":
        """Return a copy with the `alive` rows alone."""
        kept = Rows(self.dimensions)
        kept.reserve(int(np.count_nonzero(alive)))
        for name, buffer in self._buffers().items():
            cast(Buffer[np.generic], getattr(kept, name)).append(buffer.view()[alive])
        kept.bits.append(kept.codes.view())
        kept.dialogues = self.dialogues.only(alive, int(np.count_nonzero(kept.number.view() == 0)))
        kept.blanks = int(np.count_nonzero(kept.scales.view() == 0))
        return kept

    def reserve(self, rows: int) -> None:
        """Make room for exactly this many rows in all."""
        for buffer in self._buffers().values():
            buffer.reserve(rows)
        self.bits.reserve(rows)

    def _buffers(self) -> dict[str, Buffer[np.generic]]:
        return {name: value for name, value in vars(self).items() if isinstance(value, Buffer)}
