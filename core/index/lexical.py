"""BM25 over a snapshot: Robertson and Zaragoza, "The probabilistic relevance framework", 2009.

    idf = ln(1 + (N - df + .5) / (df + .5))
    score = sum over terms of idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / average))

N, df and the average count the rows of default visibility, before any filter of the caller.
"""

import math
import threading
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from muisti.core.embedding.models import NONE, related_words
from muisti.core.index.collection_statistics import CollectionStatistics
from muisti.core.index.postings import MOST_PAIRS, UNIT, Postings
from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.kernels import Codes, Doubles, Floats, Ints, Mask
from muisti.core.kernels.context import beside, surround
from muisti.core.kernels.lexical import BLOCK, best
from muisti.core.kernels.pieces import certain, score
from muisti.core.kernels.related import relate
from muisti.core.query.query import Wanted
from muisti.core.text.terms import same_text_hash, term_code

# Scratch arrays that a thread reuses: without them each search allocates several arrays as long as the index

T = TypeVar("T", bound=np.generic)


class Scratch(threading.local):
    """One array for each name and thread. A later request for a name may overwrite what an earlier one returned."""

    def __init__(self) -> None:
        self._arrays: dict[str, npt.NDArray[Any]] = {}

    def array(self, name: str, dtype: type[T], size: int) -> npt.NDArray[T]:
        """Return `size` places of the array of this name; their values are left over from earlier use."""
        known = self._arrays.get(name)
        if known is None or len(known) < size or known.dtype != dtype:
            known = self._arrays[name] = np.zeros(max(size, 2 * (0 if known is None else len(known))), dtype)
        return known[:size]


_scratch = Scratch()


def scratch() -> Scratch:
    """Return the scratch arrays of the calling thread."""
    return _scratch


B = 0.4


class Norm(msgspec.Struct, frozen=True):
    """The length normalisation of BM25: its parameters, and the average length of the visible rows."""

    k1: float
    b: float
    average: float

    @property
    def terms(self) -> tuple[float, float]:
        """The terms of the denominator beside the count, in units: a constant, and a factor of the length."""
        return self.k1 / UNIT * (1 - self.b), self.k1 * self.b / (self.average or 1.0)

    def impact(self, tf: npt.NDArray[np.integer], lengths: npt.NDArray[np.integer]) -> npt.NDArray[np.float64]:
        """Return tf / (tf + k1 * (1 - b + b * length / average)), for counts and lengths in units."""
        constant, factor = self.terms
        return tf / (tf + constant + factor * lengths)


class Matches(msgspec.Struct, frozen=True):
    """The lexical `scores` of all rows: BM25 divided by its largest possible value, in [0, 1); 0 without a term.

    Rows that the caller may not see have a score too. A memory whose text is that of the query has 1. `tops` has the
    largest score of each block of rows; under a filter, of its allowed rows. `scores` and `tops` are scratch arrays of
    the thread, valid until its next ranking.

    `idf` has a value for each term of the query, 0 for terms that no visible or allowed row contains. `mass` is the sum
    of the idf of the known terms, each times its weight in the query. `unknown` is the weight of the other terms.
    `there` is the share of the mass whose terms an allowed row contains. `highest` is the idf of a term in no row.
    """

    scores: Floats
    tops: Floats
    idf: Doubles
    mass: float
    unknown: float
    there: float
    highest: float
    norm: Norm


def saturation(average: float) -> float:
    """Return BM25's k1 for an average length: in short utterances repeating a word adds little.

    The constants are fitted on the tuning sets (docs/why/quality.md).

    >>> [round(saturation(average), 2) for average in (0, 30, 90, 500)]
    [0.5, 0.7, 1.1, 1.6]
    """
    return min(0.5 + average / 150, 1.6)


