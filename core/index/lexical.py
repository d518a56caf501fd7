"""BM25 over a snapshot: Robertson and Zaragoza, "The probabilistic relevance framework", 2009.

idf = ln(1 + (N - df + .5) / (df + .5))
score = sum over terms of idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / average))
N, df and the average count the rows of default visibility, before any filter of the caller.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.index.postings import Postings
from core.index.snapshot import Population, RowNumbers, Snapshot
from core.kernels import Floats, Mask
from core.kernels.lexical import accumulate, count
from core.text import same_text_hash, term_code

K1 = 1.2


@dataclass(frozen=True, slots=True)
class Matches:
    """`scores` of every row: BM25 over its largest possible value, so in [0, 1); 0 where no term stands.

    A memory that says just what the query says has 1. `largest` is the limit that BM25 of these terms approaches;
    `idf` is of the terms that visible or allowed rows contain.
    """

    scores: Floats
    largest: float
    idf: Mapping[str, float]
    norms: Floats


def length_weight(spread: float) -> float:
    """BM25's b from the coefficient of variation of the lengths: short, even texts need no correction for length.

    Fitted on the tuning sets (docs/why.md).

    >>> [round(length_weight(spread), 2) for spread in (0.2, 0.5, 2.0)]
    [0.3, 0.35, 1.0]
    """
    return min(max(1.4 * spread - 0.35, 0.3), 1.0)


def rank_lexical(
    snapshot: Snapshot,
    population: Population,
    terms: Mapping[str, int],
    allowed: Mask,
    *,
    k1: float = K1,
    b: float | None = None,
) -> Matches:
    """Score the allowed rows by the terms, each as often as the query says it. `b` None takes `length_weight`."""
    b = length_weight(population.spread) if b is None else b
    relative = snapshot.rows.length.view(snapshot.size) / np.float32(population.average or 1.0)
    norms = np.float32(k1) * (np.float32(1 - b) + np.float32(b) * relative)
    scores = np.zeros(snapshot.size, np.float32)
    idf: dict[str, float] = {}
    for term, times in terms.items():
        spans = [(piece, *piece.span(term_code(term))) for piece in snapshot.pieces]
        df = _rows_with_term(spans, population.mask)
        weight = math.log(1 + (population.rows - df + 0.5) / (df + 0.5))
        if df or _rows_with_term(spans, allowed):
            idf[term] = weight
        for piece, start, stop in spans:
            if stop > start:
                accumulate(piece.docs, piece.tf, start, stop, times * weight, norms, allowed, scores)
    total = sum(idf[term] * terms[term] for term in idf) or 1.0
    return Matches(scores / np.float32(total), total * (k1 + 1), idf, norms)


def saying_the_same(snapshot: Snapshot, text: str, matches: Matches, allowed: Mask) -> RowNumbers:
    """Allowed rows of memories whose whole text is this one, sought among those with its rarest term."""
    if not matches.idf:
        return np.empty(0, np.int64)
    rows = _with_term(snapshot, max(matches.idf, key=lambda term: matches.idf[term]))
    half = np.frombuffer(same_text_hash(text), np.uint64)[0]
    return rows[(snapshot.rows.text.view()[rows] == half) & allowed[rows]]


def shares(snapshot: Snapshot, matches: Matches, terms: Mapping[str, int], row: int) -> dict[str, float]:
    """What each term adds to the BM25 score of a row."""
    piece = next(piece for piece in snapshot.pieces if piece.first <= row < piece.first + piece.rows)
    scale = matches.largest / (sum(matches.idf[t] * terms[t] for t in matches.idf) or 1.0)
    found: dict[str, float] = {}
    for term, idf in matches.idf.items():
        start, stop = piece.span(term_code(term))
        place = start + int(np.searchsorted(piece.docs[start:stop], row))
        if place < stop and int(piece.docs[place]) == row:
            tf = float(piece.tf[place])
            found[term] = idf * terms[term] * scale * tf / (tf + float(matches.norms[row]))
    return found


def containing(snapshot: Snapshot, required: Iterable[str], phrases: Iterable[tuple[str, ...]], allowed: Mask) -> Mask:
    """The allowed rows with every phrase, of memories that have every required word in one passage or another."""
    for phrase in phrases:
        allowed = allowed & _flags(_with_phrase(snapshot, phrase), snapshot.size)
    versions = snapshot.rows.version.view(snapshot.size)
    for term in required:
        has_term = versions[_with_term(snapshot, term)]
        allowed = allowed & np.isin(versions, has_term)
    return allowed


def _rows_with_term(spans: Sequence[tuple[Postings, int, int]], mask: Mask) -> int:
    return sum(count(piece.docs, start, stop, mask) for piece, start, stop in spans if stop > start)


def _with_phrase(snapshot: Snapshot, phrase: tuple[str, ...]) -> RowNumbers:
    codes = [term_code(term) for term in phrase]
    return np.concatenate([piece.with_phrase(codes) for piece in snapshot.pieces] or [np.empty(0, np.int64)])


def _with_term(snapshot: Snapshot, term: str) -> RowNumbers:
    found = [piece.docs[slice(*piece.span(term_code(term)))].astype(np.int64) for piece in snapshot.pieces]
    return np.concatenate(found or [np.empty(0, np.int64)])


def _flags(rows: RowNumbers, size: int) -> Mask:
    flags = np.zeros(size, np.bool_)
    flags[rows] = True
    return flags
