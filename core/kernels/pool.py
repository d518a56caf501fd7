"""Inner loops that select rows: the best by score, one for each memory, and those that a filter chooses."""

import numpy as np

from muisti.core.kernels.target import Codes, Doubles, Floats, Ints, Longs, Mask, compiled

MANY = 1_024  # a sorted list of the best is faster than a partition up to here


@compiled
def threshold(scores: Floats, k: int) -> float:
    """Return the k-th largest score, found in a sorted list of the best `k`; -inf when there are fewer scores."""
    best = np.full(k, -np.inf, np.float32)
    for i in range(scores.size):
        value = scores[i]
        if value > best[k - 1]:
            place = k - 1
            while place > 0 and best[place - 1] < value:
                best[place] = best[place - 1]
                place -= 1
            best[place] = value
    return best[k - 1]


@compiled
def kth_largest(scores: Floats, k: int) -> float:
    """Return the k-th largest score, or -inf when there are at most `k` scores."""
    if k >= scores.size:
        return -np.inf
    return threshold(scores, k) if k <= MANY else np.float64(np.partition(scores, scores.size - k)[scores.size - k])


@compiled
def best_memories(
    scores: Doubles,
    rows: Longs,
    version: Longs,
    id_high: Codes,
    id_low: Codes,
    number: Ints,
    above: float,
    wanted: int,
    heap: Longs,
    out: Longs,
) -> int:
    """Fill `out` with the places in `rows` of the best row of each of the `wanted` best memories; return how many.

    Only rows that score above `above` count. The order is by falling score, then memory id, then passage. `heap` is
    scratch, with a place for each row. `version` to `number` are columns of the index.
    """
    size = 0
    for i in range(rows.size):
        if scores[i] > above:
            heap[size] = i
            size += 1
    for top in range(size // 2 - 1, -1, -1):
        sink(heap, top, size, scores, rows, id_high, id_low, number)
    found = 0
    while size > 0 and found < wanted:
        best = heap[0]
        size -= 1
        heap[0] = heap[size]
        sink(heap, 0, size, scores, rows, id_high, id_low, number)
        new = True
        for i in range(found):
            if version[rows[out[i]]] == version[rows[best]]:
                new = False
                break
        if new:
            out[found] = best
            found += 1
    return found


@compiled
def sink(
    heap: Longs, top: int, size: int, scores: Doubles, rows: Longs, id_high: Codes, id_low: Codes, number: Ints
) -> None:
    """Move the entry at `top` down the heap until neither child ranks before it."""
    moving = heap[top]
    while True:
        child = 2 * top + 1
        if child >= size:
            break
        other = child + 1
        if other < size and goes_before(heap[other], heap[child], scores, rows, id_high, id_low, number):
            child = other
        if not goes_before(heap[child], moving, scores, rows, id_high, id_low, number):
            break
        heap[top] = heap[child]
        top = child
    if size > 0:
        heap[top] = moving


@compiled
def goes_before(
    left: int, right: int, scores: Doubles, rows: Longs, id_high: Codes, id_low: Codes, number: Ints
) -> bool:
    """Return whether the place `left` of `rows` ranks before the place `right`."""
    if scores[left] != scores[right]:
        return bool(scores[left] > scores[right])
    a, b = rows[left], rows[right]
    if id_high[a] != id_high[b]:
        return bool(id_high[a] < id_high[b])
    if id_low[a] != id_low[b]:
        return bool(id_low[a] < id_low[b])
    return bool(number[a] < number[b])


@compiled
def count_memories(versions: Longs, chosen: Mask) -> int:
    """Count the memories that have a chosen row; the rows of a memory are adjacent and share their version."""
    found, last = 0, np.int64(-1)
    for row in range(chosen.size):
        if chosen[row] and versions[row] != last:
            last = versions[row]
            found += 1
    return found


# Inner loops that flag the rows which a filter selects


@compiled
def mark(rows: Ints, codes: Ints, chosen: Mask, first: int, flags: Mask) -> None:
    """Set the flag of each row that has a chosen code; `rows` and `codes` are pairs, and `flags` begins at row `first`.

    `chosen` has a flag for each code.
    """
    for i in range(rows.size):
        if chosen[codes[i]]:
            flags[rows[i] - first] = True


def bake() -> None:
    """Compile for the types that the index uses."""
    kth_largest(np.ones(2, np.float32), 1)
    threshold(np.ones(2, np.float32), 1)
    longs, words = np.zeros(1, np.int64), np.zeros(1, np.uint64)
    best_memories(np.ones(1), longs, longs, words, words, np.zeros(1, np.int32), 0.0, 1, longs.copy(), longs.copy())
    count_memories(np.zeros(1, np.int64), np.ones(1, np.bool_))
    ints, mask = np.zeros(1, np.int32), np.zeros(1, np.bool_)
    mark(ints, ints, mask, 0, mask.copy())
