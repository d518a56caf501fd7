"""The rows of a snapshot that a search may return."""

import numpy as np

from muisti.core.index.vector_columns import Vectors
from muisti.core.kernels import Codes, Longs, Mask
from muisti.core.kernels.pool import count_memories

# Sets of rows as words of 64 bits; the lowest bit of a word is its first row.
#
# Bits beyond the last row mean nothing in a set that was negated; those of `packed` flags are 0.

ROWS = 64  # of a word


def words_for(rows: int) -> int:
    """Return how many words have a bit for each of so many rows."""
    return -(-rows // ROWS)


def packed(flags: Mask) -> Codes:
    """Return the words of a flag for each row."""
    some = np.packbits(flags, bitorder="little")
    words = np.zeros(words_for(len(flags)), "<u8")
    words.view(np.uint8)[: len(some)] = some
    return words.astype(np.uint64, copy=False)


def unpacked(words: Codes, rows: int) -> Mask:
    """Return a flag for each of the first `rows` rows."""
    some = words.astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(some, count=rows, bitorder="little").view(np.bool_)


def count(words: Codes) -> int:
    """Count the bits that are set."""
    return int(np.bitwise_count(words).sum(dtype=np.int64))


class Allowed:
    """A flag for each row of a snapshot, and how many are set. Immutable, except that it caches what derives from them.

    Two readers may both compute a derived value; they get the same.
    """

    __slots__ = ("_memories", "_with_vector", "_words", "count", "mask")

    def __init__(self, mask: Mask, count: int, *, words: Codes | None = None, memories: int | None = None) -> None:
        """Take the flags; `words` are the same as bits, `memories` how many memories the rows belong to, if known."""
        self.mask = mask
        self.count = count
        self._words = words
        self._memories = memories
        self._with_vector: dict[str | None, Codes] = {}  # by model: the arrays of a `Vectors` would be kept alive

    @property
    def words(self) -> Codes:
        """A bit for each row; the lowest bit is the first row."""
        if self._words is None:
            self._words = packed(self.mask)
        return self._words

    @property
    def nbytes(self) -> int:
        """Bytes of the flags, and of the bits that searches by two models derive from them."""
        return self.mask.nbytes + 3 * self.mask.nbytes // 8

    def memories(self, versions: Longs) -> int:
        """Return how many memories the rows belong to; `versions` has that of each row."""
        if self._memories is None:
            self._memories = count_memories(versions, self.mask)
        return self._memories

    def with_vector(self, vectors: Vectors) -> Codes:
        """Return a bit for each row, set when it is allowed and has one of `vectors`; the lowest bit is the first row.

        The sign bits of rows without a vector mean nothing. `vectors` are those of the snapshot, by one of its models.
        """
        if not vectors.blanks:
            return self.words
        found = self._with_vector.get(vectors.model)
        if found is None:
            found = self._with_vector[vectors.model] = packed(self.mask & (vectors.scales > 0))
        return found
