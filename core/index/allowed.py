"""The rows of a snapshot that a search may return."""

import numpy as np

from muisti.core.index.rows import Columns
from muisti.core.kernels import Codes, Mask


class Allowed:
    """A flag for each row of a snapshot, and how many are set. Immutable, except that it caches its bits."""

    __slots__ = ("_words", "count", "mask")

    def __init__(self, mask: Mask, count: int) -> None:
        self.mask = mask
        self.count = count
        self._words: Codes | None = None

    def with_vector(self, columns: Columns) -> Codes:
        """Return a bit for each row, set when it is allowed and has a vector; the lowest bit is the first row.

        The sign bits of rows without a vector mean nothing.
        """
        if self._words is None:  # two readers may both do this, with the same result
            flags = self.mask & (columns.scales > 0) if columns.blanks else self.mask
            packed = np.packbits(flags, bitorder="little")
            words = np.zeros(-(-len(flags) // 64), "<u8")
            words.view(np.uint8)[: len(packed)] = packed
            self._words = words.astype(np.uint64, copy=False)
        return self._words
