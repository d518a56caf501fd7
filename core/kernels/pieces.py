"""Loops over all pieces of postings in one call, since a call costs microseconds and a query needs several a piece.

A piece is a row of sizes and addresses. The caller keeps references to its arrays until the kernel returns.
"""

import numpy as np

from muisti.core.kernels.lexical import BLOCK, accumulate, count, find, look_up, lower
from muisti.core.kernels.target import Codes, Doubles, Floats, Ints, Longs, Mask, Packed, array_at, compiled, fetch

FIRST, ROWS, TERMS, POSTINGS, PAIRS, TOKENS = range(6)  # sizes
TERMS_AT, STARTS_AT, PACKED_AT, TF_AT, LENGTHS_AT, TOKEN_STARTS_AT, TOKENS_AT = range(6, 13)  # addresses
COLUMNS = 13

SKETCH = 1_024  # flags, shared by the terms whose places have the same lowest bits: few have that of a query's term
AHEAD = 10  # rows: how far ahead tokens are prefetched
LINES = 512  # bytes of tokens that are prefetched, at most
COMMON = 10_000  # rows with a term; beyond, an allowed one is taken for granted


@compiled
def ints_at(address: int, size: int) -> Ints:
    return array_at(address, size, np.int32)


@compiled
def terms_of(piece: Longs) -> Codes:
    return array_at(piece[TERMS_AT], piece[TERMS], np.uint64)


@compiled
def packed_of(piece: Longs) -> Packed:
    return array_at(piece[PACKED_AT], piece[POSTINGS], np.uint32)


@compiled
def score(
    pieces: Longs,
    wanted: Codes,
    times: Doubles,
    df: Longs,
    rows: int,
    visible: Mask,
    allowed: Mask,
    filtered: bool,
    norm: Doubles,
    idf: Doubles,
    impacts: Floats,
    scores: Floats,
    tops: Floats,
) -> tuple[float, float, float]:
    """Fill `scores` with the BM25 of every row divided by its limit, and `tops` with the largest score of each block.

    When the search is `filtered`, the `tops` are those of the allowed rows alone.

    Return the limit, how many terms are unknown, and the share of the limit whose terms an allowed row has. The limit
    is the sum of the idf of the known terms. Terms count by their `times`. A term is known when a visible or an allowed
    row has it; the `idf` of the others is 0.

    A `df` below 0 is counted among `visible`; `rows` is how many rows are visible. `norm` holds k1 * (1 - b) and
    k1 * b / average length, in units. `impacts` is scratch with a place for each pair of the largest piece.
    """
    spans = np.empty((pieces.shape[0], wanted.size, 2), np.int32)
    for p in range(pieces.shape[0]):
        piece = pieces[p]
        look_up(terms_of(piece), ints_at(piece[STARTS_AT], piece[TERMS] + 1), wanted, spans[p])
    _frequencies(pieces, spans, visible, rows == visible.size, df, df < 0)
    anywhere = df.copy()
    _frequencies(pieces, spans, allowed, False, anywhere, df == 0)
    mass, unknown, there = 0.0, 0.0, 0.0
    for i in range(wanted.size):
        unknown += times[i] * (anywhere[i] == 0)
        idf[i] = np.log(1 + (rows - df[i] + 0.5) / (df[i] + 0.5)) if anywhere[i] > 0 else 0.0
        mass += times[i] * idf[i]
        if filtered and 0 < df[i] <= COMMON and not _stands(pieces, spans, i, allowed):
            continue
        there += times[i] * idf[i]
    weights = np.empty(wanted.size, np.float32)
    for i in range(wanted.size):
        weights[i] = times[i] * idf[i] / mass if mass > 0 else 0.0
    tops[:] = 0
    for p in range(pieces.shape[0]):
        piece = pieces[p]
        tf, lengths = ints_at(piece[TF_AT], piece[PAIRS]), ints_at(piece[LENGTHS_AT], piece[PAIRS])
        for i in range(tf.size):
            impacts[i] = tf[i] / (tf[i] + norm[0] + norm[1] * lengths[i])
        accumulate(packed_of(piece), spans[p], weights, impacts, piece[FIRST], piece[ROWS], scores, tops)
    if filtered:
        lower(scores, tops, allowed)
    return mass, unknown, there / mass if mass > 0 else 0.0


@compiled
def _stands(pieces: Longs, spans: Ints, term: int, mask: Mask) -> bool:
    """Return whether a row of the mask has a term."""
    for p in range(pieces.shape[0]):
        packed = packed_of(pieces[p])
        for at in range(spans[p, term, 0], spans[p, term, 1]):
            if mask[pieces[p, FIRST] + np.int64(packed[at] >> np.uint32(16))]:
                return True
    return False


