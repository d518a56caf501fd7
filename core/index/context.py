"""What surrounds a row in its dialogue, and how the row says the words of a query: late or at once, apart or together.

Fitted on the tuning sets (docs/quality.md). Content words count as if the weight of the content were 1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from core.index.lexical import Matches
from core.index.postings import UNIT
from core.index.snapshot import RowNumbers, Snapshot
from core.kernels import Mask
from core.kernels.context import MISSING, lent, told, windows
from core.kernels.pieces import read
from core.text import term_code

LENDS = np.array([0.9, 0.7, 0.5, 0.3, 0.7, 0.5, 0.3, 0.1])  # of what 1 to 4 rows before say, and 1 to 4 after
REACH = len(LENDS) // 2
LEAD = 30  # words that count as the beginning
NEAR = 3  # words apart that still belong together

Shares = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Context:
    """For each row: shares of the query's idf, in [0, 1].

    `around` is what the rows around add, `late` what is said late, `order` what stands together as in the query.
    """

    around: Shares
    late: Shares
    order: Shares


def neighbours(snapshot: Snapshot, visible: Mask, rows: RowNumbers, reach: int) -> npt.NDArray[np.int64] | None:
    """The rows around each row in its dialogue, (rows, 2 * reach), `MISSING` for none; None when nobody speaks."""
    columns = snapshot.rows
    if not columns.dialogues.linked:
        return None
    found = np.empty((len(rows), 2 * reach), np.int64)
    links = columns.dialogues.before(), columns.dialogues.after()
    windows(rows, columns.number.view(), columns.version.view(), *links, visible, reach, found)
    return found


def in_context(
    snapshot: Snapshot,
    visible: Mask,
    matches: Matches,
    terms: Mapping[str, float],
    words: Sequence[str],
    rows: RowNumbers,
) -> Context:
    """`terms` are the query's with their weights, `words` the same in order; `rows` ascend."""
    known = {term: place for place, term in enumerate(matches.idf)}
    pairs = [pair for pair in dict.fromkeys(pairwise(words)) if pair[0] != pair[1]]
    places = np.array([[known[a], known[b]] for a, b in pairs if a in known and b in known], np.int32).reshape(-1, 2)
    near = neighbours(snapshot, visible, rows, REACH)
    every = rows if near is None else np.unique(np.concatenate([rows, near[near != MISSING]]))
    counts, firsts = np.empty((2, len(every), len(known)), np.int32)
    close = np.empty((len(every), len(places)), np.float32)
    codes = np.array([term_code(term) for term in known], np.uint64)
    read(snapshot.table, every, codes, places, NEAR, counts, firsts, close)
    constant, factor = matches.norm.terms
    norms = (UNIT * (constant + factor * snapshot.rows.length.view()[every])).astype(np.float64)
    idf = np.array([*matches.idf.values()])
    weights = idf * np.array([terms[term] for term in known]) / (matches.mass or 1.0)
    own = np.searchsorted(every, rows)
    around, late, order = np.zeros((3, len(rows)))
    if near is not None:
        lent(
            own, np.where(near == MISSING, MISSING, np.searchsorted(every, near)), LENDS, counts, norms, weights, around
        )
    worths = idf[places].max(axis=1, initial=0.0) / (max(1, len(set(pairwise(words)))) * matches.highest)
    lead = np.where(snapshot.rows.number.view()[rows] == 0, LEAD, 0).astype(np.int64)
    told(own, counts, firsts, close, norms, weights, worths, lead, late, order)
    return Context(around, late, order)
