"""What the index knows of each row (a passage), one array a column. Appended to, never changed but for `died`.

`died` takes the seq of the death in place: a reader of an older seq still counts the row as alive.
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
    """What searches read of the first rows, an array each. `bits` has a place for each block of rows."""

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
    """Columns of the passages of a space, in the order in which their versions were born."""

    def __init__(self, dimensions: int) -> None:
        """`dimensions` is 0 when nothing is embedded."""
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
        self.blanks = 0  # rows without a vector, or with one of no length
        self.dimensions = dimensions
        self.dialogues = Dialogues()

    def __len__(self) -> int:
        return len(self.version)

    @property
    def nbytes(self) -> int:
        return sum(buffer.nbytes for buffer in self._buffers().values()) + self.bits.nbytes + self.dialogues.nbytes

    def columns(self, size: int) -> Columns:
        """The first `size` rows."""
        views = {name: getattr(self, name).view(size) for name in Columns._fields if name != "blanks"}
        return Columns(**views, blanks=self.blanks)

    def append(self, inserted: Inserted, lengths: npt.NDArray[np.int32]) -> None:
        """Take over new rows, and the length of each in units."""
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

    def bury(self, versions: npt.NDArray[np.int64], seqs: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Note the deaths of versions and return their rows; what is not here, or is dead already, is passed over."""
        known = self.version.view()  # ascending: rows arrive in the order of birth
        first, last = np.searchsorted(known, versions), np.searchsorted(known, versions, side="right")
        died = self.died.view()
        spans = zip(first.tolist(), last.tolist(), strict=True)
        rows = np.concatenate([np.arange(start, stop, dtype=np.int64) for start, stop in spans])
        seqs, newly = np.repeat(seqs, last - first), died[rows] == ALIVE
        died[rows[newly]] = seqs[newly]
        return rows[newly]

    def only(self, alive: Mask) -> "Rows":
        """A copy of the living rows."""
        kept = Rows(self.dimensions)
        kept.reserve(int(np.count_nonzero(alive)))
        for name, buffer in self._buffers().items():
            cast(Buffer[np.generic], getattr(kept, name)).append(buffer.view()[alive])
        kept.bits.append(kept.codes.view())
        kept.dialogues = self.dialogues.only(alive)
        kept.blanks = int(np.count_nonzero(kept.scales.view() == 0))
        return kept

    def reserve(self, rows: int) -> None:
        """Make room for exactly this many rows in all."""
        for buffer in self._buffers().values():
            buffer.reserve(rows)
        self.bits.reserve(rows)

    def _buffers(self) -> dict[str, Buffer[np.generic]]:
        return {name: value for name, value in vars(self).items() if isinstance(value, Buffer)}
