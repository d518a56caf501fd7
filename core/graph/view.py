"""The knowledge graph of a space: entities, their facts and ties, what people say of them, and how much is read."""

from collections.abc import Sequence

import msgspec

from muisti.core.graph.communities import CommunityFinder
from muisti.core.graph.decisions import GraphDecisions, check_relation_kind
from muisti.core.graph.exporting import Exported, GraphExporter, Part
from muisti.core.graph.indexing import KIND, GraphIndex
from muisti.core.graph.model import (
    Communities,
    Entities,
    EntityChange,
    Extension,
    GraphStatus,
    Neighbours,
    NewRelation,
    Path,
    Profile,
    Proposals,
    RelationChange,
    Relations,
    StatedKind,
    TieKind,
)
from muisti.core.graph.reading import GraphReader
from muisti.core.graph.walking import GraphWalker
from muisti.core.identity.caller import Caller
from muisti.core.model.choices import (
    BY_MEMORY,
    COMMUNITIES_MAX,
    DEPTH_MAX,
    ENTITIES_MAX,
    ENTITY_KINDS,
    ENTITY_SORTS,
    FACTS_MAX,
    NEIGHBOUR_SORTS,
    PATH_MAX,
    EntityKind,
    EntitySort,
    NeighbourSort,
)
from muisti.core.model.errors import InvalidInput
from muisti.core.model.ids import id_bytes
from muisti.core.model.outcomes import Written
from muisti.core.model.tasks import Task
from muisti.core.model.values import RequestKey
from muisti.core.query.points import AsOf
from muisti.core.read.reading import find_space
from muisti.core.tasks.tasks import Tasks
from muisti.core.write.calls import Calls


