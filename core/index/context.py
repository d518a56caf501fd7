"""Signals beyond BM25: words of neighbouring rows in a dialogue, and the place and closeness of a row's own words.

All constants are fitted on the tuning sets (docs/why/quality.md). Content words count as if the field had a weight of
1.
"""

from collections.abc import Sequence

import msgspec
import numpy as np

from muisti.core.embedding.related import NONE, related_words
from muisti.core.index.collection import CollectionStatistics
from muisti.core.index.lexical import Matches
from muisti.core.index.postings import UNIT
from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.kernels import Doubles, Ints, Mask
from muisti.core.kernels.context import beside, surround
from muisti.core.kernels.related import relate
from muisti.core.query.query import Wanted

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
    columns = (c.number, c.version, c.length, *snapshot.links(), visible)
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
