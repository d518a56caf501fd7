"""Many pieces of postings in one call: a call of a kernel costs microseconds, and a query would need several a piece.

A piece is a row of sizes and addresses. Whoever calls holds on to the arrays until the kernel returns.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.numpy_support import carray

from core.kernels.lexical import accumulate, count, find, look_up
from core.kernels.target import Codes, Doubles, Floats, Ints, Longs, Mask, Packed, compiled

FIRST, ROWS, TERMS, POSTINGS, PAIRS, TOKENS = range(6)  # sizes
TERMS_AT, STARTS_AT, PACKED_AT, TF_AT, LENGTHS_AT, STOP_AT, TOKEN_STARTS_AT, TOKENS_AT = range(6, 14)  # addresses
COLUMNS = 14


@intrinsic
def _pointer(_: Any, address: Any) -> Any:
    def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(address), emit


_at = cast(Callable[[int], Any], _pointer)
_array = cast(Callable[[Any, tuple[int, ...], type[np.generic]], Any], carray)


@compiled
def _ints(address: int, size: int) -> Ints:
    return _array(_at(address), (size,), np.int32)


@compiled
def _terms(piece: Longs) -> Codes:
    return _array(_at(piece[TERMS_AT]), (piece[TERMS],), np.uint64)


@compiled
def _packed(piece: Longs) -> Packed:
    return _array(_at(piece[PACKED_AT]), (piece[POSTINGS],), np.uint32)


@compiled
def _stop(piece: Longs) -> Mask:
    return _array(_at(piece[STOP_AT]), (piece[TERMS],), np.bool_)


@compiled
def score(
    pieces: Longs,
    wanted: Codes,
    times: Longs,
    df: Longs,
    rows: int,
    visible: Mask,
    allowed: Mask,
    norm: Doubles,
    idf: Doubles,
    impacts: Floats,
    scores: Floats,
    tops: Floats,
) -> float:
    """BM25 of every row over its limit, and that limit: the sum of the idf of the known terms.

    A `df` below 0 is counted among `visible`; `rows` is how many these are. A term is known when a visible or an
    allowed row has it; the `idf` of the others is 0. `norm` holds k1 * (1 - b) and k1 * b / average length, in units.
    `impacts` is room for the pairs of any piece.
    """
    spans = np.empty((pieces.shape[0], wanted.size, 2), np.int32)
    for p in range(pieces.shape[0]):
        piece = pieces[p]
        look_up(_terms(piece), _ints(piece[STARTS_AT], piece[TERMS] + 1), wanted, spans[p])
    _frequencies(pieces, spans, visible, rows == visible.size, df, df < 0)
    anywhere = df.copy()
    _frequencies(pieces, spans, allowed, False, anywhere, df == 0)
    mass = 0.0
    for i in range(wanted.size):
        idf[i] = np.log(1 + (rows - df[i] + 0.5) / (df[i] + 0.5)) if anywhere[i] > 0 else 0.0
        mass += times[i] * idf[i]
    weights = np.empty(wanted.size, np.float32)
    for i in range(wanted.size):
        weights[i] = times[i] * idf[i] / mass if mass > 0 else 0.0
    tops[:] = 0
    for p in range(pieces.shape[0]):
        piece = pieces[p]
        tf, lengths = _ints(piece[TF_AT], piece[PAIRS]), _ints(piece[LENGTHS_AT], piece[PAIRS])
        for i in range(tf.size):
            impacts[i] = tf[i] / (tf[i] + norm[0] + norm[1] * lengths[i])
        accumulate(_packed(piece), spans[p], weights, impacts, piece[FIRST], piece[ROWS], scores, tops)
    return mass


@compiled
def _frequencies(pieces: Longs, spans: Ints, mask: Mask, everything: bool, df: Longs, which: Mask) -> None:
    """For the terms that `which` says: how many rows of the mask have each, or how many have it at all."""
    if not which.any():
        return
    counted, chosen = np.zeros(df.size, np.int64), np.zeros((df.size, 2), np.int32)
    for p in range(pieces.shape[0]):
        piece = pieces[p]
        for i in range(df.size):
            if which[i] and everything:
                counted[i] += spans[p, i, 1] - spans[p, i, 0]
            elif which[i]:
                chosen[i] = spans[p, i]
        if not everything:
            count(_packed(piece), chosen, mask[piece[FIRST] : piece[FIRST] + piece[ROWS]], counted)
    for i in range(df.size):
        if which[i]:
            df[i] = counted[i]


@compiled
def adjacent(pieces: Longs, rows: Longs, terms: Codes, skip: bool, found: Ints) -> None:
    """Count in `found[i, j]` how often terms j and j + 1 stand side by side in the content of row i.

    With `skip` the content is read without its stop words.
    """
    found[:] = 0
    places = np.empty(terms.size, np.int32)
    for p in range(pieces.shape[0]):
        piece, known = pieces[p], False
        starts, tokens = _ints(piece[TOKEN_STARTS_AT], piece[ROWS] + 1), _ints(piece[TOKENS_AT], piece[TOKENS])
        stop = _stop(piece)
        for i in range(rows.size):
            row = rows[i] - piece[FIRST]
            if row < 0 or row >= piece[ROWS]:
                continue
            if not known:
                for j in range(terms.size):
                    places[j] = find(_terms(piece), terms[j])
                known = True
            _count_pairs(tokens[starts[row] : starts[row + 1]], stop, skip, places, found[i])


@compiled
def _count_pairs(tokens: Ints, stop: Mask, skip: bool, places: Ints, found: Ints) -> None:
    sketch = np.uint64(0)  # a bit for each of the places; few other tokens share one
    for place in places:
        sketch |= np.uint64(1) << np.uint64(place & 63)
    before = np.int32(-2)  # -1 is a term that the piece does not have
    for token in tokens:
        if not (sketch >> np.uint64(token & 63)) & np.uint64(1):
            if before >= 0 and not (skip and stop[token]):
                before = np.int32(-2)
        elif not (skip and stop[token]):
            for j in range(found.size):
                if places[j] == before and places[j + 1] == token:
                    found[j] += 1
            before = token


@compiled
def order_kept(
    found: Ints, rows: Longs, lengths: Ints, unit: int, norm: Doubles, population: int, out: Doubles
) -> None:
    """BM25 of pairs of terms over its limit, from how often each row has each; df is counted among these rows.

    `unit` is what one occurrence counts; `norm` as for `score`.
    """
    out[:] = 0
    highest = np.log(1 + (population + 0.5) / 0.5)
    for j in range(found.shape[1]):
        df = 0
        for i in range(rows.size):
            df += found[i, j] > 0
        df = min(df, population)
        share = np.log(1 + (population - df + 0.5) / (df + 0.5)) / (found.shape[1] * highest)
        for i in range(rows.size):
            if found[i, j]:
                tf = unit * found[i, j]
                out[i] += share * tf / (tf + norm[0] + norm[1] * lengths[rows[i]])


def bake() -> None:
    """Compile for the types that the index uses."""
    pieces, codes, longs = np.zeros((0, COLUMNS), np.int64), np.zeros(1, np.uint64), np.zeros(1, np.int64)
    mask, floats, doubles = np.ones(1, np.bool_), np.ones(1, np.float32), np.ones(2)
    score(pieces, codes, longs, longs, 1, mask, mask, doubles, doubles, floats, floats, floats)
    found = np.zeros((1, 1), np.int32)
    adjacent(pieces, longs, np.zeros(2, np.uint64), True, found)
    order_kept(found, longs, np.ones(1, np.int32), 1, doubles, 1, doubles)
