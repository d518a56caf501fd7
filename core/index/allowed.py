"""The rows of a snapshot that a search may return."""

from muisti.core.index.bitmaps import packed
from muisti.core.index.rows import Columns
from muisti.core.kernels import Codes, Longs, Mask
from muisti.core.kernels.pool import count_memories


class Allowed:
    """A flag for each row of a snapshot, and how many are set. Immutable, except that it caches what derives from them.

    Two readers may both compute a derived value; they get the same.
    """

    __slots__ = ("_memories", "_vectors", "_words", "count", "mask")

    def __init__(self, mask: Mask, count: int, *, words: Codes | None = None, memories: int | None = None) -> None:
        """Take the flags; `words` are the same as bits, `memories` how many memories the rows belong to, if known."""
        self.mask = mask
        self.count = count
        self._words = words
        self._memories = memories
        self._vectors: Codes | None = None

    @property
    def words(self) -> Codes:
        """A bit for each row; the lowest bit is the first row."""
        if self._words is None:
            self._words = packed(self.mask)
        return self._words

    @property
    def nbytes(self) -> int:
        """Bytes of the flags, and of the bits that searches derive from them."""
        return self.mask.nbytes + self.mask.nbytes // 4

    def memories(self, versions: Longs) -> int:
        """Return how many memories the rows belong to; `versions` has that of each row."""
        if self._memories is None:
            self._memories = count_memories(versions, self.mask)
        return self._memories

    def with_vector(self, columns: Columns) -> Codes:
        """Return a bit for each row, set when it is allowed and has a vector; the lowest bit is the first row.

        The sign bits of rows without a vector mean nothing.
        """
        if not columns.blanks:
            return self.words
        if self._vectors is None:
            self._vectors = packed(self.mask & (columns.scales > 0))
        return self._vectors
