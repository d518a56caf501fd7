"""Quoted parts of a query: memories with all of them come before the others, which fill up the hits.

A memory has a quoted part when one of its passages has its words in a row. With `match: phrase` or `all`, and in modes
that rank no text, quotes are demands instead (`core.query.query`).
"""

import msgspec
import numpy as np

from muisti.core.index.allowed import Allowed
from muisti.core.index.lexical import containing
from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.kernels import Doubles, Mask
from muisti.core.kernels.pool import count_memories
from muisti.core.query.query import Wanted
from muisti.core.search.symbols import raised


class Preferred(msgspec.Struct, frozen=True):
    """Candidates with every quoted part, by a flag for each, and the highest score of the others."""

    having: Mask
    above: float


def quoting(snapshot: Snapshot, wanted: Wanted, allowed: Allowed) -> Allowed | None:
    """Return the allowed rows with every quoted part; None when no row has them, or the query quotes nothing."""
    if not wanted.quoted:
        return None
    mask = containing(snapshot, (), wanted.quoted, allowed.mask)
    count = int(np.count_nonzero(mask))
    return Allowed(mask, count) if count else None


def memories_of(snapshot: Snapshot, rows: Allowed) -> int:
    """Return how many memories the rows belong to."""
    return count_memories(snapshot.columns.version, rows.mask)


def preferred(rows: RowNumbers, quoted: RowNumbers, score: Doubles) -> Preferred:
    """Return which candidate `rows` are `quoted`, and the highest score of the others."""
    having = np.isin(rows, quoted)
    return Preferred(having, float(np.clip(score[~having].max(initial=0.0), 0.0, 1.0)))


def prefer(found: Preferred, score: Doubles) -> Doubles:
    """Return scores, of which those of candidates with the quoted parts are between the best other one and 1."""
    return np.where(found.having, raised(found.above, score), score)
