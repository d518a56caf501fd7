"""Answers about the graph of a space: entities, one entity, relations, what merges may be missing, and figures.

A question first reads versions that have come since, as far as `GraphIndex.catch_up` goes, unless a model elsewhere
reads them. It never waits for a task. `pending` tells how many are left.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple, cast

from muisti.core.graph.entities.name_keys import lookups
from muisti.core.graph.groups import Groups, Named, Pair, StatedRelation, alike, closed, stated_relation
from muisti.core.graph.indexing import GraphIndex
from muisti.core.graph.kept import Kept
from muisti.core.graph.merging import Group
from muisti.core.graph.model import (
    Alias,
    End,
    Entities,
    Entity,
    GraphStatus,
    Mentioned,
    Profile,
    Proposal,
    Proposals,
    Relation,
    Relations,
    StatedKind,
)
from muisti.core.graph.sql import graph, graph_rows, graph_ties
from muisti.core.graph.sql.graph import BEFORE
from muisti.core.graph.sql.graph_rows import Shown
from muisti.core.identity.caller import Caller
from muisti.core.model.choices import FUNCTIONAL, EntityKind, EntitySort, MentionSource
from muisti.core.model.errors import Busy, Conflict, NotFound, StoreUnavailable
from muisti.core.model.ids import id_text
from muisti.core.model.times import from_us
from muisti.core.query.points import AsOf, Point
from muisti.core.read.reading import find_space, point_of, shown_at
from muisti.core.store.database import Database, Row, Rows
from muisti.core.store.sql import spaces
from muisti.core.store.sql.spaces import SpaceRow, space_row

LOOKED_AT = 2_000  # names among which proposals are sought
MORE = 2  # times the limit, of names that are read before they are merged


class Opened(NamedTuple):
    """A space, what the caller sees of it, how many versions are not read yet, and the groups of names."""

    space: SpaceRow
    shown: Shown
    pending: int
    groups: Groups


class GraphReader:
    """Reads what callers may see. Thread-safe. A question opens a space first, for its caller at a point of time."""

    def __init__(self, database: Database, index: GraphIndex) -> None:
        self.database, self.index, self.kept = database, index, Kept(database)

    def open(self, name: str, caller: Caller, now: int, as_of: AsOf | None, queries: Sequence[str] = ()) -> Opened:
        """Read versions that have come, and return the space. What `queries` name is read with it, for `find`.

        Raises:
            NotFound: there is no such space.
            Conflict: the graph of the space is off.
            EpochGone, PastRetention, PointAhead: it cannot be shown as it was then.
        """
        point = Point(None, now) if as_of is None else point_of(self.database, name, as_of, now)
        shown = Shown(point, caller.own_category)
        found, left, rows = self._glance(name, shown, queries)
        if left and not self.index.waits:
            with suppress(StoreUnavailable, Busy):  # read although it takes no writes; `pending` tells
                self.index.catch_up(name)
            found, left, rows = self._glance(name, shown, queries)
        if point.number is not None:
            found = shown_at(self.database, found, point.number)
        groups = Groups(self.database, shown)
        groups.learn(rows, brief=False)
        return Opened(found, shown, left, groups)

    def _glance(self, name: str, shown: Shown, queries: Sequence[str]) -> tuple[SpaceRow, int, Rows]:
        """Return a space, how many of its versions are not read, and the entities that are asked for."""
        asked = [spaces.by_name(name), graph_rows.pending(name, self.index.recogniser, shown.category)]
        if queries:
            folded = [key for one in queries for key in lookups(one)]
            asked.append(graph.called(name, folded, [one.strip() for one in queries], shown))
        state, pending, *entities = self.database.read(asked)
        if not state:
            raise NotFound("space", name)
        found = space_row(state[0])
        if not self.index.is_on(found):
            raise Conflict(f"the graph of space {name!r} is off; its policy, or the setting `graph`, turns it on")
        return found, cast(int, pending[0][0]), entities[0] if entities else []

    def entities(
        self, opened: Opened, prefix: str, kind: EntityKind | None, memory: bytes | None, sort: EntitySort, limit: int
    ) -> Entities:
        """Return entities by the beginning of a name, by kind and by a memory, the most mentioned first."""
        start = " ".join(prefix.casefold().split())
        asked = ("entities", start, kind, memory, sort, limit)
        items, total = self.kept.of(
            opened.space, opened.shown, asked, lambda: self._listed(opened, start, kind, memory, sort, limit)
        )
        return Entities(items=items[:limit], total=total, pending=opened.pending, seq=str(opened.space.seq))

    def _listed(
        self, opened: Opened, start: str, kind: EntityKind | None, memory: bytes | None, sort: EntitySort, limit: int
    ) -> tuple[tuple[Entity, ...], int]:
        """Return some entities in order, and the number of all."""
        most, by_name = limit * MORE + 50, sort == "name"
        ask = graph.counted(opened.space, opened.shown, start, kind, most, memory=memory, by_name=by_name)
        (rows,) = self.database.read([ask])
        groups = {group.head: group for group in opened.groups.of(cast(int, row[0]) for row in rows).values()}
        items = self.told(opened, [*groups.values()])
        items = [one for one in items if kind is None or one.kind == kind]
        items.sort(key=lambda one: (one.name.casefold() if by_name else -one.mentions, one.name.casefold()))
        return tuple(items), cast(int, rows[0][2]) if rows else 0

    def entity(self, opened: Opened, query: str, facts: int, memories: int) -> Profile:
        """Return an entity by its name or id, with its facts and the memories that mention it."""
        group = self.find(opened, query)
        counted, found, mentioned = self.database.read([
            graph.together([group.members], opened.shown),
            graph_ties.of_entities(group.members, opened.shown, None, subject=True, target=True, limit=facts),
            graph.mentioned(group.members, opened.shown, memories),
        ])  # fmt: skip
        entity = self._entity(opened, group, counted[0])
        relations = self.related(opened, found)
        relations.sort(key=lambda one: (one.valid_from, one.memory, one.start))
        return Profile(
            entity=entity,
            facts=tuple(relations),
            mentioned=tuple(map(_mentioned, mentioned)),
            pending=opened.pending,
            seq=str(opened.space.seq),
        )

    def relations(
        self,
        opened: Opened,
        subject: str | None,
        kinds: Sequence[StatedKind] | None,
        target: str | None,
        limit: int,
    ) -> Relations:
        """Return relations with a subject, an object or of some kinds, the latest first."""
        one = None if subject is None else self.find(opened, subject)
        other = None if target is None else self.find(opened, target)
        shown, most = opened.shown, 1_000_000 if one and other else limit + 1
        if one is not None:
            ask = graph_ties.of_entities(one.members, shown, kinds, subject=True, target=False, limit=most)
        elif other is not None:
            ask = graph_ties.of_entities(other.members, shown, kinds, subject=False, target=True, limit=most)
        else:
            ask = graph_ties.all_relations(opened.space, shown, kinds, most)
        (rows,) = self.database.read([ask])
        if one is not None and other is not None:
            rows = [row for row in rows if row[4] in other.members]
        items = self.related(opened, rows[:limit])
        return Relations(items=tuple(items), more=len(rows) > limit, pending=opened.pending, seq=str(opened.space.seq))

    def proposals(self, opened: Opened, limit: int) -> Proposals:
        """Return pairs of names that look alike and are not one entity, those that are mentioned most first."""
        rows, pairs = self.kept.of(opened.space, opened.shown, "alike", lambda: self._alike(opened))
        groups = opened.groups
        groups.add(rows)
        of = groups.of({one for pair in pairs for one in (pair.first.id, pair.second.id)})
        kept = [
            pair
            for pair in pairs
            if of[pair.first.id] != of[pair.second.id] and not groups.are_apart(pair.first.id, pair.second.id)
        ]
        shown = kept[:limit]
        ends = groups.ends({of[one.id].head for pair in shown for one in (pair.first, pair.second)})
        items = [
            Proposal(
                first=ends[of[pair.first.id].head],
                second=ends[of[pair.second.id].head],
                reason=pair.reason,
                first_mentions=pair.first.mentions,
                second_mentions=pair.second.mentions,
            )
            for pair in shown
        ]
        return Proposals(items=tuple(items), total=len(kept), pending=opened.pending, seq=str(opened.space.seq))

    def _alike(self, opened: Opened) -> tuple[Rows, Sequence[Pair]]:
        """Return the names that are mentioned most, and the pairs of them that look alike."""
        (rows,) = self.database.read([graph.alike(opened.space, opened.shown, LOOKED_AT)])
        return rows, alike([Named(cast(int, row[0]), cast(str, row[2]), cast(int, row[3])) for row in rows])

    def status(self, name: str, caller: Caller, now: int) -> GraphStatus:
        """Return how much is known, and how much is not read yet."""
        space = find_space(self.database, name)
        shown = Shown(Point(None, now), caller.own_category)
        figures, fallen = self.kept.of(
            space,
            shown,
            "figures",
            lambda: self.database.read([graph.figures(space, shown), graph.fallbacks(space, shown)]),
        )
        state, pending = self.database.read([
            graph_rows.state(space), graph_rows.pending(name, self.index.recogniser, caller.own_category)
        ])  # fmt: skip
        entities, mentions, relations, read = cast(tuple[int, int, int, int], figures[0])
        recogniser = cast(str, state[0][1])
        return GraphStatus(
            enabled=self.index.is_on(space),
            entities=entities,
            mentions=mentions,
            relations=relations,
            read=read,
            pending=cast(int, pending[0][0]),
            recogniser=recogniser,
            current=recogniser in ("", self.index.recogniser),
            fallbacks=cast(int, fallen[0][0]),
            degraded=bool(fallen[0][0]),
            seq=str(space.seq),
        )

    def find(self, opened: Opened, query: str) -> Group:
        """Return the group of names that a name or id belongs to, which was among the queries of `open`.

        Raises:
            NotFound: no memory that the caller sees mentions it.
        """
        for id_ in opened.groups.called(query):
            group = opened.groups.of([id_])[id_]
            opened.groups.sketch(group.members)
            if any(opened.groups.sketched(one) for one in group.members):
                return group
        raise NotFound("entity", query, "the list of entities has the names that memories mention")

    def spelling(self, opened: Opened, query: str) -> str:
        """Return the name whose id a text is, as memories spell it, or the text; it was among the queries of `open`."""
        groups = opened.groups
        for id_ in groups.called(query):
            groups.sketch([id_])
            sketch = groups.sketched(id_)
            if sketch is not None and groups.names[id_].code == query.strip():
                return sketch.spelling
        return query

    def of_codes(self, opened: Opened, codes: Sequence[str]) -> list[Group]:
        """Return the groups of entities by their ids, in the order of the ids of their heads."""
        (rows,) = self.database.read([graph.called(opened.space.space.name, [], codes, opened.shown)])
        opened.groups.learn(rows, brief=False)
        groups = {group.head: group for group in opened.groups.of(cast(int, row[0]) for row in rows).values()}
        return sorted(groups.values(), key=lambda group: opened.groups.names[group.head].code)

    def at(self, opened: Opened, shown: Shown) -> Opened:
        """Return the same space as it is shown at another point."""
        return opened._replace(shown=shown, groups=Groups(self.database, shown))

    def told(self, opened: Opened, groups: Sequence[Group]) -> list[Entity]:
        """Return entities with their aliases; those that nothing mentions are left out."""
        opened.groups.sketch({one for group in groups for one in group.members})
        (rows,) = self.database.read([graph.together([group.members for group in groups], opened.shown)])
        counted = {cast(int, row[0]): row for row in rows}
        return [self._entity(opened, group, counted[place]) for place, group in enumerate(groups) if place in counted]

    def _entity(self, opened: Opened, group: Group, counted: Row) -> Entity:
        _, mentions, first, last = cast(tuple[int, int, int, int], counted)
        groups = opened.groups
        spelling, kind, said = groups.told(group)
        sketches = [groups.sketched(one) for one in group.members]
        aliases = [self._alias(groups, one, group) for one in group.members if one != group.head]
        return Entity(
            id=groups.names[group.head].code,
            name=spelling,
            kind=kind,
            mentions=mentions,
            confidence=max((one.confidence for one in sketches if one is not None), default=1.0),
            first_at=from_us(first),
            last_at=from_us(last),
            aliases=tuple(one for one in aliases if one is not None),
            memory=None if said is None else id_text(said.memory),
        )

    def _alias(self, groups: Groups, name: int, group: Group) -> Alias | None:
        sketch = groups.sketched(name)
        source, memory = group.joined.get(name, ("manual", None))
        if sketch is None and memory is None:
            return None
        known = groups.names[name]
        return Alias(
            name=sketch.spelling if sketch else known.norm,
            id=known.code,
            source=source,
            memory=None if memory is None else id_text(memory),
        )

    def related(self, opened: Opened, rows: Sequence[Row]) -> list[Relation]:
        """Return relations with the names of their ends, and what has ended those of functional kinds."""
        found = [stated_relation(row) for row in rows]
        heads = opened.groups.heads(_ends(found))
        subjects = {one.subject for one in found if one.kind in FUNCTIONAL}
        ending: dict[tuple[int, int], StatedRelation] = {}
        if subjects:
            members = [other for group in opened.groups.of(subjects).values() for other in group.members]
            asked = graph_ties.of_entities(
                members, opened.shown, sorted(FUNCTIONAL), subject=True, target=False, limit=1_000_000
            )
            every = [stated_relation(row) for row in self.database.read([asked])[0]]
            heads = opened.groups.heads(_ends([*found, *every]))
            ending = closed(every, heads)
        ends = opened.groups.ends(set(heads.values()))
        return [_relation(one, ends, heads, ending.get((one.row, one.number))) for one in found]


def _ends(found: Iterable[StatedRelation]) -> set[int]:
    return {end for one in found for end in (one.subject, one.object) if end is not None}


def _relation(
    one: StatedRelation, ends: dict[int, End], heads: dict[int, int], ended: StatedRelation | None
) -> Relation:
    until = [at for at in (one.valid_to, None if ended is None else ended.valid_from) if at is not None]
    return Relation(
        subject=ends[heads[one.subject]],
        kind=one.kind,
        object=None if one.object is None else ends[heads[one.object]],
        literal=one.literal,
        negative=one.polarity < 0,
        confidence=one.confidence,
        source=one.source,
        memory=id_text(one.memory),
        version=one.version,
        evidence=one.evidence,
        start=one.start,
        stop=one.stop,
        valid_from=from_us(one.valid_from),
        valid_to=from_us(min(until)) if until else None,
        closed_by=None if ended is None else id_text(ended.memory),
        author=one.author,
    )


def _around(text: str, *, is_cut: bool) -> str:
    """Return the text around a mention in one line, without the rest of a word that its beginning cuts.

    >>> _around("eeting. And Ann  is ill", is_cut=True), _around("Ann is ill", is_cut=False)
    ('… And Ann is ill', 'Ann is ill')
    """
    words = text.split()
    cuts = is_cut and len(words) > 1 and len(words[0]) < BEFORE
    return " ".join(["…", *words[1:]] if cuts else words)


def _mentioned(row: Row) -> Mentioned:
    memory, version, at, start, stop, text, confidence, source, around, author = cast(
        tuple[bytes, int, int, int, int, str, float, MentionSource, str, str | None], row
    )
    return Mentioned(
        memory=id_text(memory),
        version=version,
        at=from_us(at),
        start=max(start, -1),
        stop=max(stop, -1),
        text=text,
        confidence=confidence,
        source=source,
        around=_around(around, is_cut=start > BEFORE),
        author=author,
    )
