"""Inner loops that make and merge posting lists."""

import numpy as np
import numpy.typing as npt

from muisti.core.kernels.target import Codes, Ints, Longs, Packed, compiled

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


# Loops that build and merge the posting lists of a piece in one call each: every write builds a small piece.
#
# The arrays are those of `core.index.postings.Postings`, in its order; `number`, `invert`, `union` and `place` do the
# work. A piece with more distinct pairs than 16 bits can number is returned too: the caller checks their count.

Piece = tuple[Codes, Ints, Packed, Ints, Ints, Ints, Ints]

_FIELD = np.uint64(56)
_HASH = np.uint64((1 << 56) - 1)
_BESIDE = np.uint64(6)  # `core.text.terms.BESIDE`: other forms of words that count already
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_ROW = np.uint32(16)


@compiled
def born(codes: Codes, starts: Longs, units: Ints, lengths: Ints) -> Piece:
    """Return the piece of new rows and fill their `lengths`; row r has the codes `codes[starts[r]:starts[r + 1]]`."""
    size = starts[-1] - starts[0]
    hashes, of_term = np.empty(size, np.uint64), np.empty(size, np.int32)
    in_content = np.empty(size, np.bool_)
    own, token_starts = np.zeros(starts.size, np.int32), np.zeros(starts.size, np.int32)
    kept, tokens = 0, 0
    for row in range(starts.size - 1):
        lengths[row] = 0
        for at in range(starts[row], starts[row + 1]):
            field = codes[at] >> _FIELD
            unit = units[np.int64(field)]
            if unit > 0:
                lengths[row] += unit if field != _BESIDE else np.int32(1)  # so that of equals a text without is first
                hashes[kept], of_term[kept], in_content[kept] = codes[at] & _HASH, unit, field == 0
                tokens += int(field == 0)
                kept += 1
        own[row + 1], token_starts[row + 1] = kept, tokens
    ids, distinct = number(hashes[:kept])
    order = np.argsort(distinct)
    ranks = np.empty(order.size, np.int32)
    for rank in range(order.size):
        ranks[order[rank]] = rank
    for at in range(kept):
        ids[at] = ranks[ids[at]]
    term_starts, rows, counts = invert(ids, of_term, own, distinct.size)
    numbers, tf, pair_lengths = _pairs(counts, lengths[rows])
    packed = np.empty(rows.size, np.uint32)
    for at in range(rows.size):
        packed[at] = np.uint32(rows[at]) << _ROW | np.uint32(numbers[at])
    return distinct[order], term_starts, packed, tf, pair_lengths, token_starts, ids[in_content[:kept]]


@compiled
def merged(left: Piece, right: Piece, left_rows: int) -> Piece:
    """Return two neighbouring pieces as one; `right` begins where `left` ends."""
    terms, of_left, of_right = union(left[0], right[0])
    numbers, tf, lengths = _pairs(_joined(left[3], right[3]), _joined(left[4], right[4]))
    starts = np.zeros(terms.size + 1, np.int32)
    for at in range(of_left.size):
        starts[of_left[at] + 1] += left[1][at + 1] - left[1][at]
    for at in range(of_right.size):
        starts[of_right[at] + 1] += right[1][at + 1] - right[1][at]
    for term in range(terms.size):
        starts[term + 1] += starts[term]
    after, packed = starts[:-1].copy(), np.empty(starts[-1], np.uint32)
    place(left[1], left[2], of_left, 0, numbers[: left[3].size], after, packed)
    place(right[1], right[2], of_right, left_rows, numbers[left[3].size :], after, packed)
    token_starts = _joined(left[5], right[5][1:])
    token_starts[left[5].size :] += left[5][-1]
    tokens = np.empty(left[6].size + right[6].size, np.int32)
    for at in range(left[6].size):
        tokens[at] = of_left[left[6][at]]
    for at in range(right[6].size):
        tokens[left[6].size + at] = of_right[right[6][at]]
    return terms, starts, packed, tf, lengths, token_starts, tokens


@compiled
def described(piece: Piece, first: int, table: Longs) -> None:
    """Fill the row of `table` that describes a piece (core/kernels/pieces.py): sizes, then addresses."""
    sizes = (first, piece[5].size - 1, piece[0].size, piece[2].size, piece[3].size, piece[6].size)
    for at in range(len(sizes)):
        table[at] = sizes[at]
    addresses = (
        piece[0].ctypes.data,
        piece[1].ctypes.data,
        piece[2].ctypes.data,
        piece[3].ctypes.data,
        piece[4].ctypes.data,
        piece[5].ctypes.data,
        piece[6].ctypes.data,
    )
    for at in range(len(addresses)):
        table[len(sizes) + at] = addresses[at]


@compiled
def _pairs(tf: Ints, lengths: Ints) -> tuple[Ints, Ints, Ints]:
    """Number the distinct pairs; return the number of each pair, then `tf` and `lengths` of the distinct ones."""
    keys = np.empty(tf.size, np.uint64)
    for at in range(tf.size):
        keys[at] = np.uint64(tf[at]) << _HALF | np.uint64(lengths[at])
    numbers, distinct = number(keys)
    of_tf, of_lengths = np.empty(distinct.size, np.int32), np.empty(distinct.size, np.int32)
    for at in range(distinct.size):
        of_tf[at], of_lengths[at] = np.int32(distinct[at] >> _HALF), np.int32(distinct[at] & _LOW)
    return numbers, of_tf, of_lengths


@compiled
def _joined(left: Ints, right: Ints) -> Ints:
    both = np.empty(left.size + right.size, np.int32)
    both[: left.size] = left
    both[left.size :] = right
    return both


def bake() -> None:
    """Compile for the types that the index uses."""
    keys = np.arange(2, dtype=np.uint64)
    places, _ = number(keys)
    starts = np.array([0, 1, 2], np.int32)
    begins, _, _ = invert(places, places, starts, 2)
    _, of_left, _ = union(keys, keys)
    packed = np.zeros(2, np.uint32)
    place(begins, packed, of_left, 0, places, starts[:2].copy(), packed.copy())
    codes, starts = np.arange(2, dtype=np.uint64), np.array([0, 1, 2], np.int64)
    units: npt.NDArray[np.int32] = np.ones(1, np.int32)
    piece = born(codes, starts, units, np.zeros(2, np.int32))
    described(merged(piece, piece, 2), 0, np.zeros(13, np.int64))
