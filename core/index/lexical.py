"""BM25 over a snapshot: Robertson and Zaragoza, "The probabilistic relevance framework", 2009.

idf = ln(1 + (N - df + .5) / (df + .5))
score = sum over terms of idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / average))
N, df and the average count the rows of default visibility, before any filter of the caller.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.index.pool import in_order, one_a_memory
from core.index.population import Population
from core.index.postings import UNIT, Postings
from core.index.scratch import scratch
from core.index.snapshot import RowNumbers, Snapshot
from core.kernels import Floats, Longs, Mask
from core.kernels.lexical import BLOCK, accumulate, collect, count, look_up, threshold
from core.text import same_text_hash, term_code

K1 = 1.2
TIES = 4  # times as many rows as are wanted have room at first

Idf = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Norm:
    """How much a length damps the count of a term."""

    k1: float
    b: float
    average: float

    def impact(self, tf: npt.NDArray[np.integer], lengths: npt.NDArray[np.integer]) -> npt.NDArray[np.float64]:
        """tf / (tf + k1 * (1 - b + b * length / average)), for counts and lengths in units."""
        relative = lengths * (UNIT / (self.average or 1.0))
        return tf / (tf + self.k1 / UNIT * (1 - self.b + self.b * relative))


@dataclass(frozen=True, slots=True)
class Matches:
    """`scores` of every row: BM25 over its largest possible value, so in [0, 1); 0 where no term stands.

    Rows that may not be seen have a score too, so that it can be asked for any row what stands around it.
    A memory that says just what the query says has 1, see `certain`. The arrays are the thread's own: they last until
    its next ranking. `idf` is of the terms that visible or allowed rows contain, `mass` the sum of theirs, each as
    often as the query says it; `unknown` counts the other terms, whose idf is `highest`.
    """

    scores: Floats
    tops: Floats
    idf: Idf
    mass: float
    unknown: int
    highest: float
    norm: Norm

    @property
    def known(self) -> float:
        """Share of the query's idf that the terms of the space have."""
        whole = self.mass + self.unknown * self.highest
        return self.mass / whole if whole else 0.0

    def certain(self, rows: RowNumbers) -> None:
        """These rows say just what the query says."""
        self.scores[rows] = 1.0
        self.tops[rows // BLOCK] = 1.0


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
    """Score all rows by the terms, each as often as the query says it. `b` None takes `length_weight`."""
    norm = Norm(k1, length_weight(population.spread) if b is None else b, population.average)
    codes, spans = _spans(snapshot, terms)
    idf = _idf(snapshot, population, dict(zip(terms, codes.tolist(), strict=True)), spans, allowed)
    mass = sum(value * terms[term] for term, value in idf.items())
    weights = np.array([idf.get(term, 0.0) * times / (mass or 1.0) for term, times in terms.items()], np.float32)
    scores = scratch().array("scores", np.float32, snapshot.size)
    tops = scratch().array("tops", np.float32, -(-snapshot.size // BLOCK))
    tops[:] = 0
    for piece, found in zip(snapshot.pieces, spans, strict=True):
        impacts = _impacts(piece, population, norm)
        accumulate(piece.packed, found, weights, impacts, piece.first, piece.rows, scores, tops)
    unknown = sum(terms.values()) - sum(terms[term] for term in idf)
    return Matches(scores, tops, idf, mass, unknown, math.log(1 + (population.rows + 0.5) / 0.5), norm)


def best_matches(snapshot: Snapshot, matches: Matches, allowed: Mask, wanted: int) -> RowNumbers:
    """The best row of each of the `wanted` best memories, best first, among the allowed rows that match."""
    if not wanted:
        return np.empty(0, np.int64)
    best = np.empty(wanted, np.float32)
    versions = snapshot.rows.version.view(snapshot.size)
    threshold(matches.scores, matches.tops, allowed, versions, best)
    rows = np.empty(TIES * wanted, np.int64)
    found = collect(matches.scores, matches.tops, allowed, best[-1], rows)
    if found > len(rows):
        rows = np.empty(found, np.int64)
        collect(matches.scores, matches.tops, allowed, best[-1], rows)
    rows = rows[:found]
    rows = rows[in_order(snapshot, rows, matches.scores[rows])]
    return rows[one_a_memory(snapshot, rows)][:wanted]


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
    found: dict[str, float] = {}
    for term, idf in matches.idf.items():
        packed = piece.packed[slice(*piece.span(term_code(term)))]
        place = int(np.searchsorted(packed, np.uint32((row - piece.first) << 16)))
        if place < len(packed) and int(packed[place]) >> 16 == row - piece.first:
            pair = int(packed[place]) & 0xFFFF
            impact = matches.norm.impact(piece.tf[pair : pair + 1], piece.lengths[pair : pair + 1])[0]
            found[term] = idf * terms[term] * (matches.norm.k1 + 1) * float(impact)
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


def _spans(snapshot: Snapshot, terms: Iterable[str]) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int32]]:
    """The code of each term, and for each piece and term where the postings begin and end."""
    codes = np.array([term_code(term) for term in terms], np.uint64)
    spans = np.empty((len(snapshot.pieces), len(codes), 2), np.int32)
    for piece, found in zip(snapshot.pieces, spans, strict=True):
        look_up(piece.terms, piece.starts, codes, found)
    return codes, spans


def _idf(
    snapshot: Snapshot, population: Population, codes: Mapping[str, int], spans: npt.NDArray[np.int32], allowed: Mask
) -> Idf:
    """The idf of the terms that visible or allowed rows contain."""
    df = _frequencies(snapshot, population, list(codes.values()), spans)
    idf = {term: math.log(1 + (population.rows - n + 0.5) / (n + 0.5)) for term, n in zip(codes, df, strict=True)}
    if all(df):
        return idf
    seen = _count(snapshot, spans, allowed)
    return {term: idf[term] for term, n, m in zip(codes, df, seen.tolist(), strict=True) if n or m}


def _frequencies(
    snapshot: Snapshot, population: Population, codes: list[int], spans: npt.NDArray[np.int32]
) -> list[int]:
    """How many visible rows contain each term."""
    if population.rows == snapshot.size:
        return np.sum(spans[:, :, 1] - spans[:, :, 0], axis=0).tolist()
    known = population.df
    new = [at for at, code in enumerate(codes) if code not in known]
    if new:
        counted = _count(snapshot, np.ascontiguousarray(spans[:, new]), population.mask)
        known.update(zip((codes[at] for at in new), counted.tolist(), strict=True))
    return [known[code] for code in codes]


def _count(snapshot: Snapshot, spans: npt.NDArray[np.int32], mask: Mask) -> Longs:
    df = np.zeros(spans.shape[1], np.int64)
    for piece, found in zip(snapshot.pieces, spans, strict=True):
        count(piece.packed, found, mask[piece.first : piece.first + piece.rows], df)
    return df


def _impacts(piece: Postings, population: Population, norm: Norm) -> Floats:
    """What each pair of a piece is worth; worked out once for a population."""
    known = population.impacts.get((piece.first, norm))
    if known is None:
        known = norm.impact(piece.tf, piece.lengths).astype(np.float32)
        population.impacts[piece.first, norm] = known
    return known


def _with_phrase(snapshot: Snapshot, phrase: tuple[str, ...]) -> RowNumbers:
    codes = [term_code(term) for term in phrase]
    return np.concatenate([piece.with_phrase(codes) for piece in snapshot.pieces] or [np.empty(0, np.int64)])


def _with_term(snapshot: Snapshot, term: str) -> RowNumbers:
    code = term_code(term)
    return np.concatenate([piece.with_term(code) for piece in snapshot.pieces] or [np.empty(0, np.int64)])


def _flags(rows: RowNumbers, size: int) -> Mask:
    flags = np.zeros(size, np.bool_)
    flags[rows] = True
    return flags
