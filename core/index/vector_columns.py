"""The vectors of an index's rows, by one model: two levels of int8 codes with their scales, and sign bits.

Rows are appended and never change, except that a vector may come after its passage. It is written in place, its scale
last. Readers take a row without a scale for one without a vector.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from muisti.core.embedding.vectors import planes_of, rows_of
from muisti.core.index.columns import Buffer
from muisti.core.kernels import Bytes, Codes, Floats, Longs, Mask
from muisti.core.kernels.dense import LANES, Words

# The signs of the components of rows, laid out for `core.kernels.dense.nearest_signs`

AT_ONCE = 16_384  # rows whose bits are computed together, which bounds the memory for that


class SignBits:
    """Sign bits in blocks of `LANES` rows. Appending never changes the bits of rows that a reader already sees.

    `put` changes them; searches skip the bits of rows without a vector, so it serves for rows that get their first.
    """

    def __init__(self, dimensions: int) -> None:
        self._words = -(-dimensions // 64)
        self._blocks: Buffer[np.uint64] = Buffer(np.uint64, self._words, LANES)
        self._used = 0

    def __len__(self) -> int:
        return self._used

    @property
    def nbytes(self) -> int:
        return self._blocks.nbytes

    @property
    def blocks(self) -> Buffer[np.uint64]:
        return self._blocks

    def restore(self, rows: int) -> None:
        """Take the blocks for those of so many rows."""
        self._used = rows

    def view(self, rows: int | None = None) -> Words:
        """Return the blocks (n, words, LANES) of the first `rows` rows, all by default."""
        return self._blocks.view(_blocks(self._used if rows is None else rows))

    def reserve(self, rows: int) -> None:
        """Make room for this many rows in all."""
        self._blocks.reserve(_blocks(rows))

    def append(self, codes: Bytes) -> None:
        """Append the signs of each row of codes; a 0 counts as negative."""
        for start in range(0, len(codes), AT_ONCE):
            self._append(codes[start : start + AT_ONCE])

    def put(self, rows: Longs, codes: Bytes) -> None:
        """Replace the signs of some rows."""
        self._blocks.view()[rows // LANES, :, rows % LANES] = self._signs(codes)

    def _signs(self, codes: Bytes) -> npt.NDArray[np.uint64]:
        packed = np.packbits(codes > 0, axis=1, bitorder="little")
        words = np.zeros((len(codes), self._words * 8), np.uint8)
        words[:, : packed.shape[1]] = packed
        return words.view("<u8")

    def _append(self, codes: Bytes) -> None:
        more = _blocks(self._used + len(codes)) - len(self._blocks)
        if more:
            self._blocks.append(np.zeros((more, self._words, LANES), np.uint64))
        self.put(np.arange(self._used, self._used + len(codes)), codes)
        self._used += len(codes)


def _blocks(rows: int) -> int:
    return -(-rows // LANES)


class Vectors(NamedTuple):
    """Arrays of the vectors that searches read, cut to the rows of a snapshot; `bits` has a place for each block.

    `blanks` counts the rows without a vector, or with one of length 0. `model` is the identity of a second model, None
    for the model of the space.
    """

    codes: Bytes
    scales: Floats
    fine: Bytes
    fine_scales: Floats
    bits: Codes
    blanks: int
    model: str | None = None

    @property
    def planes(self) -> tuple[Bytes, Floats, Bytes, Floats]:
        """The codes of both levels, with their scales."""
        return self.codes, self.scales, self.fine, self.fine_scales


class VectorColumns:
    """The vectors of all rows of an index, by one model; zeros for a row without a vector."""

    def __init__(self, dimensions: int, model: str | None = None) -> None:
        """Make empty columns; `dimensions` is that of the vectors, 0 when nothing is embedded.

        `model` is the identity of a second model, None for the model of the space.
        """
        self.dimensions = dimensions
        self.model = model
        self.embedded = Buffer(np.bool_)
        self.blanks = 0
        self._codes = Buffer(np.int8, dimensions)
        self._scales = Buffer(np.float32)
        self._fine = Buffer(np.int8, dimensions)
        self._fine_scales = Buffer(np.float32)
        self._bits = SignBits(dimensions)

    def __len__(self) -> int:
        return len(self.embedded)

    @property
    def nbytes(self) -> int:
        return sum(buffer.nbytes for buffer in self.buffers().values())

    def buffers(self) -> dict[str, Buffer[Any]]:
        """Return all that holds vectors, by name."""
        columns: dict[str, Buffer[Any]] = {
            "embedded": self.embedded,
            "codes": self._codes,
            "scales": self._scales,
            "fine": self._fine,
            "fine_scales": self._fine_scales,
        }
        return {**columns, "bits": self._bits.blocks}

    def restore(self, rows: int, blanks: int) -> None:
        """Take what was put into the buffers for so many rows, of which `blanks` have no vector."""
        self.blanks = blanks
        self._bits.restore(rows)

    def view(self, size: int) -> Vectors:
        """Return the vectors of the first `size` rows, without copying."""
        return Vectors(
            codes=self._codes.view(size),
            scales=self._scales.view(size),
            fine=self._fine.view(size),
            fine_scales=self._fine_scales.view(size),
            bits=self._bits.view(size),
            blanks=self.blanks,
            model=self.model,
        )

    def append(self, vectors: Bytes, embedded: Mask) -> None:
        """Append stored vectors (`core.embedding.vectors`), zeros for none; `embedded` flags the rows that have one."""
        if not len(vectors):  # an emptied segment says no width
            return
        planes = planes_of(vectors)
        self.blanks += int(np.count_nonzero(planes.scales == 0))  # first: a reader may count too many, never too few
        self.embedded.append(embedded)
        self._codes.append(planes.codes)
        self._scales.append(planes.scales)
        self._fine.append(planes.fine)
        self._fine_scales.append(planes.fine_scales)
        self._bits.append(planes.codes)

    def append_blank(self, rows: int) -> None:
        """Append rows without a vector."""
        for start in range(0, rows, AT_ONCE):
            count = min(AT_ONCE, rows - start)
            self.append(rows_of([None] * count, self.dimensions), np.zeros(count, np.bool_))

    def put(self, rows: Longs, vectors: Bytes) -> None:
        """Write the stored vectors of rows that had none."""
        planes = planes_of(vectors)
        self._codes.view()[rows] = planes.codes
        self._fine.view()[rows] = planes.fine
        self._fine_scales.view()[rows] = planes.fine_scales
        self._bits.put(rows, planes.codes)
        self._scales.view()[rows] = planes.scales
        self.embedded.view()[rows] = True
        self.blanks -= int(np.count_nonzero(planes.scales))

    def only(self, alive: Mask) -> "VectorColumns":
        """Return a copy with the `alive` rows alone."""
        kept = VectorColumns(self.dimensions, self.model)
        kept.reserve(int(np.count_nonzero(alive)))
        kept.embedded.append(self.embedded.view()[alive])
        kept._codes.append(self._codes.view()[alive])
        kept._scales.append(self._scales.view()[alive])
        kept._fine.append(self._fine.view()[alive])
        kept._fine_scales.append(self._fine_scales.view()[alive])
        kept._bits.append(kept._codes.view())
        kept.blanks = int(np.count_nonzero(kept._scales.view() == 0))
        return kept

    def reserve(self, rows: int) -> None:
        """Make room for exactly this many rows in all."""
        for buffer in (self.embedded, self._codes, self._scales, self._fine, self._fine_scales, self._bits):
            buffer.reserve(rows)
