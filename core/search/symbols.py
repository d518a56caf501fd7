"""Definitions of the symbol that a query names: chunks of code that define it come before all other chunks.

A query names a symbol when it has the shape of one and a chunk that the search may find defines it. No other query is
changed.
"""

import msgspec
import numpy as np

from muisti.core.index.columns import Keywords, Lists
from muisti.core.index.pool import one_a_memory
from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.index.space_index import SpaceIndex
from muisti.core.kernels import Doubles, Mask
from muisti.core.parsing.code.names import symbol_of

MOST = 50  # definitions that are added to the candidates
LEAST = 1e-6  # score of a definition before it is lifted


class Defined(msgspec.Struct, frozen=True):
    """A symbol that a query names, with the rows of the chunks that define it; `first` are candidates of a search."""

    name: str
    rows: RowNumbers
    first: RowNumbers


class Lifted(msgspec.Struct, frozen=True):
    """Candidates that define a symbol, by a flag for each, and the highest score of the other chunks among them."""

    name: str
    defining: Mask
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
    """Return which candidate `rows` are lifted, and above which score: the highest of the other chunks."""
    kinds = index.column(snapshot, "kind")
    assert isinstance(kinds, Keywords)
    defining = np.isin(rows, symbol.rows)
    others = (kinds.view(snapshot.size)[rows] == kinds.dictionary.code("chunk")) & ~defining
    return Lifted(symbol.name, defining, float(np.clip(score[others].max(initial=0.0), 0.0, 1.0)))


def lift(found: Lifted, score: Doubles) -> Doubles:
    """Return scores, of which those of definitions are lifted between the best other chunk and 1, in their order."""
    return np.where(found.defining, raised(found.above, score), score)


def raised(above: float, score: Doubles) -> Doubles:
    """Return the score of a definition above that of the best other chunk."""
    return above + (1.0 - above) * np.clip(score, LEAST, 1.0)
