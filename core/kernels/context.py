"""Inner loops over rows and their neighbours in a dialogue: words of neighbours, and order and place of own words."""

import numpy as np

from muisti.core.kernels.dense import Asked, Planes, Shorts, listed, popcount, product, rescore
from muisti.core.kernels.pieces import COLUMNS, read
from muisti.core.kernels.target import Bytes, Codes, Doubles, Floats, Ints, Longs, Mask, compiled

MISSING = -1


@compiled
def beside(
    rows: Longs,
    lexical: Longs,
    numbers: Ints,
    versions: Longs,
    before: Ints,
    after: Ints,
    visible: Mask,
    allowed: Mask,
    reach: int,
) -> Longs:
    """Return `rows` and the allowed rows within `reach` steps of a `lexical` row in a dialogue; distinct, ascending."""
    if after.size == 0:
        return np.unique(rows)
    near = np.empty((lexical.size, 2 * reach), np.int64)
    windows(lexical, numbers, versions, before, after, visible, reach, near)
    for i in range(near.shape[0]):
        for k in range(near.shape[1]):
            if near[i, k] >= 0 and not allowed[near[i, k]]:
                near[i, k] = MISSING
    return numbered(flagged(rows, near, visible.size))[1]


@compiled
def flagged(rows: Longs, near: Longs, size: int) -> Codes:
    """Return a bit for each of `size` rows, set for those of `rows` and `near`, but for `MISSING` places of `near`."""
    flags = np.zeros((size + 63) // 64, np.uint64)
    for row in rows:
        flags[row >> 6] |= np.uint64(1) << np.uint64(row & 63)
    for i in range(near.shape[0]):
        for k in range(near.shape[1]):
            row = near[i, k]
            if row >= 0:
                flags[row >> 6] |= np.uint64(1) << np.uint64(row & 63)
    return flags


@compiled
def numbered(flags: Codes) -> tuple[Longs, Longs]:
    """Return how many bits are set before each word, and the rows whose bits are set, ascending."""
    before, count = np.empty(flags.size, np.int64), 0
    for word in range(flags.size):
        before[word] = count
        count += np.int64(popcount(flags[word]))
    every = np.empty(count, np.int64)
    return before, every[: listed(flags, every)]


@compiled
def _place(row: np.int64, flags: Codes, before: Longs) -> np.int64:
    """Return the place of a row among those whose bits are set."""
    lower = flags[row >> 6] & ((np.uint64(1) << np.uint64(row & 63)) - np.uint64(1))
    return before[row >> 6] + np.int64(popcount(lower))


@compiled
def surround(
    pieces: Longs,
    rows: Longs,
    numbers: Ints,
    versions: Longs,
    lengths: Ints,
    before: Ints,
    after: Ints,
    visible: Mask,
    scores: Floats,
    terms: Codes,
    idf: Doubles,
    weights: Doubles,
    pairs: Ints,
    worth: float,
    norm: Doubles,
    lends: Doubles,
    lead: int,
    near: int,
    out: Doubles,
) -> None:
    """Fill `out` (4, rows) for `rows`, ascending: the result of `neighbour_shares`, then the three of `own_shares`.

    `scores` are those of the rows by these terms, 0 for a row without any. `norm` holds k1 * (1 - b) and k1 * b /
    average length, in units of `lengths`. The worth of a pair of terms is the idf of its rarer one times `worth`, or 0
    when the idf of either is 0.
    """
    reach = lends.size // 2
    around, own, every = np.empty((rows.size if after.size > 0 else 0, 2 * reach), np.int64), np.arange(rows.size), rows
    if after.size > 0:
        windows(rows, numbers, versions, before, after, visible, reach, around)
        flags = flagged(rows, around, visible.size)
        earlier, every = numbered(flags)
        for i in range(rows.size):
            own[i] = _place(rows[i], flags, earlier)
            for k in range(2 * reach):
                if around[i, k] >= 0:
                    around[i, k] = _place(around[i, k], flags, earlier)
    counts, firsts = np.empty((every.size, terms.size), np.int32), np.empty((every.size, terms.size), np.int32)
    close, worths = np.empty((every.size, pairs.shape[0]), np.float32), np.empty(pairs.shape[0])
    read(pieces, every, scores, terms, pairs, near, counts, firsts, close)
    norms = np.empty(every.size)
    for i in range(every.size):
        norms[i] = norm[0] + norm[1] * lengths[every[i]]
    for p in range(pairs.shape[0]):
        one, other = idf[pairs[p, 0]], idf[pairs[p, 1]]
        worths[p] = worth * max(one, other) if one > 0 and other > 0 else 0.0
    leads = np.empty(rows.size, np.int64)
    for i in range(rows.size):
        leads[i] = lead if numbers[rows[i]] == 0 else 0
    out[0] = 0
    if after.size > 0:
        neighbour_shares(own, around, lends, counts, norms, weights, out[0])
    own_shares(own, counts, firsts, close, norms, weights, worths, leads, out[1], out[2], out[3])


@compiled
def windows(
    rows: Longs, numbers: Ints, versions: Longs, before: Ints, after: Ints, visible: Mask, reach: int, out: Longs
) -> None:
    """Fill `out` with the rows around each row: `out[:, :reach]` the steps back, `out[:, reach:]` the steps forth.

    A step leads to the next passage of the memory, or else to the next visible memory of the session. Places beyond
    the end are `MISSING`. So is the whole side of a row whose neighbour there is a passage of the same memory.
    """
    out[:] = MISSING
    for i in range(rows.size):
        at = rows[i]
        for k in range(reach):
            at = _back(at, numbers, versions, before, visible)
            if at < 0 or versions[at] == versions[rows[i]]:
                break
            out[i, k] = at
        at = rows[i]
        for k in range(reach):
            at = _forth(at, numbers, versions, after, visible)
            if at < 0 or versions[at] == versions[rows[i]]:
                break
            out[i, reach + k] = at


@compiled
def _back(row: np.int64, numbers: Ints, versions: Longs, before: Ints, visible: Mask) -> np.int64:
    if numbers[row] > 0:
        return row - 1
    at = _visible(np.int64(before[row]), before, visible)
    while 0 <= at < visible.size - 1 and versions[at + 1] == versions[at]:
        at += 1
    return at


@compiled
def _forth(row: np.int64, numbers: Ints, versions: Longs, after: Ints, visible: Mask) -> np.int64:
    if row + 1 < visible.size and versions[row + 1] == versions[row]:
        return row + 1
    return _visible(np.int64(after[row - numbers[row]]), after, visible)


@compiled
def _visible(row: np.int64, links: Ints, visible: Mask) -> np.int64:
    """Follow `links` from `row` to the first visible row and return it; below 0 when there is none."""
    while 0 <= row < links.size and (row >= visible.size or not visible[row]):
        row = np.int64(links[row])
    return row if row < links.size else np.int64(MISSING)


@compiled
def neighbour_shares(
    own: Longs, near: Longs, lends: Doubles, counts: Ints, norms: Doubles, weights: Doubles, out: Doubles
) -> None:
    """Fill `out` with the share of the query's terms that the rows around each row add to what it covers itself.

    Saturated counts of a term combine as independent probabilities: 1 - (1 - own) * product of (1 - lends[k] * theirs).
    `own[i]` and `near[i, k]` are places in `counts` (rows, terms) and `norms` (rows); `near` is `MISSING` for none.
    """
    for i in range(own.size):
        out[i] = 0
        for t in range(weights.size):
            said = counts[own[i], t] / (counts[own[i], t] + norms[own[i]])
            silent = 1.0 - said
            for k in range(lends.size):
                if near[i, k] >= 0 and counts[near[i, k], t] > 0:
                    times = counts[near[i, k], t]
                    silent *= 1.0 - lends[k] * times / (times + norms[near[i, k]])
            out[i] += weights[t] * (1.0 - silent - said)


@compiled
def own_shares(
    own: Longs,
    counts: Ints,
    firsts: Ints,
    close: Floats,
    norms: Doubles,
    weights: Doubles,
    worths: Doubles,
    lead: Longs,
    late: Doubles,
    order: Doubles,
    said: Doubles,
) -> None:
    """Fill `late`, `order` and `said`, each in [0, 1]: how late, how close together and how completely a row has terms.

    `late` adds up the terms that first occur at place `lead[i]` or later, by weight and saturated count. `order` is the
    saturated sum of `close`, weighted by the `worths` of the pairs. `said` is the weight of the terms that the row has,
    however often.
    """
    for i in range(own.size):
        row = own[i]
        late[i] = order[i] = said[i] = 0
        for t in range(weights.size):
            if counts[row, t] > 0:
                said[i] += weights[t]
            if counts[row, t] > 0 and firsts[row, t] >= lead[i]:
                late[i] += weights[t] * counts[row, t] / (counts[row, t] + norms[row])
        for p in range(worths.size):
            if close[row, p] > 0:
                order[i] += worths[p] * close[row, p] / (close[row, p] + norms[row])


# Cosines beyond that of a passage and a query: with the turns around the passage, and of an expanded query.
#
# A turn is a passage between two others, whose vectors are added to its own with a weight. `near` (rows, 2) has the
# rows before and after each row, below 0 for none; without dialogues it is empty. Their small part of a sum is computed
# from coarse codes alone.


@compiled
def lend(
    planes: Planes,
    asked: Asked,
    rows: Longs,
    numbers: Ints,
    versions: Longs,
    links: tuple[Ints, Ints],
    visible: Mask,
    weight: float,
    cosines: Doubles,
    near: Longs,
    lengths: Doubles,
    out: Doubles,
) -> None:
    """Fill `out` with the change of each row's cosine when the vectors of visible turns around it are added to its own.

    Also fill `near`, and `lengths` with the length of each sum. Rows without a vector have a change of 0.
    """
    codes, scales, _, _ = planes
    windows(rows, numbers, versions, links[0], links[1], visible, 1, near)
    for i in range(rows.size):
        row, one, other = rows[i], near[i, 0], near[i, 1]
        out[i], lengths[i] = 0.0, 1.0
        if scales[row] == 0 or (one < 0 and other < 0):
            continue
        squares = 1 + weight * weight * (_there(scales, one) + _there(scales, other))
        squares += 2 * weight * (_product(codes, scales, row, one) + _product(codes, scales, row, other))
        squares += 2 * weight * weight * _product(codes, scales, one, other)
        lengths[i] = np.sqrt(squares)
        lent = _coarse(codes, scales, asked[0], asked[1], one) + _coarse(codes, scales, asked[0], asked[1], other)
        out[i] = (cosines[i] + weight * lent) / lengths[i] - cosines[i]


@compiled
def expand(
    planes: Planes,
    length: float,
    weight: float,
    rows: Longs,
    cosines: Doubles,
    best: int,
    near: Longs,
    lengths: Doubles,
    turn: float,
    out: Doubles,
) -> None:
    """Fill `out` with the change of each row's cosine when the vector of a row is added to the query's.

    `best` is the place of that row in `rows`. `cosines` are those with the query as it is, of `length`, and with the
    turns around, of weight `turn`, added as `lend` does. Rows without a vector have a change of 0.
    """
    codes, scales, _, _ = planes
    vector = np.zeros(codes.shape[1])
    _add(planes, rows[best], 1.0, vector)
    if near.size > 0 and scales[rows[best]] > 0:
        _add(planes, near[best, 0], turn, vector)
        _add(planes, near[best, 1], turn, vector)
    largest, total, squares = 0.0, 0.0, 0.0
    for d in range(vector.size):
        largest, total = max(largest, abs(vector[d])), total + abs(vector[d])
        squares += vector[d] * vector[d]
    out[:] = 0
    if squares == 0:
        return
    unit = np.sqrt(squares)
    step = max(largest / 32767, 127 * total / (2**31 - 1 - 64 * vector.size))
    short = np.empty(vector.size, np.int16)
    for d in range(vector.size):
        value = np.float64(vector[d])
        short[d] = np.int16(np.round(value / step))
    rescore(*planes, short, step / unit, rows, out)
    shrunk = length / np.sqrt(length * length + 2 * weight * cosines[best] + weight * weight)
    for i in range(rows.size):
        if near.size > 0 and (near[i, 0] >= 0 or near[i, 1] >= 0):
            lent = _coarse(codes, scales, short, step / unit, near[i, 0])
            lent += _coarse(codes, scales, short, step / unit, near[i, 1])
            out[i] = (out[i] + turn * lent) / lengths[i]
        out[i] = shrunk * (cosines[i] + weight * out[i]) - cosines[i] if scales[rows[i]] > 0 else 0.0


@compiled
def _there(scales: Floats, row: np.int64) -> float:
    """Return 1 for a row with a vector, else 0."""
    return 1.0 if row >= 0 and scales[row] > 0 else 0.0


@compiled
def _product(codes: Bytes, scales: Floats, one: np.int64, other: np.int64) -> float:
    """Return the cosine of two rows from their coarse codes; 0 where one is missing."""
    if one < 0 or other < 0:
        return 0.0
    total = np.int32(0)
    for d in range(codes.shape[1]):
        total = np.int32(total + np.int32(np.int32(codes[one, d]) * np.int32(codes[other, d])))
    return np.float64(total) * scales[one] * scales[other]


@compiled
def _coarse(codes: Bytes, scales: Floats, query: Shorts, step: float, row: np.int64) -> float:
    """Return the cosine of a query and a row from its coarse codes; 0 for a missing row."""
    return step * product(codes, row, query) * scales[row] if row >= 0 else 0.0


@compiled
def _add(planes: Planes, row: np.int64, weight: float, vector: Doubles) -> None:
    """Add the vector of a row to `vector`; nothing for a missing row."""
    codes, scales, fine, fine_scales = planes
    if row >= 0:
        for d in range(vector.size):
            vector[d] += weight * (
                np.float64(codes[row, d]) * scales[row] + np.float64(fine[row, d]) * fine_scales[row]
            )


def bake() -> None:
    """Compile for the types that the index uses."""
    longs, ints, mask, doubles = np.zeros(1, np.int64), np.zeros(1, np.int32), np.ones(1, np.bool_), np.ones(2)
    near, floats = np.empty((1, 2), np.int64), np.ones((1, 1), np.float32)
    windows(longs, ints, longs, ints - 1, ints - 1, mask, 1, near)
    neighbour_shares(longs, near - near, doubles, ints.reshape(1, 1), doubles[:1], doubles[:1], doubles[:1].copy())
    counts = ints.reshape(1, 1)
    shares = (doubles[:1].copy(), doubles[:1].copy(), doubles[1:])
    own_shares(longs, counts, counts, floats, doubles[:1], doubles[:1], doubles[:1], longs, *shares)
    beside(longs, longs, ints, longs, ints - 1, ints - 1, mask, mask, 1)
    pieces, codes, pairs = np.zeros((0, COLUMNS), np.int64), np.zeros(0, np.uint64), np.zeros((0, 2), np.int32)
    columns, out = (ints, longs, ints, ints, ints, mask, floats[0]), np.empty((4, 0))
    surround(pieces, longs[:0], *columns, codes, doubles[:0], doubles[:0], pairs, 1.0, doubles, doubles, 1, 1, out)
