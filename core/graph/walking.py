"""Walks in the graph of a space: neighbours level by level, and a shortest path between two entities.

A level follows at most `LEVEL_MAX` entities and reads at most `ROWS` ties, those of the latest versions first.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, cast

import msgspec

from muisti.core.graph.facts.between import association
from muisti.core.graph.merging import Group
from muisti.core.graph.model import Neighbour, Neighbours, Path, Step, TieKind
from muisti.core.graph.reading import GraphReader, Opened
from muisti.core.graph.sql import graph, graph_ties
from muisti.core.model.choices import BY_MEMORY, FREQUENT, LEVEL_MAX, NeighbourSort
from muisti.core.model.ids import id_text
from muisti.core.store.database import Database, Statement

ALIKE = 50  # further names of a last level that are merged with those that are shown
SMALL = 50  # entities of two frontiers of a path that are followed in one request
MET = 2  # the place of the row of `levels_and_meeting` that has a tie
MEMORIES = 5  # of a step of a path that are named


class _Tie(NamedTuple):
    """An entity that was found, by the head of its group: before it on the way, kinds of the tie, its weight."""

    head: int
    via: int
    kinds: tuple[TieKind, ...]
    weight: int


class _Counted(NamedTuple):
    """A tie with the number of memories that mention its entity, and how strongly both ends are associated."""

    depth: int
    tie: _Tie
    mentions: int
    association: float


class _Level(NamedTuple):
    """The ties of a level, how many entities it has, and whether there may be more."""

    ties: list[_Tie]
    total: int
    capped: bool


class GraphWalker:
    """Walks for callers. Thread-safe. The names that a walk is about were among the queries of `open`."""

    def __init__(self, reader: GraphReader) -> None:
        self._reader = reader

    def neighbours(
        self,
        opened: Opened,
        query: str,
        depth: int,
        kinds: Sequence[TieKind] | None,
        sort: NeighbourSort,
        limit: int,
    ) -> Neighbours:
        """Return the entities at most `depth` ties away, the nearest first, then as `sort` says.

        `-association` multiplies the weight of a tie by the association of its ends. It sorts those with the heaviest
        ties, `ALIKE` more than are returned.

        Raises:
            NotFound: no memory that the caller sees mentions the entity.
        """
        start = self._reader.find(opened, query)
        step = _Steps(self._reader.database, opened, kinds)
        seen, frontier, capped, total = {start.head}, [start.head], False, 0
        ties: list[tuple[int, _Tie]] = []
        for level in range(1, depth + 1):
            named = limit + ALIKE if level == depth else LEVEL_MAX
            (found,) = step.levels([(frontier, seen)], named, limit - len(ties))
            capped, total = capped or found.capped, total + found.total
            ties += [(level, one) for one in found.ties]
            frontier = [one.head for one in found.ties]
            seen.update(frontier)
            if not frontier:
                break
        counted = self._counted(opened, start, ties[: limit if sort == "-weight" else limit + ALIKE])
        if sort == "-association":
            counted.sort(key=lambda one: (one.depth, -one.tie.weight * one.association, -one.tie.weight, one.tie.head))
        return self._neighbours(opened, start, counted[:limit], total, sort, capped=capped)

    def _counted(self, opened: Opened, start: Group, ties: Sequence[tuple[int, _Tie]]) -> list[_Counted]:
        heads = sorted({start.head, *(tie.head for _, tie in ties), *(tie.via for _, tie in ties)})
        groups = opened.groups.of(heads)
        asked = [graph.frequencies([groups[head].members for head in heads], opened.shown, FREQUENT)]
        if opened.shown.category is not None:
            asked.append(graph.texts(opened.space, opened.shown))
        rows, *counts = self._reader.database.read(asked)
        known = {heads[cast(int, place)]: cast(int, number) for place, number in rows}
        # A count of all texts would take long; a caller of one category must not learn how many there are.
        among = cast(int, counts[0][0][0]) if counts else opened.space.seq.number
        found: list[_Counted] = []
        for depth, tie in ties:
            one, other = known[tie.via], known[tie.head]
            texts = max(among, one, other)
            strength = association(min(tie.weight, one, other), one, other, texts)
            found.append(_Counted(depth, tie, other, strength))
        return found

    def _neighbours(
        self, opened: Opened, start: Group, shown: Sequence[_Counted], total: int, sort: NeighbourSort, *, capped: bool
    ) -> Neighbours:
        ends = opened.groups.ends({start.head, *(one.tie.head for one in shown), *(one.tie.via for one in shown)})
        items = [
            Neighbour(
                entity=ends[one.tie.head],
                depth=one.depth,
                kinds=one.tie.kinds,
                weight=one.tie.weight,
                via=ends[one.tie.via].id,
                mentions=one.mentions,
                association=round(one.association, 4),
            )
            for one in shown
        ]
        return Neighbours(
            entity=ends[start.head],
            items=tuple(items),
            total=total,
            capped=capped,
            sort=sort,
            pending=opened.pending,
            seq=str(opened.space.seq),
        )

    def path(self, opened: Opened, first: str, second: str, kinds: Sequence[TieKind] | None, longest: int) -> Path:
        """Return a shortest path between two entities, searched from both sides.

        Raises:
            NotFound: no memory that the caller sees mentions one of them.
        """
        ends = [self._reader.find(opened, query).head for query in (first, second)]
        way, capped = _Search(_Steps(self._reader.database, opened, kinds), ends[0], ends[1], longest).run()
        steps = self._steps(opened, way, kinds)
        return Path(
            steps=tuple(steps), found=bool(way), capped=capped, pending=opened.pending, seq=str(opened.space.seq)
        )

    def _steps(self, opened: Opened, way: Sequence[int], kinds: Sequence[TieKind] | None) -> list[Step]:
        pairs = list(zip(way, way[1:], strict=False))
        if not pairs:
            return []
        groups = opened.groups.of(way)
        unknown = opened.groups.unsketched(way)
        members = [(groups[one].members, groups[other].members) for one, other in pairs]
        rows, *answers = self._reader.database.read([graph_ties.between(members, opened.shown, MEMORIES), *unknown])
        opened.groups.learn_ends(answers)
        ends = opened.groups.ends(way)
        found: list[Step] = []
        for (one, other), (_, told) in zip(pairs, rows, strict=True):
            ties = [
                (kind, bytes.fromhex(memory))
                for kind, memory in _TOLD.decode(cast(str, told))
                if kinds is None or kind in kinds
            ]
            memories = dict.fromkeys(id_text(memory) for _, memory in ties)
            named = tuple(sorted({kind for kind, _ in ties}))
            found.append(Step(source=ends[one], target=ends[other], kinds=named, memories=tuple(memories)[:MEMORIES]))
        return found


class _Steps:
    """Follows ties from entities, by the heads of their groups."""

    def __init__(self, database: Database, opened: Opened, kinds: Sequence[TieKind] | None) -> None:
        self._database, self._opened = database, opened
        self._stated = None if kinds is None else [kind for kind in kinds if kind != BY_MEMORY]
        self._by_memory = kinds is None or BY_MEMORY in kinds

    def meeting(self, first: Sequence[int], second: Sequence[int]) -> tuple[int, int] | None:
        """Return two entities of two frontiers that are tied; None when none are."""
        sides = [self._members(side) for side in (first, second)]
        small, large = sorted(sides, key=len)
        if not small:
            return None
        shown = self._opened.shown
        (rows,) = self._database.read(
            [graph_ties.meeting(small, large, self._stated, shown, by_memory=self._by_memory)]
        )
        if not rows:
            return None
        one, other = cast(tuple[int, int], rows[0])
        met = small[one], large[other]
        return met if small is sides[0] else (met[1], met[0])

    def levels(
        self, sides: Sequence[tuple[Sequence[int], Collection[int]]], named: int = LEVEL_MAX, sketched: int = 0
    ) -> list[_Level]:
        """Return what is tied to the entities of each frontier and was not seen, the heaviest ties first.

        Only so many names as `named`, those with the heaviest ties, are merged and returned. Of `sketched` names the
        mentions are read as well.
        """
        asked: list[Statement] = []
        members = [self._members(frontier) for frontier, _ in sides]
        for mine, (_, seen) in zip(members, sides, strict=True):
            wanted = graph_ties.Wanted(LEVEL_MAX, named, max(sketched, 0), self._known(seen))
            asked.append(graph_ties.level(mine, self._stated, self._opened.shown, wanted, by_memory=self._by_memory))
        answers = cast(list[list[_LevelRow]], self._database.read(asked))
        return self._told(answers, members, sides, named)

    def levels_and_meeting(
        self, sides: Sequence[tuple[Sequence[int], Collection[int]]]
    ) -> tuple[list[_Level], tuple[int, int] | None, bool]:
        """Return the levels of two frontiers, two tied entities of them, and whether it is sure that there are none.

        Entities that both levels have in common are for the caller to find.
        """
        members = [self._members(frontier) for frontier, _ in sides]
        wanted = [graph_ties.Wanted(LEVEL_MAX, LEVEL_MAX, 0, self._known(seen)) for _, seen in sides]
        asked = graph_ties.levels_and_meeting(
            [*zip(members, wanted, strict=True)], self._stated, self._opened.shown, by_memory=self._by_memory
        )
        (rows,) = cast(list[list[tuple[int, int, int, str, int, int, int]]], self._database.read([asked]))
        answers: list[list[_LevelRow]] = [[row[1:] for row in rows if row[0] == place] for place in range(2)]
        levels = self._told(answers, members, sides, LEVEL_MAX)
        met = next(((row[2], row[1]) for row in rows if row[0] == MET), None)
        groups = self._opened.groups
        if met is not None:
            heads = groups.heads(met)
            return levels, (heads[met[0]], heads[met[1]]), True
        heads = groups.heads(one for found in answers for one, *_ in found)
        alone = all(groups.is_alone(head) for head in heads.values())
        return levels, None, alone and not any(level.capped for level in levels)

    def _members(self, frontier: Sequence[int]) -> dict[int, int]:
        """Return the names of entities, each with the head of its group."""
        return {one: group.head for group in self._opened.groups.of(frontier).values() for one in group.members}

    def _known(self, seen: Collection[int]) -> list[int]:
        return [one for group in self._opened.groups.of(seen).values() for one in group.members]

    def _told(
        self,
        answers: Sequence[Sequence["_LevelRow"]],
        members: Sequence[Mapping[int, int]],
        sides: Sequence[tuple[Sequence[int], Collection[int]]],
        named: int,
    ) -> list[_Level]:
        groups = self._opened.groups
        for rows in answers:
            groups.learn([_NAMED.decode(row[5]) for row in rows if isinstance(row[5], str)], brief=True)
            groups.learn_related((row[0], row[5]) for row in rows if isinstance(row[5], int))
        of = groups.heads({row[0] for rows in answers for row in rows if row[5] is not None})
        parts = zip(answers, members, sides, strict=True)
        return [_level(rows, of, mine, seen, named) for rows, mine, (_, seen) in parts]


_LevelRow = tuple[int, int, str, int, int, str | int | None]
_TOLD = msgspec.json.Decoder(list[tuple[TieKind, str]])
_NAMED = msgspec.json.Decoder(tuple[int, str, str, int, str])


def _level(
    rows: Sequence[_LevelRow], heads: Mapping[int, int], members: Mapping[int, int], seen: Collection[int], named: int
) -> _Level:
    found: dict[int, _Tie] = {}
    more: set[int] = set()
    for id_, via, kinds, weight, _, _ in rows:
        head = heads.get(id_, id_)
        if head in seen:
            continue
        if len(found) >= named and head not in found:
            more.add(head)
            continue
        tie = _Tie(head, members[via], tuple(sorted(kinds.split(","))), weight)
        known = found.get(head)
        found[head] = tie if known is None else _both(known, tie)
    total = len(found) + len(more)
    full = sum(row[4] for row in rows) >= graph_ties.ROWS or total > LEVEL_MAX
    ordered = sorted(found.values(), key=lambda one: (-one.weight, one.head))
    return _Level(ordered[:LEVEL_MAX], min(total, LEVEL_MAX), full)


def _both(one: _Tie, other: _Tie) -> _Tie:
    kinds = tuple(sorted({*one.kinds, *other.kinds}))
    return _Tie(one.head, one.via, kinds, max(one.weight, other.weight))


class _Search:
    """A search from both ends, one level at a time, from the side that has found fewer entities."""

    def __init__(self, steps: _Steps, first: int, second: int, longest: int) -> None:
        self._steps, self._longest = steps, longest
        self._before: tuple[dict[int, int | None], dict[int, int | None]] = ({first: None}, {second: None})
        self._frontiers = [[first], [second]]
        self._length, self._capped = 0, False
        self._apart = False  # it is known that no tie ties both frontiers

    def run(self) -> tuple[list[int], bool]:
        """Return the entities on the way, none when there is none, and whether a level was cut."""
        (first, second), longest = self._before, self._longest
        if first.keys() == second.keys():
            return [*first], False
        met: tuple[int, int] | None = None
        while met is None and self._length < longest and all(self._frontiers):
            sizes = [len(one) for one in self._frontiers]
            if max(sizes) <= SMALL and self._length + 2 <= longest:
                met = self._grow_both()
                continue
            met = None if self._apart else self._steps.meeting(self._frontiers[0], self._frontiers[1])
            self._apart = False
            if met is None and self._length + 1 == longest:
                break
            if met is None:
                self._grow([0 if sizes[0] <= sizes[1] else 1])
        return ([*reversed(_back(first, met[0])), *_back(second, met[1])] if met else []), self._capped

    def _grow_both(self) -> tuple[int, int] | None:
        """Follow the ties of both frontiers; return two tied entities where the sides meet, or are tied."""
        sides = [(self._frontiers[side], self._before[side].keys()) for side in (0, 1)]
        if self._length == 0 or self._length + 3 > self._longest:
            return self._grow([0, 1])
        levels, tied, sure = self._steps.levels_and_meeting(sides)
        met = self._take([0, 1], levels)
        if met is None and tied is not None and all(one in self._before[side] for side, one in enumerate(tied)):
            met = tied
        self._apart = met is None and sure
        return met

    def _grow(self, sides: Sequence[int]) -> tuple[int, int] | None:
        """Follow the ties of frontiers, one side after the other; return two tied entities where the sides meet."""
        asked = [(self._frontiers[side], self._before[side].keys()) for side in sides]
        return self._take(sides, self._steps.levels(asked))

    def _take(self, sides: Sequence[int], levels: Sequence[_Level]) -> tuple[int, int] | None:
        """Take the levels of sides, one after the other; return two tied entities where the sides meet."""
        for side, level in zip(sides, levels, strict=True):
            mine, other = self._before[side], self._before[1 - side]
            met = next(((one.via, one.head) for one in level.ties if one.head in other), None)
            if met is None and level.capped:
                met = self._steps.meeting(self._frontiers[side], self._frontiers[1 - side])
            if met is not None:
                return met if side == 0 else (met[1], met[0])
            self._capped = self._capped or level.capped
            mine.update((one.head, one.via) for one in level.ties)
            self._frontiers[side] = [one.head for one in level.ties]
            self._length += 1
        return None


def _back(before: Mapping[int, int | None], one: int) -> list[int]:
    found: list[int] = []
    at: int | None = one
    while at is not None:
        found.append(at)
        at = before[at]
    return found
