"""Refinements of a ranking by the options of a search: groups, diversity and neighbours of the hits."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import msgspec

from muisti.core.graph.pagerank import Walked
from muisti.core.index.around import Around, around
from muisti.core.index.dense import directions
from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.index.space_index import SpaceIndex
from muisti.core.kernels import Doubles, Floats, Mask
from muisti.core.model.hits import Recency
from muisti.core.query.filter_fields import Scalar
from muisti.core.query.filters import Filter
from muisti.core.query.options import Options
from muisti.core.search.diversity import Diverse, diverse
from muisti.core.search.grouping import Grouped, grouped
from muisti.core.search.similar import Like

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
