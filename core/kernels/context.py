"""Inner loops over the rows around a row: what its neighbours in a dialogue lend it, and how it says its own words."""

import numpy as np

from core.kernels.target import Doubles, Floats, Ints, Longs, Mask, compiled

MISSING = -1


@compiled
def windows(
    rows: Longs, numbers: Ints, versions: Longs, before: Ints, after: Ints, visible: Mask, reach: int, out: Longs
) -> None:
    """The rows `reach` steps back, in `out[:, :reach]`, and forth, in `out[:, reach:]`; `MISSING` beyond the end.

    A step leads to the next passage of the memory, or else over to the next visible memory of the session. A row that
    is followed by another of its own memory has nothing on that side.
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
    """The first row from here on that is visible; below 0 when there is none."""
    while 0 <= row < links.size and (row >= visible.size or not visible[row]):
        row = np.int64(links[row])
    return row if row < links.size else np.int64(MISSING)


@compiled
def lent(own: Longs, near: Longs, lends: Doubles, counts: Ints, norms: Doubles, weights: Doubles, out: Doubles) -> None:
    """What the rows around add to the share of the query's terms that a row covers.

    A term counts as said by the row or by a neighbour, as independent chances: `lends[k]` of what neighbour k says.
    `own[i]` and `near[i, k]` are places in `counts` (rows, terms) and `norms` (rows); `near` is `MISSING` for none.
    """
    for i in range(own.size):
        out[i] = 0
        for t in range(weights.size):
            said = counts[own[i], t] / (counts[own[i], t] + norms[own[i]])
            silent = 1.0 - said
            for k in range(lends.size):
                if near[i, k] >= 0:
                    times = counts[near[i, k], t]
                    silent *= 1.0 - lends[k] * times / (times + norms[near[i, k]])
            out[i] += weights[t] * (1.0 - silent - said)


@compiled
def told(
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
) -> None:
    """How late a row says the terms of the query, and how close together: both in [0, 1].

    `late` is the share of the terms that first stand at place `lead[i]` or behind, `order` the saturated sum of `close`
    by the `worths` of the pairs.
    """
    for i in range(own.size):
        row = own[i]
        late[i] = order[i] = 0
        for t in range(weights.size):
            if counts[row, t] > 0 and firsts[row, t] >= lead[i]:
                late[i] += weights[t] * counts[row, t] / (counts[row, t] + norms[row])
        for p in range(worths.size):
            if close[row, p] > 0:
                order[i] += worths[p] * close[row, p] / (close[row, p] + norms[row])


def bake() -> None:
    """Compile for the types that the index uses."""
    rows, ints, versions = np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros(1, np.int64)
    near = np.zeros((1, 2), np.int64)
    windows(rows, ints, versions, ints - 1, ints - 1, np.ones(1, np.bool_), 1, near)
    counts, doubles = np.zeros((1, 1), np.int32), np.ones(1)
    lent(rows, near, np.ones(2), counts, doubles, doubles, doubles.copy())
    close = np.zeros((1, 1), np.float32)
    told(rows, counts, counts, close, doubles, doubles, doubles, rows, doubles.copy(), doubles.copy())
