"""Signals beyond BM25: words of neighbouring rows in a dialogue, and the place and closeness of a row's own words.

All constants are fitted on the tuning sets (docs/why/quality.md). Content words count as if the field had a weight of
1.
"""

import numpy as np

from muisti.core.index.lexical import Matches
from muisti.core.index.postings import UNIT
from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.kernels import Doubles, Mask
from muisti.core.kernels.context import beside, surround
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
