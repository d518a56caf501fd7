"""Cosine over a snapshot: ever fewer rows, each time looked at more closely.

Many rows: their sign bits choose some hundreds. Those, or all when there are few, are scored by their int8 codes, and
what may be among the best by both planes, exactly.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.index.scratch import scratch
from core.index.snapshot import Allowed, RowNumbers, Snapshot
from core.kernels import Floats, Ints, Mask
from core.kernels.dense import LANES, Shorts, Words, above, aim, listed, nearest_signs, rescore, scan
from core.kernels.pool import best_memories, threshold
from core.vectors import rotate

SCANNED = 20_000  # up to this many rows are all scored by their codes
MANY = 1_024  # a sorted list of the best is faster than a partition up to here
DEVIATIONS = 6.0  # of the rounding error of codes, uniform in each component: wider than any that is met

Cosines = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Near:
    """The best row of each memory, best first, and its cosine."""

    rows: RowNumbers
    cosines: Cosines


@dataclass(frozen=True, slots=True)
class Aim:
    """A query: codes times `step` is its direction; `planes` are its signs and weights as bits."""

    codes: Shorts
    step: float
    length: float
    planes: Words


def rotated(vector: Floats) -> Floats:
    """A query's vector in the coordinates of the index."""
    return rotate(vector[None, :])[0]


def cosines(snapshot: Snapshot, direction: Floats, chosen: RowNumbers) -> Cosines:
    """Cosine of the chosen rows to about 1e-5; 0 for a row without a vector. `direction` is `rotated`."""
    return _exact(snapshot, _aim(direction), chosen)


def nearest(snapshot: Snapshot, direction: Floats, allowed: Allowed, wanted: int) -> Near:
    """The `wanted` memories with the highest cosine, by their best row; equal ones by memory id.

    Exact up to `SCANNED` allowed rows. What points away from the query, or nowhere, is no answer to it.
    `direction` is `rotated`.
    """
    query = _aim(direction)
    k = wanted
    while query.step > 0 and allowed.count:
        rows = _candidates(snapshot, query, allowed, k)
        near, lowest = _best(snapshot, query, rows, k, wanted)
        sure = int(np.count_nonzero(near.cosines >= lowest))
        if sure == wanted or lowest <= 0 or len(rows) <= k:
            return near
        k *= 4  # long memories have many passages among the best
    return Near(np.empty(0, np.int64), np.empty(0))


def candidates(count: int, k: int) -> int:
    """How many of `count` rows the sign bits choose for the best `k`.

    Measured on windows of 8 to 60 words: .998 of the best 10 are among them at 20,000 rows, .997 at a million, and .99
    of the best 50.
    """
    return round((375 + 15 * k) * (count / SCANNED) ** 0.25)


def _aim(direction: Floats) -> Aim:
    codes = np.empty(len(direction), np.int16)
    planes = np.empty((3, -(-len(direction) // 64)), np.uint64)
    step = aim(direction, codes, planes)
    return Aim(codes, step, math.sqrt(float(direction @ direction)), planes)


def _candidates(snapshot: Snapshot, query: Aim, allowed: Allowed, k: int) -> Ints:
    """Rows among which the best `k` are: all that are allowed, or those that the sign bits choose."""
    wanted = candidates(allowed.count, k)
    if allowed.count <= max(SCANNED, 2 * wanted):
        rows = scratch().array("dense rows", np.int32, allowed.count)
        return rows[: listed(_packed(allowed.mask), rows)]
    size = 2 * wanted + LANES
    rows, distances = (scratch().array(name, np.int32, size) for name in ("dense rows", "dense distances"))
    counts = scratch().array("dense counts", np.int32, 3 * 64 * query.planes.shape[1] + 1)
    weights = scratch().array("dense weights", np.int64, LANES)
    bits, mask = snapshot.rows.bits.view(snapshot.size), _packed(_embedded(snapshot, allowed.mask))
    return rows[: nearest_signs(bits, query.planes, mask, wanted, weights, rows, distances, counts)]


def _packed(mask: Mask) -> Words:
    """A bit for each flag, the lowest first, in words of LANES."""
    words = scratch().array("dense mask", np.uint64, -(-len(mask) // LANES))
    words[-1] = 0
    words.view(np.uint8)[: -(-len(mask) // 8)] = np.packbits(mask, bitorder="little")
    return words


def _embedded(snapshot: Snapshot, allowed: Mask) -> Mask:
    """Without the rows that have no vector, whose sign bits mean nothing."""
    return allowed & (snapshot.rows.scales.view(snapshot.size) > 0) if snapshot.rows.blanks else allowed


def _best(snapshot: Snapshot, query: Aim, rows: Ints, k: int, wanted: int) -> tuple[Near, float]:
    """The nearest memories of these rows, and the cosine from which on none of them is missing."""
    columns = snapshot.rows
    scores = scratch().array("dense scores", np.float32, len(rows))
    largest = scan(columns.codes.view(), columns.scales.view(), query.codes, rows, scores)
    error = DEVIATIONS / math.sqrt(12) * largest * query.length
    lowest = query.step * _kth_largest(scores, k) - error
    chosen = scratch().array("dense chosen", np.int64, len(rows) + 1)
    chosen = chosen[: above(rows, scores, (lowest - error) / query.step, chosen)]
    exact = _exact(snapshot, query, chosen)
    heap, places = np.empty(len(chosen), np.int64), np.empty(min(wanted, len(chosen)), np.int64)
    ids = (columns.version.view(), columns.id_high.view(), columns.id_low.view(), columns.number.view())
    places = places[: best_memories(exact, chosen, *ids, 0.0, wanted, heap, places)]
    return Near(chosen[places], exact[places]), lowest


def _kth_largest(scores: Floats, k: int) -> float:
    if k >= len(scores):
        return -math.inf
    return threshold(scores, k) if k <= MANY else float(np.partition(scores, -k)[-k])


def _exact(snapshot: Snapshot, query: Aim, chosen: RowNumbers) -> Cosines:
    rows = snapshot.rows
    planes = (rows.codes.view(), rows.scales.view(), rows.fine.view(), rows.fine_scales.view())
    out = np.empty(len(chosen))
    rescore(*planes, query.codes, query.step, chosen, out)
    return out
