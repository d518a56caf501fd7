"""The rows that may be an answer."""

import numpy as np

from muisti.core.index.rows import Columns
from muisti.core.kernels import Codes, Mask


class Allowed:
    """A flag for each row of a snapshot, and how many are set. Immutable, but for what it remembers."""

    __slots__ = ("_words", "count", "mask")

    def __init__(self, mask: Mask, count: int) -> None:
        self.mask = mask
        self.count = count
        self._words: Codes | None = None

    def with_vector(self, columns: Columns) -> Codes:
        """A bit for each row that is allowed and has a vector, the lowest first: signs of others mean nothing."""
        if self._words is None:  # two readers at once may both do this, to the same end
            flags = self.mask & (columns.scales > 0) if columns.blanks else self.mask
            packed = np.packbits(flags, bitorder="little")
            words = np.zeros(-(-len(flags) // 64), "<u8")
            words.view(np.uint8)[: len(packed)] = packed
            self._words = words.astype(np.uint64, copy=False)
        return self._words
