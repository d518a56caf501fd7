"""The rows of a snapshot that a search may return."""

import numpy as np

from muisti.core.index.vector_columns import Vectors
from muisti.core.kernels import Codes, Mask


class Allowed:
    """A flag for each row of a snapshot, and how many are set. Immutable, except that it caches its bits."""

    __slots__ = ("_words", "count", "mask")

    def __init__(self, mask: Mask, count: int) -> None:
        self.mask = mask
        self.count = count
        self._words: tuple[tuple[Vectors, Codes], ...] = ()

    def with_vector(self, vectors: Vectors) -> Codes:
        """Return a bit for each row, set when it is allowed and has one of `vectors`; the lowest bit is the first row.

        The sign bits of rows without a vector mean nothing. `vectors` are those of the snapshot, by one of its models.
        """
        found = next((words for cached, words in self._words if cached is vectors), None)
        if found is None:  # two readers may both do this, with the same result
            flags = self.mask & (vectors.scales > 0) if vectors.blanks else self.mask
            packed = np.packbits(flags, bitorder="little")
            words = np.zeros(-(-len(flags) // 64), "<u8")
            words.view(np.uint8)[: len(packed)] = packed
            found = words.astype(np.uint64, copy=False)
            self._words = (*self._words, (vectors, found))
        return found
