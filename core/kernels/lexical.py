"""Inner loops over postings and terms.

A posting is a row, relative to its piece, in the high 16 bits and in the low 16 the number of a pair (units of the
term in the row, units of the row's length). The pair says what the posting is worth under any average length.
"""

import numpy as np

from core.kernels.target import Codes, Floats, Ints, Longs, Mask, Packed, compiled

BLOCK = 64  # rows that share the largest of their scores
GUESSES = 3


@compiled
def look_up(terms: Codes, starts: Ints, wanted: Codes, spans: Ints) -> None:
    """Where the postings of each wanted term begin and end; both 0 when it has none.

    `terms` are hashes, ascending: evenly spread, so a proportion finds the neighbourhood (interpolation search:
    Perl, Itai and Avni, 1978).
    """
    density = terms.size / 2.0**56
    for i in range(wanted.size):
        spans[i, 0] = spans[i, 1] = 0
        if terms.size == 0:
            continue
        term, at = wanted[i], 0
        value = np.uint64(0)
        for _ in range(GUESSES):
            step = np.int64((term - value) * density) if term > value else -np.int64((value - term) * density)
            at = min(max(at + step, 0), terms.size - 1)
            value = terms[at]
        while at > 0 and terms[at] > term:
            at -= 1
        while at < terms.size - 1 and terms[at] < term:
            at += 1
        if terms[at] == term:
            spans[i, 0], spans[i, 1] = starts[at], starts[at + 1]


@compiled
def count(packed: Packed, spans: Ints, visible: Mask, df: Longs) -> None:
    """Add to `df` how many visible rows are in each span. `visible` has a flag for each row of the piece."""
    for i in range(df.size):
        for at in range(spans[i, 0], spans[i, 1]):
            df[i] += visible[packed[at] >> np.uint32(16)]


@compiled
def accumulate(
    packed: Packed, spans: Ints, weights: Floats, impacts: Floats, first: int, rows: int, scores: Floats, tops: Floats
) -> None:
    """Score the rows of a piece: for each span that a row is in, its weight times the impact of the pair.

    Raises the `tops` of the blocks that the piece reaches into. No score is negative.
    """
    own = scores[first : first + rows]
    own[:] = 0
    for i in range(weights.size):
        weight = weights[i]
        for at in range(spans[i, 0], spans[i, 1]):
            own[packed[at] >> np.uint32(16)] += weight * impacts[packed[at] & np.uint32(0xFFFF)]
    bits = scores.view(np.int32)  # order as the numbers do, and integers have a maximum that is one instruction
    for block in range(first // BLOCK, (first + rows + BLOCK - 1) // BLOCK):
        highest = np.int32(0)
        start, stop = max(block * BLOCK, first), min((block + 1) * BLOCK, first + rows)
        for row in range(start, stop):
            highest = max(highest, bits[row])
        tops.view(np.int32)[block] = max(tops.view(np.int32)[block], highest)


@compiled
def threshold(scores: Floats, tops: Floats, allowed: Mask, versions: Longs, best: Floats) -> None:
    """The best score of each of the best memories, falling; 0 for those that are missing.

    The rows of a memory stand together and share their version.
    """
    best[:] = 0
    lowest, version, held = np.float32(0), np.int64(-1), np.float32(0)
    for block in range(tops.size):
        if tops[block] <= lowest:
            continue
        for row in range(block * BLOCK, min((block + 1) * BLOCK, scores.size)):
            if scores[row] > lowest and allowed[row]:
                if versions[row] == version:
                    held = max(held, scores[row])
                else:
                    lowest = _insert(best, held)
                    version, held = versions[row], scores[row]
    _insert(best, held)


@compiled
def _insert(best: Floats, value: np.float32) -> np.float32:
    at = best.size - 1
    if value > best[at]:
        while at > 0 and best[at - 1] < value:
            best[at] = best[at - 1]
            at -= 1
        best[at] = value
    return best[best.size - 1]


@compiled
def collect(scores: Floats, tops: Floats, allowed: Mask, lowest: np.float32, out: Longs) -> int:
    """The allowed rows that score above 0 and at least `lowest`, as many as `out` holds, and how many there are."""
    found = 0
    for block in range(tops.size):
        if tops[block] < lowest or tops[block] == 0:
            continue
        for row in range(block * BLOCK, min((block + 1) * BLOCK, scores.size)):
            if scores[row] >= lowest and scores[row] > 0 and allowed[row]:
                if found < out.size:
                    out[found] = row
                found += 1
    return found


@compiled
def has_sequence(starts: Ints, tokens: Ints, rows: Longs, pattern: Ints, out: Mask) -> None:
    """Whether `pattern` stands, unbroken, among the tokens of each row."""
    for i in range(rows.size):
        found = False
        for at in range(starts[rows[i]], starts[rows[i] + 1] - pattern.size + 1):
            same = True
            for j in range(pattern.size):
                if tokens[at + j] != pattern[j]:
                    same = False
                    break
            if same:
                found = True
                break
        out[i] = found


def bake() -> None:
    """Compile for the types that the index uses."""
    codes, longs = np.zeros(1, np.uint64), np.zeros(1, np.int64)
    floats, mask = np.ones(1, np.float32), np.ones(1, np.bool_)
    ints, spans, packed = np.array([0, 1], np.int32), np.zeros((1, 2), np.int32), np.zeros(1, np.uint32)
    look_up(codes, ints, codes, spans)
    count(packed, spans, mask, longs)
    accumulate(packed, spans, floats, floats, 0, 1, floats.copy(), floats.copy())
    threshold(floats, floats, mask, longs, floats.copy())
    collect(floats, floats, mask, np.float32(0), longs.copy())
    has_sequence(ints, ints, np.zeros(1, np.int64), ints[:1], mask.copy())
