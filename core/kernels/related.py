"""Words of rows that are related to those of a query, by the postings of all pieces."""

import numpy as np

from muisti.core.kernels.lexical import count, look_up
from muisti.core.kernels.pieces import (
    COLUMNS,
    FIRST,
    LENGTHS_AT,
    PAIRS,
    ROWS,
    STARTS_AT,
    TERMS,
    TF_AT,
    ints_at,
    packed_of,
    terms_of,
)
from muisti.core.kernels.target import Codes, Doubles, Ints, Longs, Mask, Packed, compiled


@compiled
def find_related(
    stems: Codes,
    starts: Ints,
    related: Codes,
    cosines: Doubles,
    wanted: Codes,
    codes: Codes,
    places: Longs,
    likeness: Doubles,
    df: Longs,
) -> int:
    """Find the words related to each of the `wanted` ones, without those that are wanted themselves.

    Those of `stems[i]`, ascending, are `related[starts[i]:starts[i + 1]]` with their `cosines`. Fill `codes`, `places`
    (in `wanted`) and `likeness`, and `df` with -1, and return how many there are.
    """
    spans, found = np.empty((wanted.size, 2), np.int32), 0
    look_up(stems, starts, wanted, spans)
    for place in range(wanted.size):
        for at in range(spans[place, 0], spans[place, 1]):
            if not _has(wanted, related[at]):
                codes[found], places[found], likeness[found], df[found] = related[at], place, cosines[at], -1
                found += 1
    return found


@compiled
def _has(codes: Codes, code: np.uint64) -> bool:
    found = False
    for one in codes:
        found |= one == code
    return found


@compiled
def relate(
    pieces: Longs,
    rows: Longs,
    wanted: Codes,
    weights: Doubles,
    mass: float,
    idf: Doubles,
    related: Codes,
    places: Longs,
    likeness: Doubles,
    worth: float,
    df: Longs,
    visible: int,
    mask: Mask,
    highest: float,
    most: int,
    constant: float,
    factor: float,
    out: Doubles,
) -> None:
    """Fill `out`, for each of `rows`, ascending, with what related words bring where the row lacks the query's own.

    `related` are words in the order of the query's. `places[k]` is the place in `wanted` of the word that k is related
    to. Words related to one word are adjacent, the likest first. The first `most` that visible rows have count. Each
    brings the share of the query's word in the `mass` of idf times `worth` and `likeness`. The idf is the smaller one
    of both words, and counts are saturated. A row has the largest that the words related to one word bring. An idf of
    0 is that of a word that no row has. It counts as `highest`.

    A `df` below 0 is counted among `mask`, which has `visible` rows. `constant` and `factor` are the `norm` of
    `pieces.score`.
    """
    out[:] = 0
    spans = np.empty((pieces.shape[0], related.size, 2), np.int32)
    own, bounds = np.empty((pieces.shape[0], wanted.size, 2), np.int32), np.zeros(pieces.shape[0] + 1, np.int64)
    for p in range(pieces.shape[0]):
        piece, at = pieces[p], bounds[p]
        starts = ints_at(piece[STARTS_AT], piece[TERMS] + 1)
        look_up(terms_of(piece), starts, related, spans[p])
        look_up(terms_of(piece), starts, wanted, own[p])
        while at < rows.size and rows[at] < piece[FIRST] + piece[ROWS]:
            at += 1
        bounds[p + 1] = at
    _count(pieces, spans, visible, mask, df)
    values, at = np.empty(rows.size), 0
    while at < related.size:
        term, end, used = places[at], at, 0
        while end < related.size and places[end] == term:
            end += 1
        own_idf = idf[term] if idf[term] > 0 else highest
        for k in range(at, end):
            if df[k] > 0 and used < most:
                if used == 0:
                    values[:] = 0
                used += 1
                rarer = min(own_idf, np.log(1 + (visible - df[k] + 0.5) / (df[k] + 0.5)))
                brings = weights[term] / mass * worth * likeness[k] * rarer
                _raise(pieces, rows, bounds, spans[:, k], brings, constant, factor, values)
        if used > 0:
            _clear(pieces, rows, bounds, own[:, term], values)
            for i in range(rows.size):
                out[i] += values[i]
        at = end


