"""Inner loops that make and merge posting lists."""

import numpy as np

from muisti.core.kernels.target import Codes, Ints, Packed, compiled

MIX = np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing: Knuth, "The art of computer programming", volume 3, 6.4


@compiled
def number(keys: Codes) -> tuple[Ints, Codes]:
    """Return the place of each key among the distinct keys, and these in the order of their first occurrence."""
    places, distinct = np.empty(keys.size, np.int32), np.empty(keys.size, np.uint64)
    used, bits = 0, 10
    slots = np.full(1 << bits, -1, np.int32)
    for i in range(keys.size):
        if 2 * used >= slots.size:
            bits += 2
            slots = _slots(distinct[:used], bits)
        at = _free_or_own(slots, distinct, keys[i], bits)
        if slots[at] < 0:
            slots[at] = used
            distinct[used] = keys[i]
            used += 1
        places[i] = slots[at]
    return places, distinct[:used].copy()


@compiled
def _slots(distinct: Codes, bits: int) -> Ints:
    slots = np.full(1 << bits, -1, np.int32)
    for i in range(distinct.size):
        slots[_free_or_own(slots, distinct, distinct[i], bits)] = i
    return slots


@compiled
def _free_or_own(slots: Ints, distinct: Codes, key: np.uint64, bits: int) -> np.int64:
    at = np.int64((key * MIX) >> np.uint64(64 - bits))
    while slots[at] >= 0 and distinct[slots[at]] != key:
        at = (at + 1) & (slots.size - 1)
    return at


@compiled
def invert(ids: Ints, units: Ints, starts: Ints, terms: int) -> tuple[Ints, Ints, Ints]:
    """Return postings by term, then row: where each term's begin, their rows, and the units of the term in the row.

    `ids[starts[r]:starts[r + 1]]` are the terms of row r, below `terms`, each with its `units`.
    """
    begins, last = np.zeros(terms + 1, np.int32), np.full(terms, -1, np.int32)
    for row in range(starts.size - 1):
        for at in range(starts[row], starts[row + 1]):
            if last[ids[at]] != row:
                last[ids[at]] = row
                begins[ids[at] + 1] += 1
    for term in range(terms):
        begins[term + 1] += begins[term]
        last[term] = -1
    after = begins[:-1].copy()
    rows, tf = np.empty(begins[-1], np.int32), np.empty(begins[-1], np.int32)
    for row in range(starts.size - 1):
        for at in range(starts[row], starts[row + 1]):
            term = ids[at]
            if last[term] != row:
                last[term] = row
                rows[after[term]] = row
                tf[after[term]] = 0
                after[term] += 1
            tf[after[term] - 1] += units[at]
    return begins, rows, tf


@compiled
def union(left: Codes, right: Codes) -> tuple[Codes, Ints, Ints]:
    """Merge two ascending arrays of distinct values; return the union and the places in it of the values of each."""
    both = np.empty(left.size + right.size, np.uint64)
    of_left, of_right = np.empty(left.size, np.int32), np.empty(right.size, np.int32)
    i = j = size = 0
    while i < left.size or j < right.size:
        take_left = j == right.size or (i < left.size and left[i] <= right[j])
        take_right = i == left.size or (j < right.size and right[j] <= left[i])
        if take_left:
            both[size] = left[i]
            of_left[i] = size
            i += 1
        if take_right:
            both[size] = right[j]
            of_right[j] = size
            j += 1
        size += 1
    return both[:size].copy(), of_left, of_right


@compiled
def place(starts: Ints, packed: Packed, terms: Ints, add: int, pairs: Ints, after: Ints, out: Packed) -> None:
    """Append the postings of one piece to those of a merged one: add `add` to each row, take pair p as `pairs[p]`.

    `terms` are the places of the piece's terms in the merged piece; `after` has the place of each term's next posting.
    """
    for term in range(terms.size):
        to = after[terms[term]]
        for at in range(starts[term], starts[term + 1]):
            row, pair = packed[at] >> np.uint32(16), packed[at] & np.uint32(0xFFFF)
            out[to] = np.uint32(row + np.uint32(add)) << np.uint32(16) | np.uint32(pairs[pair])
            to += 1
        after[terms[term]] = to


def bake() -> None:
    """Compile for the types that the index uses."""
    keys = np.arange(2, dtype=np.uint64)
    places, _ = number(keys)
    starts = np.array([0, 1, 2], np.int32)
    begins, _, _ = invert(places, places, starts, 2)
    _, of_left, _ = union(keys, keys)
    packed = np.zeros(2, np.uint32)
    place(begins, packed, of_left, 0, places, starts[:2].copy(), packed.copy())
