"""The signs of the components of rows, laid out for `core.kernels.dense.nearest_signs`."""

import numpy as np
import numpy.typing as npt

from muisti.core.embedding.vectors import Codes
from muisti.core.index.buffers import Buffer
from muisti.core.kernels import Longs
from muisti.core.kernels.dense import LANES, Words

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

    def view(self, rows: int | None = None) -> Words:
        """Return the blocks (n, words, LANES) of the first `rows` rows, all by default."""
        return self._blocks.view(_blocks(self._used if rows is None else rows))

    def reserve(self, rows: int) -> None:
        """Make room for this many rows in all."""
        self._blocks.reserve(_blocks(rows))

    def append(self, codes: Codes) -> None:
        """Append the signs of each row of codes; a 0 counts as negative."""
        for start in range(0, len(codes), AT_ONCE):
            self._append(codes[start : start + AT_ONCE])

    def put(self, rows: Longs, codes: Codes) -> None:
        """Replace the signs of some rows."""
        self._blocks.view()[rows // LANES, :, rows % LANES] = self._signs(codes)

    def _signs(self, codes: Codes) -> npt.NDArray[np.uint64]:
        packed = np.packbits(codes > 0, axis=1, bitorder="little")
        words = np.zeros((len(codes), self._words * 8), np.uint8)
        words[:, : packed.shape[1]] = packed
        return words.view("<u8")

    def _append(self, codes: Codes) -> None:
        more = _blocks(self._used + len(codes)) - len(self._blocks)
        if more:
            self._blocks.append(np.zeros((more, self._words, LANES), np.uint64))
        self.put(np.arange(self._used, self._used + len(codes)), codes)
        self._used += len(codes)


def _blocks(rows: int) -> int:
    return -(-rows // LANES)
