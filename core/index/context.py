"""What surrounds a row in its dialogue, and how the row says the words of a query: late or at once, apart or together.

Fitted on the tuning sets (docs/quality.md). Content words count as if the weight of the content were 1.
"""

import numpy as np

from muisti.core.index.lexical import Matches
from muisti.core.index.postings import UNIT
from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.kernels import Doubles, Mask
from muisti.core.kernels.context import beside, surround
from muisti.core.query.query import Wanted

LENDS = np.array([0.9, 0.7, 0.5, 0.3, 0.7, 0.5, 0.3, 0.1])  # of what 1 to 4 rows before say, and 1 to 4 after
LEAD = 30  # words that count as the beginning
NEAR = 3  # words apart that still belong together


def with_neighbours(
    snapshot: Snapshot, visible: Mask, rows: RowNumbers, lexical: RowNumbers, allowed: Mask, reach: int
) -> RowNumbers:
    """The rows, and those that stand up to `reach` steps from the lexical ones in a dialogue; distinct, ascending."""
    c = snapshot.columns
    return beside(rows, lexical, c.number, c.version, *snapshot.links(), visible, allowed, reach)


def in_context(snapshot: Snapshot, visible: Mask, matches: Matches, wanted: Wanted, rows: RowNumbers) -> Doubles:
    """For each row, ascending, four shares of the query's idf, (4, rows), each in [0, 1].

    What the rows around add, what is said late, what stands together as in the query, and what is said at all.
    """
    c, found = snapshot.columns, np.empty((4, len(rows)))
    weights = matches.idf * wanted.weights / (matches.mass or 1.0)
    terms = (wanted.codes, matches.idf, weights, wanted.pairs, 1.0 / (max(1, wanted.steps) * matches.highest))
    norm = UNIT * np.array(matches.norm.terms)
    columns = (c.number, c.version, c.length, *snapshot.links(), visible)
    surround(snapshot.table, rows, *columns, *terms, norm, LENDS, LEAD, NEAR, found)
    return found