def rank_lexical(snapshot: Snapshot, population: CollectionStatistics, wanted: Wanted, allowed: Mask) -> Matches:
    """Score all rows by the terms of a query."""
    norm = Norm(saturation(population.average), B, population.average)
    whole = population.rows == snapshot.size  # else counting is costly, so the counts are cached
    codes = wanted.codes.tolist()
    df = np.array([-1] * len(codes) if whole else [population.df.get(code, -1) for code in codes], np.int64)
    idf, own = np.empty(len(df)), scratch()
    scores = own.array("lexical scores", np.float32, snapshot.size)
    tops = own.array("lexical tops", np.float32, -(-snapshot.size // BLOCK))
    impacts = own.array("impacts", np.float32, MOST_PAIRS)
    terms, counted = (wanted.codes, wanted.weights, df), (population.rows, population.mask, allowed)
    norms, filtered = np.array(norm.terms), allowed is not population.mask
    mass, unknown, there = score(snapshot.table, *terms, *counted, filtered, norms, idf, impacts, scores, tops)
    if not whole:
        population.df.update(zip(codes, df.tolist(), strict=True))
    highest = math.log(1 + (population.rows + 0.5) / 0.5)
    return Matches(scores, tops, idf, mass, unknown, there, highest, norm)


def mark_same_text(snapshot: Snapshot, wanted: Wanted, matches: Matches, allowed: Mask) -> None:
    """Give a score of 1 to the memories whose text is that of the query, sought among those with its rarest term."""
    if matches.mass:
        rarest, half = wanted.codes[matches.idf.argmax()], int.from_bytes(same_text_hash(wanted.text)[:8], "little")
        texts = snapshot.columns.text
        certain(snapshot.table, rarest, texts, np.uint64(half), allowed, matches.scores, matches.tops)


def best_matches(snapshot: Snapshot, matches: Matches, allowed: Mask, wanted: int) -> RowNumbers:
    """Return the best row of each of the `wanted` best memories, best first, among the allowed rows that match."""
    c = snapshot.columns
    return best(matches.scores, matches.tops, allowed, c.version, c.id_high, c.id_low, wanted)[0]


def shares(snapshot: Snapshot, matches: Matches, wanted: Wanted, row: int) -> dict[str, float]:
    """Return the part of a row's BM25 score that each term contributes."""
    piece = next(piece for piece in snapshot.pieces if piece.first <= row < piece.first + piece.rows)
    found: dict[str, float] = {}
    for term, idf in zip(wanted.terms, matches.idf.tolist(), strict=True):
        packed = piece.packed[slice(*piece.span(term_code(term)))]
        place = int(np.searchsorted(packed, np.uint32((row - piece.first) << 16)))
        if place < len(packed) and int(packed[place]) >> 16 == row - piece.first:
            pair = int(packed[place]) & 0xFFFF
            impact = matches.norm.impact(piece.tf[pair : pair + 1], piece.lengths[pair : pair + 1])[0]
            found[term] = idf * wanted.terms[term] * (matches.norm.k1 + 1) * float(impact)
    return found


def containing(snapshot: Snapshot, required: Iterable[str], phrases: Iterable[tuple[str, ...]], allowed: Mask) -> Mask:
    """Return the allowed rows with every phrase, of memories that have each required word in any of their passages."""
    for phrase in phrases:
        allowed = allowed & _flags(_with_phrase(snapshot, phrase), snapshot.size)
    versions = snapshot.rows.version.view(snapshot.size)
    for term in required:
        has_term = versions[_with_term(snapshot, term)]
        allowed = allowed & np.isin(versions, has_term)
    return allowed


def with_words(snapshot: Snapshot, phrases: Iterable[tuple[str, ...]], first: int) -> RowNumbers:
    """Return the rows from `first` whose content has one of the phrases, or of the words; with repetitions."""
    found: list[RowNumbers] = [np.empty(0, np.int64)]
    pieces = [piece for piece in snapshot.pieces if piece.first + piece.rows > first]
    for phrase in phrases:
        codes = [term_code(term) for term in phrase]
        for piece in pieces:
            rows = piece.with_phrase(codes) if len(codes) > 1 else piece.with_term(codes[0])
            found.append(rows[rows >= first])
    return np.concatenate(found)


def any_with_every(snapshot: Snapshot, terms: Iterable[str], rows: RowNumbers) -> bool:
    """Return whether a memory of one of the rows has every term, each in any of its passages."""
    versions = snapshot.rows.version.view(snapshot.size)  # ascending, and so are the rows of a term
    left = versions[rows]
    for term in terms:
        has_term = versions[_with_term(snapshot, term)]
        if not len(has_term):
            return False
        left = left[has_term.take(has_term.searchsorted(left), mode="clip") == left]
        if not len(left):
            return False
    return len(left) > 0


def naming(snapshot: Snapshot, terms: Iterable[str], rows: RowNumbers) -> Mask:
    """Return which of `rows` have any of a few terms, in any field."""
    found = np.zeros(len(rows), np.bool_)
    for term in terms:
        known = _with_term(snapshot, term)
        if len(known):
            found |= known.take(known.searchsorted(rows), mode="clip") == rows
    return found


def having(snapshot: Snapshot, codes: Codes, rows: RowNumbers) -> Mask:
    """Return which of `rows`, ascending, have any of many terms in their content."""
    found = np.zeros(len(rows), np.bool_)
    for piece in snapshot.pieces:
        first, last = np.searchsorted(rows, (piece.first, piece.first + piece.rows)).tolist()
        if first < last:
            found[first:last] = _having(piece, codes, rows[first:last] - piece.first)
    return found


def _having(piece: Postings, codes: Codes, rows: RowNumbers) -> Mask:
    places = np.searchsorted(piece.terms, codes)
    places[places == len(piece.terms)] = 0
    wanted = np.zeros(len(piece.terms), np.bool_)
    wanted[places[piece.terms[places] == codes]] = True
    starts = piece.token_starts[rows].astype(np.int64)
    ends = np.cumsum(piece.token_starts[rows + 1] - starts)
    begins = np.concatenate([[0], ends[:-1]])
    at: RowNumbers = np.arange(int(ends[-1]), dtype=np.int64) + np.repeat(starts - begins, ends - begins)
    hits = np.concatenate([[0], np.cumsum(wanted[piece.tokens[at]])])
    return hits[ends] > hits[begins]


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


# Signals beyond BM25: words of neighbouring rows in a dialogue, and the place and closeness of a row's own words.
#
# All constants are fitted on the tuning sets (docs/why/quality.md). Content words count as if their field weighed 1.

LENDS = np.array([0.9, 0.7, 0.5, 0.3, 0.7, 0.5, 0.3, 0.1])  # weights of 1 to 4 rows before, then 1 to 4 after
LEAD = 30  # words of the beginning
NEAR = 3  # words; the largest distance of two that count as close


def with_neighbours(
    snapshot: Snapshot, visible: Mask, rows: RowNumbers, lexical: RowNumbers, allowed: Mask, reach: int
) -> RowNumbers:
    """Return `rows` and the allowed rows within `reach` steps of a `lexical` row in a dialogue; distinct, ascending."""
    c = snapshot.columns
    return beside(rows, lexical, c.number, c.version, *snapshot.links(), visible, allowed, reach)


def in_context(snapshot: Snapshot, visible: Mask, matches: Matches, wanted: Wanted, rows: RowNumbers) -> Doubles:
    """Return four shares of the query's idf for each of `rows`, ascending: an array (4, rows) of values in [0, 1].

    The first is added by neighbouring rows. The second is of words that come late in the row. The third is of pairs
    of words that are neighbours in the query and close in the row. The fourth is of words that the row has at all.
    """
    c, found = snapshot.columns, np.empty((4, len(rows)))
    weights = matches.idf * wanted.weights / (matches.mass or 1.0)
    terms = (wanted.codes, matches.idf, weights, wanted.pairs, 1.0 / (max(1, wanted.steps) * matches.highest))
    norm = UNIT * np.array(matches.norm.terms)
    columns = (c.number, c.version, c.length, *snapshot.links(), visible, matches.scores)
    surround(snapshot.table, rows, *columns, *terms, norm, LENDS, LEAD, NEAR, found)
    return found


# The surroundings of a row: the turns before and after its memory in a dialogue, and the passages beside it


class Around(msgspec.Struct, frozen=True):
    """The first rows of the memories before and after a hit, oldest first, and the stretch of its neighbour passages.

    `start` and `stop` are in characters of the hit's own content.
    """

    before: Sequence[int]
    after: Sequence[int]
    start: int
    stop: int


def around(snapshot: Snapshot, visible: Mask, row: int, reach: int) -> Around:
    """Return at most `reach` visible memories on each side of a row's memory, and its passages as far."""
    c = snapshot.columns
    first, last = _passages(snapshot, row)
    before, after = snapshot.links()
    return Around(
        _walk(before, first, visible, reach)[::-1],
        _walk(after, first, visible, reach),
        int(c.start[max(first, row - reach)]),
        int(c.stop[min(last, row + reach)]),
    )


def _passages(snapshot: Snapshot, row: int) -> tuple[int, int]:
    """Return the first and the last row of a row's memory."""
    versions = snapshot.columns.version
    first = last = row - int(snapshot.columns.number[row])
    while last + 1 < snapshot.size and versions[last + 1] == versions[first]:
        last += 1
    return first, last


def _walk(links: Ints, row: int, visible: Mask, reach: int) -> Sequence[int]:
    """Follow the links from a row over rows that are not visible; return the visible ones, nearest first."""
    found: list[int] = []
    at = int(links[row]) if row < len(links) else -1
    while at >= 0 and len(found) < reach:
        if at < len(visible) and visible[at]:
            found.append(at)
        at = int(links[at])
    return found


# Words of rows that are related to words of a query, where the row lacks the query's own: "film" for "movie"

WORTH = 0.7  # of a related word, beside 1 of the query's own
MOST = 5  # related words that count for each word of a query: the likest that the visible rows have


def add_related(
    snapshot: Snapshot,
    population: CollectionStatistics,
    wanted: Wanted,
    matches: Matches,
    rows: RowNumbers,
    out: Doubles,
) -> None:
    """Fill `out` with the share of the query's idf that related words add to each of `rows`, ascending."""
    found = related_words().of(wanted.codes) if WORTH and matches.mass and len(wanted.codes) else NONE
    if not len(found.codes):
        out[:] = 0
        return
    whole = population.rows == snapshot.size
    if not whole:  # else counting is costly, so the counts are cached
        found.df[:] = [population.df.get(code, -1) for code in found.codes.tolist()]
    query = (wanted.codes, wanted.weights, matches.mass, matches.idf, found.codes, found.places, found.likeness, WORTH)
    counted = (found.df, population.rows, population.mask, matches.highest, MOST)
    relate(snapshot.table, rows, *query, *counted, *matches.norm.terms, out)
    if not whole:
        population.df.update(zip(found.codes.tolist(), found.df.tolist(), strict=True))
