"""Sets of rows as words of 64 bits; the lowest bit of a word is its first row.

Bits beyond the last row mean nothing in a set that was negated; those of `packed` flags are 0.
"""

import numpy as np

from muisti.core.kernels import Codes, Mask

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
