"""Hits by group: the best memory of each value of a field, and how many memories the value has."""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from muisti.core.index.columns import MISSING_CODE, MISSING_NUMBER, Column, Lists, Numbers
from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.kernels import Longs
from muisti.core.query.filter_fields import Scalar


class Grouped(msgspec.Struct, frozen=True):
    """The first candidate of each group, in order.

    `places` are those of the candidates. `values` has what the column says of each group, None for memories without
    a value. `ranked` counts the candidates of the group, and `count` all of its memories that could have been hits.
    `every` has both counts of each group of the space by its value, also of groups without a candidate.
    """

    places: RowNumbers
    values: Sequence[Scalar | None]
    ranked: Sequence[int]
    counts: Sequence[int]
    every: Mapping[Scalar | None, tuple[int, int]]


def grouped(snapshot: Snapshot, column: Column, rows: RowNumbers, ordered: RowNumbers, eligible: RowNumbers) -> Grouped:
    """Group candidates: `rows` are theirs, `ordered` the places of the best row of each memory, best first.

    `eligible` are the rows of all memories that could have been hits, ascending.
    """
    keys = _keys(column, snapshot.size)
    own = keys[rows[ordered]]
    found, first, ranked = np.unique(own, return_index=True, return_counts=True)
    order = np.argsort(first)
    counts, candidates = _counts(snapshot, keys, eligible), dict(zip(found.tolist(), ranked.tolist(), strict=True))
    return Grouped(
        ordered[first[order]],
        [_value(column, key) for key in found[order].tolist()],
        ranked[order].tolist(),
        [counts[key] for key in found[order].tolist()],
        {_value(column, key): (candidates.get(key, 0), count) for key, count in counts.items()},
    )


def _keys(column: Column, size: int) -> Longs:
    """Return a number for the value of each row: of a list its first element."""
    if not isinstance(column, Lists):
        return column.view(size).astype(np.int64)
    rows, codes = column.view(size)
    keys = np.full(size, MISSING_CODE, np.int64)
    keys[rows[::-1]] = codes[::-1]  # of several the last is kept, which is the first here
    return keys


def _value(column: Column, key: int) -> Scalar | None:
    if isinstance(column, Numbers):
        return None if key == MISSING_NUMBER else key
    return None if key == MISSING_CODE else column.dictionary.values[key]


def _counts(snapshot: Snapshot, keys: Longs, eligible: RowNumbers) -> Mapping[int, int]:
    """Return how many memories each key has among the rows."""
    versions = snapshot.columns.version[eligible]
    firsts = eligible[np.flatnonzero(np.diff(versions, prepend=-1))]
    found, counts = np.unique(keys[firsts], return_counts=True)
    return dict(zip(found.tolist(), counts.tolist(), strict=True))
