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

from core.index.population import Population
from core.index.postings import MOST_PAIRS, UNIT
from core.index.scratch import scratch
from core.index.snapshot import RowNumbers, Snapshot
from core.kernels import Floats, Mask
from core.kernels.lexical import BLOCK, best, floor
from core.kernels.pieces import score
from core.text import same_text_hash, term_code

B = 0.4


@dataclass(frozen=True, slots=True)
class Norm:
    """How much a length damps the count of a term."""

    k1: float
    b: float
    average: float

    @property
    def terms(self) -> tuple[float, float]:
        """What stands under the fraction beside the count, in units: a constant, and a factor of the length."""
        return self.k1 / UNIT * (1 - self.b), self.k1 * self.b / (self.average or 1.0)

    def impact(self, tf: npt.NDArray[np.integer], lengths: npt.NDArray[np.integer]) -> npt.NDArray[np.float64]:
        """tf / (tf + k1 * (1 - b + b * length / average)), for counts and lengths in units."""
        constant, factor = self.terms
        return tf / (tf + constant + factor * lengths)


@dataclass(frozen=True, slots=True)
class Matches:
    """`scores` of every row: BM25 over its largest possible value, so in [0, 1); 0 where no term stands.

    Rows that may not be seen have a score too, so that what stands around a row can be asked for. A memory that says
    just what the query says has 1, see `certain`. The arrays are the thread's own: they last until its next ranking.
    `idf` is of the terms that visible or allowed rows contain, `mass` the sum of theirs, each by its weight in
    the query; `unknown` is the weight of the other terms, whose idf is `highest`.
    """

    scores: Floats
    tops: Floats
    idf: Mapping[str, float]
    mass: float
    unknown: float
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


def saturation(average: float) -> float:
    """BM25's k1 from the average length: in short utterances a word says all that it can the first time.

    Fitted on the tuning sets (docs/quality.md).

    >>> [round(saturation(average), 2) for average in (0, 30, 90, 500)]
    [0.5, 0.7, 1.1, 1.6]
    """
    return min(0.5 + average / 150, 1.6)


def rank_lexical(
    snapshot: Snapshot,
    population: Population,
    terms: Mapping[str, float],
    allowed: Mask,
) -> Matches:
    """Score all rows by the terms, each by its weight in the query."""
    norm = Norm(saturation(population.average), B, population.average)
    codes = np.array([term_code(term) for term in terms], np.uint64)
    df = np.array([population.df.get(code, -1) for code in codes.tolist()], np.int64)
    idf, own = np.empty(len(codes)), scratch()
    scores = own.array("lexical scores", np.float32, snapshot.size)
    tops = own.array("lexical tops", np.float32, -(-snapshot.size // BLOCK))
    mass = score(
        snapshot.table,
        codes,
        np.array([*terms.values()], np.float64),
        df,
        population.rows,
        population.mask,
        allowed,
        np.array(norm.terms),
        idf,
        own.array("impacts", np.float32, MOST_PAIRS),
        scores,
        tops,
    )
    if population.rows < snapshot.size:
        population.df.update(zip(codes.tolist(), df.tolist(), strict=True))
    values = {term: value for term, value in zip(terms, idf.tolist(), strict=True) if value}
    unknown = sum(times for term, times in terms.items() if term not in values)
    return Matches(scores, tops, values, mass, unknown, math.log(1 + (population.rows + 0.5) / 0.5), norm)


def best_matches(snapshot: Snapshot, matches: Matches, allowed: Mask, wanted: int) -> RowNumbers:
    """The best row of each of the `wanted` best memories, best first, among the allowed rows that match."""
    columns, size = snapshot.rows, snapshot.size
    versions, high, low = columns.version.view(size), columns.id_high.view(size), columns.id_low.view(size)
    rows, values = np.empty(wanted, np.int64), np.empty(wanted, np.float32)
    lowest = floor(matches.tops, wanted)
    found = best(matches.scores, matches.tops, lowest, allowed, versions, high, low, rows, values)
    if found < wanted and lowest:  # the best rows are of few memories, or hidden
        found = best(matches.scores, matches.tops, np.float32(0), allowed, versions, high, low, rows, values)
    return rows[:found]


def saying_the_same(snapshot: Snapshot, text: str, matches: Matches, allowed: Mask) -> RowNumbers:
    """Allowed rows of memories whose whole text is this one, sought among those with its rarest term."""
    if not matches.idf:
        return np.empty(0, np.int64)
    rows = _with_term(snapshot, max(matches.idf, key=lambda term: matches.idf[term]))
    half = np.frombuffer(same_text_hash(text), np.uint64)[0]
    return rows[(snapshot.rows.text.view()[rows] == half) & allowed[rows]]


def shares(snapshot: Snapshot, matches: Matches, terms: Mapping[str, float], row: int) -> dict[str, float]:
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
