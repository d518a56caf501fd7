"""Walks in the graph of a space: neighbours level by level, and a shortest path between two entities.

A level follows at most `LEVEL_MAX` entities and reads at most `graph.ROWS` ties, those of the latest versions first.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, cast

from muisti.core.graph.groups import Groups
from muisti.core.graph.merging import Group
from muisti.core.graph.reading import GraphReader, Opened
from muisti.core.identity.caller import Caller
from muisti.core.model.graph import LEVEL_MAX, PATH_MAX, Neighbour, Neighbours, Path, Step, TieKind
from muisti.core.model.ids import id_text
from muisti.core.query.points import AsOf
from muisti.core.store.database import Database
from muisti.core.store.sql import graph

ALIKE = 50  # further names of a last level that are merged with those that are shown
MEMORIES = 5  # of a step of a path that are named
BY_MEMORY: TieKind = "mentioned_with"


class _Tie(NamedTuple):
    """An entity that was found, by the head of its group: before it on the way, kinds of the tie, its weight."""

    head: int
    via: int
    kinds: tuple[TieKind, ...]
    weight: int


class _Level(NamedTuple):
    found: list[_Tie]
    capped: bool


class GraphWalker:
    """Walks for callers. Thread-safe. Every method raises what `GraphReader.open` does."""

    def __init__(self, reader: GraphReader) -> None:
        self._reader = reader

    def neighbours(
        self,
        name: str,
        query: str,
        caller: Caller,
        now: int,
        *,
        depth: int,
        kinds: Sequence[TieKind],
        limit: int,
        as_of: AsOf | None,
    ) -> Neighbours:
        """Return the entities at most `depth` ties away, the nearest first, then those with the heaviest ties.

        Raises:
            NotFound: no memory that the caller sees mentions the entity.
        """
        opened = self._reader.open(name, caller, now, as_of)
        start = self._reader.find(opened, query)
        step = _Steps(self._reader.database, opened, kinds)
        seen, frontier, capped = {start.head}, [start.head], False
        ties: list[tuple[int, _Tie]] = []
        for level in range(1, depth + 1):
            found, full = step.level(frontier, seen, limit + ALIKE if level == depth else None)
            capped = capped or full
            ties += [(level, one) for one in found]
            frontier = [one.head for one in found]
            seen.update(frontier)
            if not frontier:
                break
        return _neighbours(opened, start, ties, limit, capped=capped)

    def path(
        self,
        name: str,
        first: str,
        second: str,
        caller: Caller,
        now: int,
        *,
        kinds: Sequence[TieKind],
        longest: int = PATH_MAX,
        as_of: AsOf | None,
    ) -> Path:
        """Return a shortest path between two entities, searched from both sides.

        Raises:
            NotFound: no memory that the caller sees mentions one of them.
        """
        opened = self._reader.open(name, caller, now, as_of)
        ends = [self._reader.find(opened, query).head for query in (first, second)]
        way, capped = _Search(_Steps(self._reader.database, opened, kinds), ends[0], ends[1], longest).run()
        steps = self._steps(opened, way, kinds)
        return Path(
            steps=tuple(steps),
            found=bool(way),
            capped=capped,
            pending=opened.pending,
            seq=opened.space.seq,
        )

    def _steps(self, opened: Opened, way: Sequence[int], kinds: Sequence[TieKind]) -> list[Step]:
        pairs = list(zip(way, way[1:], strict=False))
        if not pairs:
            return []
        ends, groups = opened.groups.ends(way), opened.groups.of(way)
        members = [(groups[one].members, groups[other].members) for one, other in pairs]
        answers = self._reader.database.read(graph.between(members, opened.shown, MEMORIES))
        found: list[Step] = []
        for (one, other), rows in zip(pairs, answers, strict=True):
            ties = [(cast(TieKind, kind), cast(bytes, memory)) for kind, memory in rows if kind in kinds]
            told = dict.fromkeys(id_text(memory) for _, memory in ties)
            named = cast("tuple[TieKind, ...]", tuple(sorted({kind for kind, _ in ties})))
            found.append(Step(source=ends[one], target=ends[other], kinds=named, memories=tuple(told)[:MEMORIES]))
        return found


class _Steps:
    """Follows ties from entities, by the heads of their groups."""

    def __init__(self, database: Database, opened: Opened, kinds: Sequence[TieKind]) -> None:
        self._database, self._opened = database, opened
        self._stated = [kind for kind in kinds if kind != BY_MEMORY]
        self._by_memory = BY_MEMORY in kinds

    def meeting(self, first: Sequence[int], second: Sequence[int]) -> tuple[int, int] | None:
        """Return two entities of two frontiers that are tied; None when none are."""
        groups = self._opened.groups
        sides = [{one: group.head for group in groups.of(side).values() for one in group.members}
                 for side in (first, second)]  # fmt: skip
        small, large = sorted(sides, key=len)
        if not small:
            return None
        shown = self._opened.shown
        (rows,) = self._database.read([graph.meeting(small, large, self._stated, shown, by_memory=self._by_memory)])
        if not rows:
            return None
        one, other = cast(tuple[int, int], rows[0])
        met = small[one], large[other]
        return met if small is sides[0] else (met[1], met[0])

    def level(self, frontier: Sequence[int], seen: Collection[int], merged: int | None = None) -> _Level:
        """Return what is tied to entities and was not seen, the heaviest ties first.

        With `merged` only so many names, those with the heaviest ties, are merged; the level leads to no further one.
        """
        groups = self._opened.groups
        members = {one: group.head for group in groups.of(frontier).values() for one in group.members}
        ask = graph.level(members, self._stated, self._opened.shown, LEVEL_MAX + len(seen), by_memory=self._by_memory)
        (rows,) = self._database.read([ask])
        heads = groups.heads(cast(int, row[0]) for row in rows[:merged])
        found: dict[int, _Tie] = {}
        for id_, via, kinds, weight, _ in cast(list[tuple[int, int, str, int, int]], rows):
            head = heads.get(id_, id_)
            if head in seen:
                continue
            tie = _Tie(head, members[via], cast("tuple[TieKind, ...]", tuple(sorted(kinds.split(",")))), weight)
            known = found.get(head)
            found[head] = tie if known is None else _both(known, tie)
        read = sum(cast(int, row[4]) for row in rows)
        full = read >= graph.ROWS or len(found) > LEVEL_MAX
        ordered = sorted(found.values(), key=lambda one: (-one.weight, one.head))
        return _Level(ordered[:LEVEL_MAX], full)


def _both(one: _Tie, other: _Tie) -> _Tie:
    kinds = cast("tuple[TieKind, ...]", tuple(sorted({*one.kinds, *other.kinds})))
    return _Tie(one.head, one.via, kinds, max(one.weight, other.weight))


class _Search:
    """A search from both ends, one level at a time, from the side that has found fewer entities."""

    def __init__(self, steps: _Steps, first: int, second: int, longest: int) -> None:
        self._steps, self._longest = steps, longest
        self._before: tuple[dict[int, int | None], dict[int, int | None]] = ({first: None}, {second: None})
        self._frontiers = [[first], [second]]
        self._capped = False

    def run(self) -> tuple[list[int], bool]:
        """Return the entities on the way, none when there is none, and whether a level was cut."""
        (first, second), longest = self._before, self._longest
        if first.keys() == second.keys():
            return [*first], False
        for length in range(1, longest + 1):
            met = self._steps.meeting(*self._frontiers)
            if met is not None:
                return [*reversed(_back(first, met[0])), *_back(second, met[1])], self._capped
            if length == longest or not all(self._frontiers):
                break
            self._grow(0 if len(self._frontiers[0]) <= len(self._frontiers[1]) else 1)
        return [], self._capped

    def _grow(self, side: int) -> None:
        mine = self._before[side]
        found, full = self._steps.level(self._frontiers[side], mine.keys())
        self._capped = self._capped or full
        for one in found:
            mine[one.head] = one.via
        self._frontiers[side] = [one.head for one in found]


def _back(before: Mapping[int, int | None], one: int) -> list[int]:
    found: list[int] = []
    at: int | None = one
    while at is not None:
        found.append(at)
        at = before[at]
    return found


def _neighbours(
    opened: Opened, start: Group, ties: Iterable[tuple[int, _Tie]], limit: int, *, capped: bool
) -> Neighbours:
    every = [*ties]
    shown = every[:limit]
    groups: Groups = opened.groups
    ends = groups.ends({start.head, *(one.head for _, one in shown), *(one.via for _, one in shown)})
    items = [
        Neighbour(entity=ends[one.head], depth=depth, kinds=one.kinds, weight=one.weight, via=ends[one.via].id)
        for depth, one in shown
    ]
    return Neighbours(
        entity=ends[start.head],
        items=tuple(items),
        total=len(every),
        capped=capped,
        pending=opened.pending,
        seq=opened.space.seq,
    )