class Graph(msgspec.Struct, frozen=True, kw_only=True):
    """The graph that one caller sees. An entity is named by a name that memories use, or by its id.

    Every method raises `NotFound` when there is no such space. Questions raise `Conflict` when its graph is off, and
    `NotFound` when no memory that the caller sees mentions an entity. Those with `as_of` raise what `past.point_of`
    does.
    """

    calls: Calls
    index: GraphIndex
    reader: GraphReader
    walker: GraphWalker
    finder: CommunityFinder
    exporter: GraphExporter
    decisions: GraphDecisions
    tasks: Tasks

    def entities(
        self,
        space: str,
        *,
        prefix: str = "",
        kind: EntityKind | None = None,
        memory: str | None = None,
        sort: EntitySort = "-mentions",
        limit: int = 50,
        as_of: AsOf | None = None,
    ) -> Entities:
        """Return entities by the beginning of a name, by kind and by a memory, the most mentioned first."""
        _check("limit", limit, 1, ENTITIES_MAX)
        _check_among("kind", [] if kind is None else [kind], ENTITY_KINDS)
        _check_among("sort", [sort], ENTITY_SORTS)
        raw = None if memory is None else id_bytes(memory)
        if memory is not None and raw is None:
            raise InvalidInput.at("$.memory", "must be an id such as 0197a3c0-5f4e-7000-8000-0123456789ab")
        return self.reader.entities(
            space, *self._asks(), prefix=prefix, kind=kind, memory=raw, sort=sort, limit=limit, as_of=as_of
        )

    def entity(
        self, space: str, name: str, *, facts: int = 100, memories: int = 50, as_of: AsOf | None = None
    ) -> Profile:
        """Return an entity with its facts in the order of time, and the latest memories that mention it."""
        _check("facts", facts, 0, FACTS_MAX)
        _check("memories", memories, 0, ENTITIES_MAX)
        return self.reader.entity(space, name, *self._asks(), facts=facts, memories=memories, as_of=as_of)

    def neighbours(
        self,
        space: str,
        name: str,
        *,
        depth: int = 1,
        kinds: Sequence[TieKind] | None = None,
        sort: NeighbourSort = "-association",
        limit: int = 50,
        as_of: AsOf | None = None,
    ) -> Neighbours:
        """Return the entities at most `depth` ties away, the nearest first.

        Those as near are ordered by the memories that state the tie, times how much more often both ends meet than by
        chance. With `sort` `-weight` the memories count alone.
        """
        _check_among("sort", [sort], NEIGHBOUR_SORTS)
        _check("depth", depth, 1, DEPTH_MAX)
        _check("limit", limit, 1, ENTITIES_MAX)
        _check_kinds(kinds, BY_MEMORY)
        return self.walker.neighbours(
            space, name, *self._asks(), depth=depth, kinds=kinds, sort=sort, limit=limit, as_of=as_of
        )

    def path(
        self,
        space: str,
        first: str,
        second: str,
        *,
        kinds: Sequence[TieKind] | None = None,
        longest: int = PATH_MAX,
        as_of: AsOf | None = None,
    ) -> Path:
        """Return a shortest path between two entities of at most `longest` ties."""
        _check("longest", longest, 1, PATH_MAX)
        _check_kinds(kinds, BY_MEMORY)
        return self.walker.path(space, first, second, *self._asks(), kinds=kinds, longest=longest, as_of=as_of)

    def relations(
        self,
        space: str,
        *,
        subject: str | None = None,
        kinds: Sequence[StatedKind] | None = None,
        object: str | None = None,
        limit: int = 100,
        as_of: AsOf | None = None,
    ) -> Relations:
        """Return relations by subject, kinds and object, those of the latest versions first."""
        _check("limit", limit, 1, FACTS_MAX)
        _check_kinds(kinds)
        return self.reader.relations(
            space, *self._asks(), subject=subject, kinds=kinds, target=object, limit=limit, as_of=as_of
        )

    def proposals(self, space: str, *, limit: int = 50, as_of: AsOf | None = None) -> Proposals:
        """Return pairs of names that look alike, which somebody may merge or keep apart."""
        _check("limit", limit, 1, ENTITIES_MAX)
        return self.reader.proposals(space, *self._asks(), limit=limit, as_of=as_of)

    def communities(self, space: str, *, limit: int = 20, as_of: AsOf | None = None) -> Communities:
        """Return what belongs together: names that memories mention together more often than by chance."""
        _check("limit", limit, 1, COMMUNITIES_MAX)
        return self.finder.find(space, *self._asks(), limit=limit, as_of=as_of)

    def status(self, space: str) -> GraphStatus:
        """Return how much is known of a space, and how much is not read yet."""
        return self.reader.status(space, *self._asks())

    def export(self, space: str, *, as_of: AsOf | None = None) -> Exported:
        """Return all nodes and edges of the graph, as of one point, to be read page by page."""
        return self.exporter.whole(space, *self._asks(), as_of)

    def part(
        self, space: str, name: str | None = None, *, depth: int = 1, limit: int = 60, as_of: AsOf | None = None
    ) -> Part:
        """Return the entities around one, or the most mentioned, with the ties among them: enough for a picture."""
        _check("depth", depth, 1, DEPTH_MAX)
        _check("limit", limit, 1, ENTITIES_MAX)
        return self.exporter.around(space, name, *self._asks(), depth=depth, limit=limit, as_of=as_of)

    # What people say

    def put_entity(self, space: str, name: str, change: EntityChange, *, request: RequestKey | None = None) -> Written:
        """Say what an entity is; see `GraphDecisions.put`."""
        return self.decisions.put(space, name, change, self.calls.new(request))

    def merge(
        self,
        space: str,
        name: str,
        others: Sequence[str],
        *,
        category: str | None = None,
        request: RequestKey | None = None,
    ) -> Written:
        """Say that other names are those of an entity; see `GraphDecisions.merge`."""
        return self.decisions.merge(space, name, others, category, self.calls.new(request))

    def keep_apart(
        self,
        space: str,
        name: str,
        others: Sequence[str],
        *,
        category: str | None = None,
        request: RequestKey | None = None,
    ) -> Written:
        """Say that other names are not those of an entity; see `GraphDecisions.keep_apart`."""
        return self.decisions.keep_apart(space, name, others, category, self.calls.new(request))

    def relate(self, space: str, new: NewRelation, *, request: RequestKey | None = None) -> Written:
        """State a relation; see `GraphDecisions.relate`."""
        return self.decisions.relate(space, new, self.calls.new(request))

    def correct(self, space: str, id_: str, change: RelationChange, *, request: RequestKey | None = None) -> Written:
        """Change a stated relation; see `GraphDecisions.correct`."""
        return self.decisions.correct(space, id_, change, self.calls.new(request))

    def retract(self, space: str, id_: str, *, request: RequestKey | None = None) -> Written:
        """Delete a statement; see `GraphDecisions.retract`. Its changes are undone as those of memories are."""
        return self.decisions.retract(space, id_, self.calls.new(request))

    # Reading the versions

    def extend(self, space: str, most: int | None = None) -> Extension:
        """Read versions that have come since, at most about `most`. A dry run tells what the next ones give."""
        self.calls.caller.check_whole()
        if self.calls.dry_run:
            return self.index.foretell(space)
        return self.index.extend(space, most)

    def build(self, space: str, *, again: bool = False, request: RequestKey | None = None) -> Task:
        """Make a task that reads all pending versions; with `again`, that reads every version again.

        Versions about which the chosen recogniser gave no answer are read again as well.

        Raises:
            Forbidden: the caller sees a part of the space.
        """
        self.calls.caller.check_whole()
        if again:
            self.index.forget(space)
        found = find_space(self.reader.database, space)
        pending = self.index.pending(found) + (0 if again else self.index.fallbacks(found))
        caller = self.calls.caller
        return self.tasks.submit(space, KIND, {"again": again}, caller, total=pending, request=request)

    def drop(self, space: str) -> int:
        """Delete what was read, and return the number of entities; what people have said stays, as all memories do."""
        if self.calls.dry_run:
            return self.status(space).entities
        return self.index.drop(space)

    def _asks(self) -> tuple[Caller, int]:
        return self.calls.caller, self.calls.clock()


def _check(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise InvalidInput.at(f"$.{name}", f"is {value}; {least} to {most:,} are allowed")


def _check_among(name: str, values: Sequence[str], known: Sequence[str]) -> None:
    if not {*values} <= {*known}:
        raise InvalidInput.at(f"$.{name}", f"has an unknown value; there are {', '.join(known)}")


def _check_kinds(kinds: Sequence[str] | None, *others: str) -> None:
    """Raise `InvalidInput` for a kind that no relation has; None is for all kinds."""
    if kinds is not None and not kinds:
        raise InvalidInput.at("$.kinds", "is empty; without it all kinds count")
    for kind in kinds or ():
        if kind not in others:
            check_relation_kind(kind, "$.kinds")
