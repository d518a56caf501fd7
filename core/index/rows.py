"""The rows of an index (passages), one array for each column. Rows are appended and never change, with two exceptions.

`died` is the change number that ended a version, written in place. Readers of an older point compare it with theirs,
so they still see the row as current. A vector that comes after its passage is written in place too
(core/index/vector_columns.py).
"""

from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from muisti.core.index.columns import Buffer
from muisti.core.index.dialogue import Dialogues
from muisti.core.index.new_rows import Inserted
from muisti.core.index.vector_columns import VectorColumns, Vectors
from muisti.core.kernels import Bytes, Codes, Ints, Longs, Mask

ALIVE = np.iinfo(np.int64).max


class Columns(NamedTuple):
    """Arrays of the columns that searches read, cut to the rows of a snapshot."""

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
    vectors: Vectors


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
        self.vectors = VectorColumns(dimensions)
        self.second: VectorColumns | None = None  # by the space's second model
        self.dialogues = Dialogues()

    def __len__(self) -> int:
        return len(self.version)

    @property
    def nbytes(self) -> int:
        kept = (*self._buffers().values(), *self._vectors(), self.dialogues)
        return sum(each.nbytes for each in kept)

    @property
    def dimensions(self) -> int:
        """The dimensions of the vectors by the space's model, 0 when nothing is embedded."""
        return self.vectors.dimensions

    def columns(self, size: int) -> Columns:
        """Return the columns of the first `size` rows, without copying."""
        return Columns(**{name: getattr(self, name).view(size) for name in Columns._fields})

    def append(self, inserted: Inserted, lengths: npt.NDArray[np.int32]) -> None:
        """Append new rows, and the length of each in units."""
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
        ):
            buffer.append(values)
        self.vectors.append(inserted.vectors, inserted.embedded)
        if self.second is not None:
            if inserted.second is None or inserted.has_second is None:
                self.second.append_blank(len(inserted))
            else:
                self.second.append(inserted.second, inserted.has_second)
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

    def bare(self, vectors: VectorColumns, after: int, upto: int) -> Longs:
        """Return the rows without one of `vectors`, of versions that began after change `after`, up to `upto`."""
        born = self.born.view()
        return np.flatnonzero(~vectors.embedded.view() & (born > after) & (born <= upto))

    def unembedded(self) -> int:
        """Count the current rows that have no vector."""
        return int(np.count_nonzero((self.died.view() == ALIVE) & ~self.vectors.embedded.view()))

    def only(self, alive: Mask) -> "Rows":
        """Return a copy with the `alive` rows alone."""
        kept = Rows(0)
        kept.reserve(int(np.count_nonzero(alive)))
        for name, buffer in self._buffers().items():
            cast(Buffer[np.generic], getattr(kept, name)).append(buffer.view()[alive])
        kept.dialogues = self.dialogues.only(alive)
        kept.vectors = self.vectors.only(alive)
        kept.second = self.second and self.second.only(alive)
        return kept

    def reserve(self, rows: int) -> None:
        """Make room for exactly this many rows in all."""
        for columns in (*self._buffers().values(), *self._vectors()):
            columns.reserve(rows)

    def buffers(self) -> dict[str, Buffer[Any]]:
        """Return all that holds rows, by name; without the vectors by the second model."""
        parts = {"vectors": self.vectors.buffers(), "dialogues": vars(self.dialogues)}
        inner = {f"{part}.{name}": value for part, values in parts.items() for name, value in values.items()}
        return {**self._buffers(), **{name: value for name, value in inner.items() if isinstance(value, Buffer)}}

    def _buffers(self) -> dict[str, Buffer[np.generic]]:
        return {name: value for name, value in vars(self).items() if isinstance(value, Buffer)}

    @property
    def room(self) -> int:
        """Number of rows that fit without growing."""
        return self.version.room

    def _vectors(self) -> list[VectorColumns]:
        return [self.vectors] if self.second is None else [self.vectors, self.second]
