"""The knowledge graph of a space: entities, their facts and ties, what people say of them, and how much is read."""

from collections.abc import Sequence

from muisti.core.graph.communities import CommunityFinder
from muisti.core.graph.decisions import GraphDecisions, check_relation_kind
from muisti.core.graph.exporting import Exported, GraphExporter, Part
from muisti.core.graph.indexing import KIND, GraphIndex
from muisti.core.graph.model import (
    Communities,
    Entities,
    Extension,
    GraphStatus,
    Neighbours,
    Path,
    Profile,
    Proposals,
    Relations,
    StatedKind,
    TieKind,
)
from muisti.core.graph.reading import GraphReader, Opened
from muisti.core.graph.walking import GraphWalker
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
from muisti.core.model.tasks import Task
from muisti.core.model.values import RequestKey
from muisti.core.query.points import AsOf
from muisti.core.read.reading import find_space
from muisti.core.tasks.tasks import Tasks


class Graph(GraphDecisions, frozen=True, kw_only=True):
    """The graph that one caller sees, with what it says of it. A name that memories use, or an id, names an entity.

    Every method raises `NotFound` when there is no such space. Questions raise `Conflict` when its graph is off, and
    `NotFound` when no memory that the caller sees mentions an entity. Those with `as_of` raise what `GraphReader.open`
    does.
    """

    index: GraphIndex
    reader: GraphReader
    walker: GraphWalker
    finder: CommunityFinder
    exporter: GraphExporter
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
        return self.reader.entities(self._open(space, as_of), prefix, kind, raw, sort, limit)

    def entity(
        self, space: str, name: str, *, facts: int = 100, memories: int = 50, as_of: AsOf | None = None
    ) -> Profile:
        """Return an entity with its facts in the order of time, and the latest memories that mention it."""
        _check("facts", facts, 0, FACTS_MAX)
        _check("memories", memories, 0, ENTITIES_MAX)
        return self.reader.entity(self._open(space, as_of, name), name, facts, memories)

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
        return self.walker.neighbours(self._open(space, as_of, name), name, depth, kinds, sort, limit)

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
        return self.walker.path(self._open(space, as_of, first, second), first, second, kinds, longest)

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
        ends = [end for end in (subject, object) if end is not None]
        return self.reader.relations(self._open(space, as_of, *ends), subject, kinds, object, limit)

    def proposals(self, space: str, *, limit: int = 50, as_of: AsOf | None = None) -> Proposals:
        """Return pairs of names that look alike, which somebody may merge or keep apart."""
        _check("limit", limit, 1, ENTITIES_MAX)
        return self.reader.proposals(self._open(space, as_of), limit)

    def communities(self, space: str, *, limit: int = 20, as_of: AsOf | None = None) -> Communities:
        """Return what belongs together: names that memories mention together more often than by chance."""
        _check("limit", limit, 1, COMMUNITIES_MAX)
        return self.finder.find(self._open(space, as_of), limit)

    def status(self, space: str) -> GraphStatus:
        """Return how much is known of a space, and how much is not read yet."""
        return self.reader.status(space, self.calls.caller, self.calls.clock())

    def export(self, space: str, *, as_of: AsOf | None = None) -> Exported:
        """Return all nodes and edges of the graph, as of one point, to be read page by page."""
        return self.exporter.whole(self._open(space, as_of))

    def part(
        self, space: str, name: str | None = None, *, depth: int = 1, limit: int = 60, as_of: AsOf | None = None
    ) -> Part:
        """Return the entities around one, or the most mentioned, with the ties among them: enough for a picture."""
        _check("depth", depth, 1, DEPTH_MAX)
        _check("limit", limit, 1, ENTITIES_MAX)
        return self.exporter.around(self._open(space, as_of, *([] if name is None else [name])), name, depth, limit)

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

    def _open(self, space: str, as_of: AsOf | None, *names: str) -> Opened:
        return self.reader.open(space, self.calls.caller, self.calls.clock(), as_of, names)


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
