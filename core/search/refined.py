"""Refinements of a ranking by the options of a search: groups, diversity and neighbours of the hits."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import msgspec
import numpy as np

from muisti.core.graph.pagerank import Walked
from muisti.core.index.columns import MISSING_CODE, MISSING_NUMBER, Column, Lists, Numbers
from muisti.core.index.context import Around, around
from muisti.core.index.dense import directions
from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.index.space_index import SpaceIndex
from muisti.core.kernels import Doubles, Floats, Longs, Mask
from muisti.core.model.hits import Recency
from muisti.core.query.filter_fields import Scalar
from muisti.core.query.filters import Filter
from muisti.core.query.options import Options
from muisti.core.search.query_vectors import Like

# Diverse hits: maximal marginal relevance over the stored vectors of the candidates.
#
#     value = (1 - diversity) * relevance - diversity * nearest
#
# `relevance` is the score over that of the best candidate. `nearest` is the highest cosine to a hit that was chosen
# before, at least 0; it is 0 for the first. Carbonell and Goldstein, "The use of MMR, diversity-based reranking", 1998.


class Diverse(msgspec.Struct, frozen=True):
    """The chosen candidates in order: the place of each, and the two parts of its value."""

    places: Longs
    relevance: Doubles
    nearest: Doubles


def diverse(scores: Doubles, vectors: Floats, diversity: float, most: int) -> Diverse:
    """Choose at most `most` candidates, which are ordered by falling score; equal values keep that order.

    >>> vectors = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    >>> diverse(np.array([0.9, 0.8, 0.5]), vectors, 0.5, 2).places.tolist()
    [0, 2]
    """
    relevance = scores / scores[0] if len(scores) and scores[0] > 0 else np.zeros(len(scores))
    nearest, left = np.zeros(len(scores)), np.ones(len(scores), np.bool_)
    chosen: list[int] = []
    reached: list[float] = []
    wide = vectors.astype(np.float64)
    while len(chosen) < min(most, len(scores)):
        value = np.where(left, (1 - diversity) * relevance - diversity * nearest, -np.inf)
        best = int(value.argmax())
        chosen.append(best)
        reached.append(float(nearest[best]))
        left[best] = False
        np.maximum(nearest, wide @ wide[best], out=nearest)
    return Diverse(np.array(chosen, np.int64), relevance[chosen], np.array(reached))


# Hits by group: the best memory of each value of a field, and how many memories the value has


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


GROUP_POOL = 800  # memories that each ranking proposes at most until there are enough groups
SPREAD = 4  # candidates for each diverse hit


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """Memories that a caller expects among the hits, by id.

    `conditions` has each condition of the filter with the fields that it names. `shows` says whether the caller sees
    memories of a category.
    """

    ids: tuple[str, ...]
    conditions: Sequence[tuple[frozenset[str], Filter]]
    shows: Callable[[object], bool]


class Extra(msgspec.Struct, frozen=True, kw_only=True):
    """Options, with what they are resolved to: the memory of `similar_to`, and the filter of what the caller sees.

    `walked` are the visits of the graph ranking. `recency` has the decay of a composite. `joint` says that the answer
    will be merged with those of other spaces. `expected` has the memories of `explain_ids`, None for none.
    """

    options: Options
    recency: Recency = Recency()
    joint: bool = False
    like: Like | None = None
    sees: Filter | None = None
    walked: Walked | None = None
    expected: Expected | None = None


class Refined(msgspec.Struct, frozen=True, kw_only=True):
    """The places of the hits among the candidates, best first; parts are None or empty when not asked for.

    `leading` are the places from which the hits were chosen: all above the lowest score, with groups the best of each.
    """

    places: RowNumbers
    leading: RowNumbers
    groups: Grouped | None = None
    diverse: Diverse | None = None


class Groups(msgspec.Struct, frozen=True):
    """The value of the group of each hit, and the counts of all groups: of candidates and of possible hits."""

    values: Sequence[Scalar | None]
    every: Mapping[Scalar | None, tuple[int, int]]


class Chosen(Protocol):
    """Ranked hits: their best rows, and how they were refined."""

    @property
    def rows(self) -> RowNumbers: ...

    @property
    def refined(self) -> Refined | None: ...


def joint(snapshot: Snapshot, ranked: Chosen) -> tuple[Floats, Groups | None]:
    """Return what merges the hits of one space with those of others."""
    vectors = directions(snapshot, ranked.rows)
    groups = None if ranked.refined is None else ranked.refined.groups
    return vectors, None if groups is None else Groups(groups.values, groups.every)


def pool_of(options: Options | None, limit: int, usual: int) -> int:
    """Return how many memories each ranking proposes."""
    if options is not None and options.diversity:
        return max(usual, SPREAD * limit)
    return max(usual, limit)


def refined(
    index: SpaceIndex,
    snapshot: Snapshot,
    options: Options,
    rows: RowNumbers,
    score: Doubles,
    ordered: RowNumbers,
    eligible: RowNumbers,
    limit: int,
    usual: int,
) -> Refined:
    """Choose hits among the candidates `rows`, of which `ordered` has the best of each memory, best first.

    `eligible` are the rows that could have been hits; they are read for groups alone. `usual` is the smallest number of
    candidates that diverse hits are chosen from.
    """
    groups = None
    if options.min_score:
        ordered = ordered[score[ordered] >= options.min_score]
    if options.group_by is not None:
        groups = grouped(snapshot, index.column(snapshot, options.group_by), rows, ordered, eligible)
        ordered = groups.places
    if not options.diversity:
        return Refined(places=ordered[:limit], leading=ordered, groups=groups)
    leading = ordered
    ordered = ordered[: pool_of(options, limit, usual)]
    chosen = diverse(score[ordered], directions(snapshot, rows[ordered]), options.diversity, limit)
    places = ordered[chosen.places]
    return Refined(places=places, leading=leading, groups=_of(groups, chosen.places), diverse=chosen)


def neighbours(
    index: SpaceIndex, snapshot: Snapshot, visible: Mask, extra: Extra, rows: RowNumbers
) -> Sequence[Around]:
    """Return the surroundings of each row; empty when none are asked for. Only what the caller sees is in them."""
    reach = extra.options.context_window
    if not reach:
        return ()
    if extra.sees is not None:
        visible = visible & index.selections(snapshot).mask(extra.sees, snapshot.size)
    return [around(snapshot, visible, row, reach) for row in rows.tolist()]


def _of(groups: Grouped | None, chosen: RowNumbers) -> Grouped | None:
    """Return the chosen groups, in this order."""
    if groups is None:
        return None
    order: list[int] = chosen.tolist()
    return Grouped(
        groups.places[chosen],
        [groups.values[at] for at in order],
        [groups.ranked[at] for at in order],
        [groups.counts[at] for at in order],
        groups.every,
    )
