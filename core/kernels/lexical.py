"""Inner loops over postings and terms.

The high 16 bits of a posting are a row, relative to its piece. The low 16 bits are the number of a pair: units of the
term in the row, and units of the row's length. The pair gives the score of the posting for any average length.
"""

import numpy as np

from muisti.core.kernels.target import Codes, Floats, Ints, Longs, Mask, Packed, compiled

BLOCK = 64  # rows that share the largest of their scores
STEP_BITS = 20  # of a float's 32: scores of one step differ by an eighth at most
STEPS = (0x3F800000 >> STEP_BITS) + 1  # up to 1.0
GUESSES = 3


@compiled
def find(terms: Codes, wanted: Codes, places: Ints) -> None:
    """Fill `places` with the place of each wanted term in `terms`, -1 for a missing one.

    `terms` are hashes, ascending. They are evenly spread, so interpolation search lands near the place (Perl, Itai and
    Avni, 1978). Each step is made for all terms, so that the processor waits for several reads of memory together.
    """
    if terms.size == 0:
        places[:] = -1
        return
    density, last = terms.size / 2.0**56, np.int64(terms.size - 1)
    values = np.zeros(wanted.size, np.int64)
    places[:] = 0
    for _ in range(GUESSES):
        for i in range(wanted.size):
            at = places[i] + np.int64((np.int64(wanted[i]) - values[i]) * density)
            at = min(max(at, np.int64(0)), last)
            places[i], values[i] = at, np.int64(terms[at])
    for i in range(wanted.size):
        at = np.int64(places[i])
        while at > 0 and terms[at] > wanted[i]:
            at -= 1
        while at < last and terms[at] < wanted[i]:
            at += 1
        places[i] = at if terms[at] == wanted[i] else -1


@compiled
def look_up(terms: Codes, starts: Ints, wanted: Codes, spans: Ints) -> None:
    """Fill `spans` with the places where the postings of each wanted term begin and end; both 0 when it has none."""
    places = np.empty(wanted.size, np.int32)
    find(terms, wanted, places)
    for i in range(wanted.size):
        at = places[i]
        spans[i, 0] = starts[at] if at >= 0 else 0
        spans[i, 1] = starts[at + 1] if at >= 0 else 0


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
    """Score the rows of a piece: add up, for each span that contains a row, its weight times the impact of the pair.

    The function raises the `tops` of the blocks that the piece reaches into. No score is negative.
    """
    own = scores[first : first + rows]
    own[:] = 0
    for i in range(weights.size):
        weight = weights[i]
        for at in range(spans[i, 0], spans[i, 1]):
            own[packed[at] >> np.uint32(16)] += weight * impacts[packed[at] & np.uint32(0xFFFF)]
    bits, highest = scores.view(np.int32), tops.view(np.int32)  # positive floats have the order of their bits
    for block in range(first // BLOCK, (first + rows + BLOCK - 1) // BLOCK):
        inside = bits[max(block * BLOCK, first) : min((block + 1) * BLOCK, first + rows)]
        top = highest[block]
        for i in range(inside.size):
            top = np.int32(max(top, inside[i]))  # cast, or numba widens to 64 bits and the loop is ten times as slow
        highest[block] = top


@compiled
def lower(scores: Floats, tops: Floats, allowed: Mask) -> None:
    """Lower each of the `tops` to the largest score of an allowed row of its block, 0 when none is allowed."""
    bits, highest = scores.view(np.int32), tops.view(np.int32)
    for block in range(tops.size):
        if highest[block] == 0:
            continue
        inside, flags = bits[block * BLOCK : (block + 1) * BLOCK], allowed[block * BLOCK : (block + 1) * BLOCK]
        top = np.int32(0)
        for i in range(inside.size):
            top = np.int32(max(top, np.int32(inside[i] * np.int32(flags[i]))))
        highest[block] = top


@compiled
def floor(tops: Floats, wanted: int) -> np.float32:
    """Return a score that at least `wanted` blocks reach, nearly the highest such; 0 when fewer blocks have scores."""
    counts, bits = np.zeros(STEPS, np.int32), tops.view(np.int32)
    for block in range(bits.size):
        counts[bits[block] >> STEP_BITS] += 1
    reached = 0
    for step in range(STEPS - 1, 0, -1):
        reached += counts[step]
        if reached >= wanted:
            return np.array([step << STEP_BITS], np.int32).view(np.float32)[0]
    return np.float32(0)


@compiled
def best(
    scores: Floats, tops: Floats, allowed: Mask, versions: Longs, high: Codes, low: Codes, wanted: int
) -> tuple[Longs, Floats]:
    """Return the best row of each of the `wanted` best memories, best first, and their scores.

    Only allowed rows that score above 0 count. The rows of a memory are adjacent and share their version. Memories of
    the same score are ordered by id, `high` then `low`.
    """
    rows, values, lowest = np.empty(wanted, np.int64), np.empty(wanted, np.float32), floor(tops, wanted)
    found = _pick(scores, tops, lowest, allowed, versions, high, low, rows, values)
    if found < wanted and lowest > 0:  # the best rows are of few memories, or hidden
        found = _pick(scores, tops, np.float32(0), allowed, versions, high, low, rows, values)
    return rows[:found], values[:found]


@compiled
def _pick(
    scores: Floats,
    tops: Floats,
    lowest: np.float32,
    allowed: Mask,
    versions: Longs,
    high: Codes,
    low: Codes,
    rows: Longs,
    values: Floats,
) -> int:
    """Fill `rows` and `values` as `best` does, from rows that score at least `lowest`; return how many there are."""
    found, held, value = 0, -1, np.float32(0)
    for block in range(tops.size):
        if tops[block] < lowest or tops[block] == 0:
            continue
        inside = scores[block * BLOCK : (block + 1) * BLOCK]
        for i in range(inside.size):
            row = block * BLOCK + i
            if inside[i] < lowest or inside[i] == 0 or not allowed[row]:
                continue
            if held >= 0 and versions[held] == versions[row]:
                if scores[row] > value:
                    held, value = row, scores[row]
                continue
            if held >= 0:
                found = _insert(held, value, high, low, rows, values, found)
                if found == rows.size:
                    lowest = values[found - 1]
            held, value = row, scores[row]
    return _insert(held, value, high, low, rows, values, found) if held >= 0 else found


@compiled
def _insert(row: int, value: np.float32, high: Codes, low: Codes, rows: Longs, values: Floats, found: int) -> int:
    """Insert a row among the `found` best if it ranks there; return how many there are then."""
    at = found
    while at > 0:
        above = rows[at - 1]
        same = values[at - 1] == value
        if values[at - 1] > value or (same and (high[above], low[above]) < (high[row], low[row])):
            break
        at -= 1
    if at < rows.size:
        for place in range(min(found, rows.size - 1), at, -1):
            rows[place], values[place] = rows[place - 1], values[place - 1]
        rows[at], values[at] = row, value
    return min(found + 1, rows.size)


@compiled
def has_sequence(starts: Ints, tokens: Ints, rows: Longs, pattern: Ints, out: Mask) -> None:
    """Fill `out` with whether the tokens of each row contain `pattern` as one unbroken sequence."""
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
    lower(floats, floats.copy(), mask)
    floor(floats, 1)
    best(floats, floats, mask, longs, codes, codes, 1)
    has_sequence(ints, ints, np.zeros(1, np.int64), ints[:1], mask.copy())
