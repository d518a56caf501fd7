"""Rows whose vectors are near that of a new memory. One pass over the sign bits leaves few to compare exactly."""

import math
from collections.abc import Sequence

import numpy as np

from muisti.core.index.allowed import Allowed
from muisti.core.index.dense import Near, QueryVector, nearest, query_vector
from muisti.core.index.postings import FIELD_BITS, HASH_MASK, Postings
from muisti.core.index.snapshot import Snapshot
from muisti.core.kernels import Codes, Floats
from muisti.core.kernels.likeness import alike as find
from muisti.core.kernels.likeness import common
from muisti.core.kernels.pool import best_memories

EXACT = 5_000  # up to this many rows the search by vectors is used
DEVIATIONS = 2.7  # standard deviations of the number of components of another sign
ROOM = 4_096  # rows that are compared; where more are near, the required cosine rises
NEAREST = 0.99  # largest cosine that is required


def alike(snapshot: Snapshot, direction: Floats, allowed: Allowed, least: float, wanted: int) -> Near:
    """Return the best row of each of the `wanted` nearest memories with a cosine of at least `least`, best first.

    `direction` is in the coordinates of the index. The result is exact up to `EXACT` allowed rows.
    """
    query = query_vector(direction)
    if allowed.count > EXACT:
        return by_signs(snapshot, query, allowed, least, wanted)
    near = nearest(snapshot, query, allowed, wanted)
    count = int(np.count_nonzero(near.cosines >= least))
    return Near(near.rows[:count], near.cosines[:count])


def by_signs(snapshot: Snapshot, query: QueryVector, allowed: Allowed, least: float, wanted: int) -> Near:
    """Return what `alike` does, found by one pass over the sign bits.

    Two vectors at an angle a differ in the sign of about a / pi of the components (Charikar, "Similarity estimation
    techniques from rounding algorithms", 2002). Components of large weight differ less often, so their share of the
    weight is smaller. Of 2,600 real pairs with a cosine of .6 or more none differed by more than 2.6 standard
    deviations. None had more than .97 of that share of the weight.
    """
    c, dimensions = snapshot.columns, len(query.codes)
    v = c.vectors
    planes = (v.codes, v.scales, v.fine, v.fine_scales)
    rows, cosines = np.empty(ROOM, np.int64), np.empty(ROOM)
    ones, twos = np.bitwise_count(query.planes[1:]).sum(axis=1).tolist()
    found = ROOM + 1
    while found > ROOM and least < NEAREST:
        share = math.acos(least) / math.pi
        most = dimensions * share + DEVIATIONS * math.sqrt(dimensions * share * (1 - share)) + 1
        limits = math.ceil(most), math.ceil((ones + 2 * twos) * share)
        found = find(
            v.bits, query.planes, *limits, allowed.mask, *planes, query.codes, query.step, least, rows, cosines
        )
        least += (1 - least) / 4
    if found < 2:
        return Near(rows[:found], cosines[:found])
    rows, cosines = rows[:found], cosines[:found]
    heap, places = np.empty(len(rows), np.int64), np.empty(min(wanted, len(rows)), np.int64)
    ids = (c.version, c.id_high, c.id_low, c.number)
    places = places[: best_memories(cosines, rows, *ids, 0.0, wanted, heap, places)]
    return Near(rows[places], cosines[places])


def words(codes: Codes) -> Codes:
    """Return the words of a content, ascending; `codes` are the terms of all fields."""
    return np.sort(codes[codes >> FIELD_BITS == 0] & HASH_MASK)


def overlap(pieces: Sequence[Postings], row: int, said: Codes) -> float:
    """Return how many words a row and a text have in common, as a share of the longer one; 0 when both are empty.

    `said` are the words of the text, ascending.
    """
    piece = next(piece for piece in pieces if piece.first <= row < piece.first + piece.rows)
    theirs = piece.words(row)
    theirs.sort()
    return common(said, theirs) / max(len(theirs), len(said), 1)
