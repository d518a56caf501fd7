"""What the index knows of each row (a passage), one array a column. Appended to, never changed but for `died`.

`died` takes the seq of the death in place: a reader of an older seq still counts the row as alive.
"""

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from core.buffers import Buffer
from core.index.dialogue import Dialogues, Scalar
from core.index.sign_bits import SignBits
from core.kernels import Bytes, Codes, Floats, Ints, Longs, Mask
from core.store.database import Row
from core.text import fold
from core.vectors import unpack

ALIVE = np.iinfo(np.int64).max
NEVER = np.iinfo(np.int64).max


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
    """Columns of the living passages of a space, in the order in which their versions were born."""

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

    def append(self, rows: Sequence[Row], lengths: npt.NDArray[np.int32]) -> None:
        """Take over the rows of `index_rows.living`, and the length of each in units."""
        columns = zip(*rows, strict=True)
        (
            version,
            memory_id,
            _,
            status,
            importance,
            at,
            expires,
            text,
            number,
            start,
            stop,
            _,
            vector,
            session,
            turn,
            speaker,
        ) = columns
        ids = np.frombuffer(b"".join(cast(tuple[bytes, ...], memory_id)), ">u8").reshape(-1, 2)
        planes = unpack(cast(tuple[bytes | None, ...], vector), self.dimensions)
        self.blanks += int(np.count_nonzero(planes.scales == 0))  # first: a reader may count too many, never too few
        until = [NEVER if e is None else e for e in expires]
        numbers = np.array([version, at, until, number, start, stop, importance], np.int64)
        for buffer, values in zip(
            (self.version, self.at, self.expires, self.number, self.start, self.stop, self.importance),
            numbers,
            strict=True,
        ):
            buffer.append(values)
        self.id_high.append(ids[:, 0])
        self.id_low.append(ids[:, 1])
        self.active.append([s == "active" for s in status])
        self.text.append(np.frombuffer(b"".join(cast(tuple[bytes, ...], text)), np.uint64)[::2])
        self.died.append([ALIVE] * len(rows))
        self.length.append(lengths)
        self.embedded.append([v is not None for v in vector])
        self.codes.append(planes.codes)
        self.scales.append(planes.scales)
        self.fine.append(planes.fine)
        self.fine_scales.append(planes.fine_scales)
        self.bits.append(planes.codes)
        names = [fold(name) if isinstance(name, str) else None for name in speaker]
        sessions, turns = cast(tuple[tuple[Scalar, ...], tuple[Scalar, ...]], (session, turn))
        self.dialogues.append(cast(tuple[int, ...], number), sessions, turns, names)

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
