"""Candidates that come before others: definitions of a symbol that is named, memories with the quotes or with a fact.

A query names a symbol when it has the shape of one and a chunk that the search may find defines it. No other query is
changed.

A memory has a quoted part when one of its passages has its words in a row. With `match: phrase` or `all`, and in modes
that rank no text, quotes are demands instead (`core.query.query`).
"""

import msgspec
import numpy as np

from muisti.core.index.collection_statistics import Allowed
from muisti.core.index.columns import Keywords, Lists
from muisti.core.index.lexical import containing
from muisti.core.index.snapshot import RowNumbers, Snapshot, one_a_memory
from muisti.core.index.space_index import SpaceIndex
from muisti.core.kernels import Doubles, Mask
from muisti.core.parsing.code.apart import symbol_of
from muisti.core.query.query import Wanted

MOST = 50  # definitions that are added to the candidates
ANSWERS = 0.9  # probability that a memory answers whose fact was asked for; set by hand
LEAST = 1e-6  # score of a definition before it is lifted


class Defined(msgspec.Struct, frozen=True):
    """A symbol that a query names, with the rows of the chunks that define it; `first` are candidates of a search."""

    name: str
    rows: RowNumbers
    first: RowNumbers


class Lifted(msgspec.Struct, frozen=True):
    """Candidates that come first, by a flag for each, and the highest score of the others; `name` is of a symbol."""

    name: str
    flags: Mask
    above: float


def defined(index: SpaceIndex, snapshot: Snapshot, text: str, allowed: Mask) -> Defined | None:
    """Return the symbol that a query names, when an allowed chunk defines it.

    The end of a qualified name is enough: `send` and `Client.send` are both defined where `app.Client.send` is.
    """
    name = symbol_of(text)
    if name is None:
        return None
    column = index.column(snapshot, "defines")
    assert isinstance(column, Lists)
    end = f".{name}"
    known = column.dictionary.values[:]
    chosen = np.fromiter((one == name or str(one).endswith(end) for one in known), np.bool_, len(known))
    if not chosen.any():
        return None
    rows = np.flatnonzero(allowed & column.select(chosen, snapshot.size))
    if not len(rows):
        return None
    versions = snapshot.columns.version
    first = versions[rows[one_a_memory(snapshot, rows)][:MOST]]
    return Defined(name, rows, rows[np.isin(versions[rows], first)])


def lifted(index: SpaceIndex, snapshot: Snapshot, symbol: Defined, rows: RowNumbers, score: Doubles) -> Lifted:
    """Return which candidate `rows` define the symbol; the others are the chunks that do not."""
    kinds = index.column(snapshot, "kind")
    assert isinstance(kinds, Keywords)
    defining = np.isin(rows, symbol.rows)
    others = (kinds.view(snapshot.size)[rows] == kinds.dictionary.code("chunk")) & ~defining
    return Lifted(symbol.name, defining, _best(score[others]))


def quoting(snapshot: Snapshot, wanted: Wanted, allowed: Allowed) -> Allowed | None:
    """Return the allowed rows with every quoted part; None when no row has them, or the query quotes nothing."""
    if not wanted.quoted:
        return None
    mask = containing(snapshot, (), wanted.quoted, allowed.mask)
    count = int(np.count_nonzero(mask))
    return Allowed(mask, count) if count else None


def preferred(rows: RowNumbers, quoted: RowNumbers, score: Doubles) -> Lifted:
    """Return which candidate `rows` are `quoted`."""
    having = np.isin(rows, quoted)
    return Lifted("", having, _best(score[~having]))


def answering(
    facts: Lifted | None, places: RowNumbers, sure: float | None, applies: Doubles | None
) -> tuple[float | None, Doubles | None]:
    """Return the probability that anything answers, and that of each hit, where hits state a fact that answers.

    >>> found = Lifted("", np.array([False, True]), 0.5)
    >>> answering(found, np.array([1, 0]), 0.2, np.array([0.2, 0.1]))
    (0.9, array([0.9, 0.1]))
    """
    if facts is None or applies is None or sure is None or not facts.flags[places].any():
        return sure, applies
    sure = max(sure, ANSWERS)
    return sure, np.where(facts.flags[places], sure, applies)


def _best(scores: Doubles) -> float:
    return float(np.clip(scores.max(initial=0.0), 0.0, 1.0))


def lift(found: Lifted | None, score: Doubles) -> Doubles:
    """Return scores, of which those of flagged candidates are lifted between the best other one and 1, in order."""
    return score if found is None else np.where(found.flags, raised(found.above, score), score)


def raised(above: float, score: Doubles) -> Doubles:
    """Return the score of a lifted candidate above that of the best other one."""
    return above + (1.0 - above) * np.clip(score, LEAST, 1.0)