@compiled
def certain(
    pieces: Longs, term: np.uint64, texts: Codes, text: np.uint64, allowed: Mask, scores: Floats, tops: Floats
) -> None:
    """Give a score of 1 to the allowed rows that have a term and whose memory's text has this hash."""
    wanted, span = np.array([term], np.uint64), np.empty((1, 2), np.int32)
    for p in range(pieces.shape[0]):
        piece = pieces[p]
        look_up(terms_of(piece), ints_at(piece[STARTS_AT], piece[TERMS] + 1), wanted, span)
        packed = packed_of(piece)
        for at in range(span[0, 0], span[0, 1]):
            row = piece[FIRST] + np.int64(packed[at] >> np.uint32(16))
            if texts[row] == text and allowed[row]:
                scores[row] = tops[row // BLOCK] = np.float32(1)


@compiled
def _frequencies(pieces: Longs, spans: Ints, mask: Mask, everything: bool, df: Longs, which: Mask) -> None:
    """Set `df` of the terms in `which` to the number of rows of the mask with each, or of all with `everything`."""
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
            count(packed_of(piece), chosen, mask[piece[FIRST] : piece[FIRST] + piece[ROWS]], counted)
    for i in range(df.size):
        if which[i]:
            df[i] = counted[i]


@compiled
def read(
    pieces: Longs,
    rows: Longs,
    scores: Floats,
    terms: Codes,
    pairs: Ints,
    near: int,
    counts: Ints,
    firsts: Ints,
    close: Floats,
) -> None:
    """Count the terms of a query in the contents of `rows`, ascending, and measure how close pairs of them are.

    `scores` are those of `score`, by row: a row with 0 has none of the terms, so it is not read.

    `counts[i, t]` is how often row i has term t; `firsts[i, t]` is the place of the first, -1 for none. `close[i, p]`
    sums a closeness over each occurrence of `pairs[p, 0]`. That is 1 / distance to the nearest `pairs[p, 1]` within
    `near` places behind it; one before it counts half as much.
    """
    counts[:], firsts[:], close[:] = 0, -1, 0
    places, sketch = np.empty(terms.size, np.int32), np.empty(SKETCH, np.bool_)
    p, known = -1, False
    for i in range(rows.size):
        if scores[rows[i]] == 0:
            continue
        while p < 0 or rows[i] >= pieces[p, FIRST] + pieces[p, ROWS]:
            p, known = p + 1, False
        piece = pieces[p]
        if not known:
            sketch[:] = False
            find(terms_of(piece), terms, places)
            for t in range(terms.size):
                if places[t] >= 0:
                    sketch[places[t] & (SKETCH - 1)] = True
            known = True
        starts, row = ints_at(piece[TOKEN_STARTS_AT], piece[ROWS] + 1), rows[i] - piece[FIRST]
        tokens = ints_at(piece[TOKENS_AT], piece[TOKENS])
        _prefetch(piece, starts, rows, i)
        _read_row(tokens, int(starts[row]), int(starts[row + 1]), places, sketch, pairs, near, i, counts, firsts, close)


@compiled
def telling(pieces: Longs, rows: Longs, scores: Floats, terms: Codes, weights: Doubles) -> float:
    """Return the largest weight, in sum, of the terms of a query that the content of one of the rows has."""
    ordered, pairs = np.sort(rows), np.empty((0, 2), np.int32)
    counts, firsts = np.empty((rows.size, terms.size), np.int32), np.empty((rows.size, terms.size), np.int32)
    read(pieces, ordered, scores, terms, pairs, 0, counts, firsts, np.empty((rows.size, 0), np.float32))
    most = 0.0
    for i in range(rows.size):
        held = 0.0
        for t in range(terms.size):
            if counts[i, t] > 0:
                held += weights[t]
        most = max(most, held)
    return most


@compiled
def _prefetch(piece: Longs, starts: Ints, rows: Longs, i: int) -> None:
    """Prefetch the tokens of a row that is read soon, and where those of a later one start."""
    soon, later = min(i + AHEAD, rows.size - 1), min(i + 2 * AHEAD, rows.size - 1)
    if rows[later] < piece[FIRST] + piece[ROWS]:
        fetch(piece[TOKEN_STARTS_AT] + 4 * (rows[later] - piece[FIRST]), 8)
    if rows[soon] < piece[FIRST] + piece[ROWS]:
        row = rows[soon] - piece[FIRST]
        fetch(piece[TOKENS_AT] + 4 * np.int64(starts[row]), min(4 * int(starts[row + 1] - starts[row]), LINES))


@compiled
def _read_row(
    tokens: Ints,
    start: int,
    stop: int,
    places: Ints,
    sketch: Mask,
    pairs: Ints,
    near: int,
    row: int,
    counts: Ints,
    firsts: Ints,
    close: Floats,
) -> None:
    for at in range(start, stop):
        if not sketch[tokens[at] & (SKETCH - 1)]:
            continue
        for t in range(places.size):
            if places[t] == tokens[at]:
                counts[row, t] += 1
                if firsts[row, t] < 0:
                    firsts[row, t] = at - start
                for p in range(pairs.shape[0]):
                    if pairs[p, 0] == t:
                        close[row, p] += _closeness(tokens, start, stop, at, int(places[pairs[p, 1]]), near)


@compiled
def _closeness(tokens: Ints, start: int, stop: int, at: int, other: int, near: int) -> np.float32:
    best = np.float32(0)
    if other >= 0:
        for distance in range(1, near + 1):
            if at + distance < stop and tokens[at + distance] == other:
                best = max(best, np.float32(1 / distance))
            if at - distance >= start and tokens[at - distance] == other:
                best = max(best, np.float32(0.5 / distance))
    return best


def bake() -> None:
    """Compile for the types that the index uses."""
    pieces, codes, longs = np.zeros((0, COLUMNS), np.int64), np.zeros(1, np.uint64), np.zeros(1, np.int64)
    mask, floats, doubles = np.ones(1, np.bool_), np.ones(1, np.float32), np.ones(2)
    score(pieces, codes, doubles[:1], longs, 1, mask, mask, True, doubles, doubles, floats, floats, floats)
    certain(pieces, codes[0], codes, codes[0], mask, floats, floats)
    ints = np.zeros((0, 1), np.int32)
    telling(pieces, longs[:0], floats, codes, doubles)
    read(pieces, longs[:0], floats, codes, np.zeros((0, 2), np.int32), 3, ints, ints, np.zeros((0, 1), np.float32))
