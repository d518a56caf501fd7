"""Refinements of a ranking by the options of a search: groups, diversity and neighbours of the hits."""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from muisti.core.index.columns import MISSING_CODE, MISSING_NUMBER, Column, Lists, Numbers
from muisti.core.index.dense import directions
from muisti.core.index.lexical import Around, around
from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.kernels import Doubles, Floats, Longs
from muisti.core.model.hits import Novelty
from muisti.core.query.filter_fields import Scalar
from muisti.core.query.query import Options
from muisti.core.search.rankers import Asked, Extra

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

    def novelty(self, number: int, diversity: float) -> Novelty:
        """Return the parts of the value of a chosen candidate, by its place among them."""
        relevance, nearest = float(self.relevance[number]), float(self.nearest[number])
        return Novelty(relevance=relevance, nearest=nearest, value=(1 - diversity) * relevance - diversity * nearest)


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
    versions = snapshot.columns.version[eligible]
    firsts = eligible[np.flatnonzero(np.diff(versions, prepend=-1))]
    found, counts = np.unique(keys[firsts], return_counts=True)
    return dict(zip(found.tolist(), counts.tolist(), strict=True))


POOL = 50  # memories that each ranking proposes, or as many as the limit if that is more
GROUP_POOL = 800  # memories that each ranking proposes at most until there are enough groups
SPREAD = 4  # candidates for each diverse hit


class Refined(msgspec.Struct, frozen=True, kw_only=True):
    """The places of the hits among the candidates, best first; parts are None or empty when not asked for.

    `leading` are the places from which the hits were chosen: all above the lowest score, with groups the best of each.
    """

    places: RowNumbers
    leading: RowNumbers
    groups: Grouped | None = None
    diverse: Diverse | None = None


def pool_of(options: Options | None, limit: int) -> int:
    """Return how many memories each ranking proposes, or diverse hits are chosen from."""
    return max(POOL, SPREAD * limit if options is not None and options.diversity else limit)


def refined(
    asked: Asked, extra: Extra, rows: RowNumbers, score: Doubles, ordered: RowNumbers, eligible: RowNumbers
) -> Refined:
    """Choose hits among the candidates `rows`, of which `ordered` has the best of each memory, best first.

    `eligible` are the rows that could have been hits; they are read for groups alone.
    """
    groups, options, limit, snapshot = None, extra.options, asked.query.limit, asked.snapshot
    if options.min_score:
        ordered = ordered[score[ordered] >= options.min_score]
    if options.group_by is not None:
        groups = grouped(snapshot, asked.index.column(snapshot, options.group_by), rows, ordered, eligible)
        ordered = groups.places
    if not options.diversity:
        return Refined(places=ordered[:limit], leading=ordered, groups=groups)
    leading = ordered
    ordered = ordered[: pool_of(options, limit)]
    chosen = diverse(score[ordered], directions(snapshot, rows[ordered]), options.diversity, limit)
    places = ordered[chosen.places]
    return Refined(places=places, leading=leading, groups=_of(groups, chosen.places), diverse=chosen)


def neighbours(asked: Asked, extra: Extra, rows: RowNumbers) -> Sequence[Around]:
    """Return the surroundings of each row; empty when none are asked for. Only what the caller sees is in them."""
    reach, snapshot, shown = extra.options.context_window, asked.snapshot, asked.population.mask
    if not reach:
        return ()
    if extra.sees is not None:
        shown = shown & asked.index.selections(snapshot).mask(extra.sees, snapshot.size)
    return [around(snapshot, shown, row, reach) for row in rows.tolist()]


def _of(groups: Grouped | None, chosen: RowNumbers) -> Grouped | None:
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