@compiled
def _count(pieces: Longs, spans: Ints, visible: int, mask: Mask, df: Longs) -> None:
    """Fill in each `df` below 0: the number of visible rows with the word."""
    one, found = np.empty((1, 2), np.int32), np.empty(1, np.int64)
    for k in range(df.size):
        if df[k] >= 0:
            continue
        df[k] = 0
        for p in range(pieces.shape[0]):
            piece = pieces[p]
            if visible == mask.size:
                df[k] += spans[p, k, 1] - spans[p, k, 0]
            elif spans[p, k, 1] > spans[p, k, 0]:
                one[0], found[0] = spans[p, k], 0
                count(packed_of(piece), one, mask[piece[FIRST] : piece[FIRST] + piece[ROWS]], found)
                df[k] += found[0]


@compiled
def _raise(
    pieces: Longs,
    rows: Longs,
    bounds: Longs,
    spans: Ints,
    brings: float,
    constant: float,
    factor: float,
    values: Doubles,
) -> None:
    """Raise the value of each row with a word to what it brings times the saturated count.

    Piece p has `rows[bounds[p]:bounds[p + 1]]`.
    """
    for p in range(pieces.shape[0]):
        if spans[p, 1] == spans[p, 0]:
            continue
        piece = pieces[p]
        packed, first = packed_of(piece)[spans[p, 0] : spans[p, 1]], piece[FIRST]
        tf, lengths = ints_at(piece[TF_AT], piece[PAIRS]), ints_at(piece[LENGTHS_AT], piece[PAIRS])
        at = 0
        for i in range(bounds[p], bounds[p + 1]):
            at = _from(packed, at, np.int64(rows[i] - first))
            if at == packed.size:
                break
            if np.int64(packed[at] >> np.uint32(16)) == rows[i] - first:
                pair = packed[at] & np.uint32(0xFFFF)
                values[i] = max(values[i], brings * tf[pair] / (tf[pair] + constant + factor * lengths[pair]))


@compiled
def _clear(pieces: Longs, rows: Longs, bounds: Longs, spans: Ints, values: Doubles) -> None:
    """Set the value of each row with a word to 0. Piece p has `rows[bounds[p]:bounds[p + 1]]`."""
    for p in range(pieces.shape[0]):
        if spans[p, 1] == spans[p, 0]:
            continue
        piece = pieces[p]
        packed, first = packed_of(piece)[spans[p, 0] : spans[p, 1]], piece[FIRST]
        at = 0
        for i in range(bounds[p], bounds[p + 1]):
            at = _from(packed, at, np.int64(rows[i] - first)) if values[i] > 0 else at
            if at == packed.size:
                break
            if np.int64(packed[at] >> np.uint32(16)) == rows[i] - first:
                values[i] = 0.0


@compiled
def _from(packed: Packed, start: int, row: np.int64) -> int:
    """Return the first place from `start` whose posting is not before a row, relative to its piece; else the size.

    Steps double until one goes too far, because the next row is near.
    """
    low, step = start, 1
    while low + step < packed.size and np.int64(packed[low + step] >> np.uint32(16)) < row:
        low += step
        step *= 2
    high = min(low + step, packed.size)
    while low < high:
        middle = (low + high) // 2
        if np.int64(packed[middle] >> np.uint32(16)) < row:
            low = middle + 1
        else:
            high = middle
    return low


def bake() -> None:
    """Compile for the types that the index uses."""
    pieces, codes, longs = np.zeros((0, COLUMNS), np.int64), np.zeros(1, np.uint64), np.zeros(1, np.int64)
    one, mask, ints = np.ones(1), np.ones(1, np.bool_), np.zeros(2, np.int32)
    find_related(codes, ints, codes, one, codes, codes.copy(), longs.copy(), one.copy(), longs.copy())
    query = (codes, one, 1.0, one, codes, longs, one, 0.7)
    relate(pieces, longs, *query, longs, 1, mask, 1.0, 5, 1.0, 1.0, one.copy())
