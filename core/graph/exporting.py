"""The graph of a space as nodes and edges: all of it page by page, or a part that fits into a picture.

Nodes and edges come in the order of the ids of entities, so that the same graph is always written the same way.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, cast

from msgspec.structs import replace

from muisti.core.graph.merging import Group
from muisti.core.graph.model import Edge, Entity, Node, Relation
from muisti.core.graph.reading import GraphReader, Opened
from muisti.core.graph.sql import graph, graph_ties
from muisti.core.graph.walking import GraphWalker
from muisti.core.model.choices import ENTITIES_MAX
from muisti.core.model.values import Seq
from muisti.core.query.points import Point

FORMS = ("identifier", "symbol")  # kinds that flood pictures of technical texts
PAGE = 200  # entities that are read together
LATEST = 2_000  # relations that are looked at for a picture
WORDS = 40  # facts with words of the entity in the middle of a picture
_ALL = 1_000_000  # relations of a page of entities


class Part(NamedTuple):
    """A part of a graph: its nodes and edges, the id in the middle, and how many entities were left out."""

    nodes: list[Node]
    edges: list[Edge]
    centre: str | None
    left_out: int
    seq: Seq


class Exported:
    """All of a graph, as of one point, whatever is written meanwhile. It holds one page of entities at a time."""

    def __init__(self, reader: GraphReader, opened: Opened) -> None:
        self._reader, self._opened = reader, opened
        self.seq = opened.space.seq
        self.pending = opened.pending

    def nodes(self) -> Iterator[Node]:
        """Yield the entities."""
        for opened, groups in self._pages():
            yield from map(_node, self._reader.told(opened, groups))

    def edges(self) -> Iterator[Edge]:
        """Yield the relations of each entity, then its ties to those after it that are mentioned with it."""
        for opened, groups in self._pages():
            yield from _edges(self._reader, opened, groups, None)

    def _pages(self) -> Iterator[tuple[Opened, list[Group]]]:
        after = ""
        while True:
            (rows,) = self._reader.database.read([
                graph.page(self._opened.space, self._opened.shown, after, PAGE)
            ])  # fmt: skip
            if not rows:
                return
            after = cast(str, rows[-1][1])
            opened = self._reader.at(self._opened, self._opened.shown)  # with no names of the pages before
            found = opened.groups.of(cast(int, id_) for id_, _ in rows)
            yield opened, [group for id_, group in found.items() if group.head == id_]


class GraphExporter:
    """Reads what callers may see. Thread-safe."""

    def __init__(self, reader: GraphReader, walker: GraphWalker) -> None:
        self._reader, self._walker = reader, walker

    def whole(self, opened: Opened) -> Exported:
        """Return the graph of a space, to be read page by page."""
        shown = opened.shown
        if shown.point.number is None:
            shown = shown._replace(point=Point(opened.space.seq.number, shown.point.time))
        return Exported(self._reader, self._reader.at(opened, shown))

    def around(self, opened: Opened, query: str | None, depth: int, limit: int) -> Part:
        """Return at most `limit` entities: those nearest to one, or the most mentioned, with the ties among them.

        Of the entity in the middle, the relations to words come too. Dates are left out: "last week" ties nobody. At
        most half are identifiers and symbols, as long as there are other entities.

        Raises:
            NotFound: no memory that the caller sees mentions the entity.
        """
        if query is not None:
            return self._around(opened, query, depth, limit)
        kept, asked = self._reader.kept, ("around", depth, limit)
        return kept.of(opened.space, opened.shown, asked, lambda: self._around(opened, None, depth, limit))

    def _around(self, opened: Opened, query: str | None, depth: int, limit: int) -> Part:
        most = min(2 * limit + 50, ENTITIES_MAX)
        if query is None:
            found = self._reader.entities(opened, "", None, None, "-mentions", most)
            known, total = [(one.id, one.kind) for one in found.items], found.total
        else:
            near = self._walker.neighbours(opened, query, depth, None, "-weight", most)
            ends = [near.entity, *(one.entity for one in near.items)]
            known, total = [(one.id, one.kind) for one in ends], near.total + 1
        named = [id_ for place, (id_, kind) in enumerate(known) if kind != "date" or (query is not None and place == 0)]
        total, codes = (
            total - (len(known) - len(named)),
            _mixed(named, {id_ for id_, kind in known if kind in FORMS}, limit),
        )
        opened = self._reader.at(opened, opened.shown)  # with no names of those that are left out
        groups = self._reader.of_codes(opened, codes)
        nodes = [_node(one) for one in self._reader.told(opened, groups)]
        edges = [*_edges(self._reader, opened, groups, {node.id for node in nodes})]
        centre = None if query is None else codes[0]
        edges = [one for one in edges if one.target is not None or one.source == centre]
        words = [one for one in edges if one.target is None][:WORDS]
        edges = [one for one in edges if one.target is not None] + words
        return Part(nodes, edges, centre, max(total - len(nodes), 0), opened.space.seq)


def _mixed(ids: Sequence[str], forms: set[str], limit: int) -> list[str]:
    """Return the first ids, at most half of them among `forms` where there are enough others; the order stays.

    >>> _mixed(["a", "b", "c", "d", "e"], {"a", "b", "c"}, 4)
    ['a', 'b', 'd', 'e']
    """
    spare = limit - min(sum(one not in forms for one in ids), limit - limit // 2)
    chosen = {*[one for one in ids if one in forms][: max(spare, 1)]}
    return [one for one in ids if one not in forms or one in chosen][:limit]


def _node(one: Entity) -> Node:
    names = tuple(sorted(alias.name for alias in one.aliases))
    return Node(
        id=one.id, name=one.name, kind=one.kind, mentions=one.mentions, confidence=one.confidence, aliases=names
    )


def _edges(reader: GraphReader, opened: Opened, groups: Sequence[Group], among: set[str] | None) -> Iterator[Edge]:
    """Yield relations and ties of groups; with `among`, the latest whose ends have one of these ids."""
    members = [one for group in groups for one in group.members]
    most, tied = (_ALL, graph_ties.mentioned_with) if among is None else (LATEST, graph_ties.mentioned_together)
    asked = graph_ties.of_entities(members, opened.shown, None, subject=True, target=False, limit=most)
    rows, together = reader.database.read([asked, tied(members, opened.shown)])
    stated: dict[str, list[Relation]] = {}
    for relation in reader.related(opened, rows):
        stated.setdefault(relation.subject.id, []).append(relation)
    ties = _ties(opened, cast(Iterable[tuple[int, int, int]], together))
    for group in groups:
        code = opened.groups.names[group.head].code
        relations = sorted(stated.get(code, ()), key=lambda one: (one.valid_from, one.memory, one.version, one.start))
        edges = [*map(_edge, relations), *ties.get(code, ())]
        yield from (one for one in edges if among is None or one.target is None or one.target in among)


def _ties(opened: Opened, rows: Iterable[tuple[int, int, int]]) -> dict[str, list[Edge]]:
    """Return the ties of entities to those with a greater id. A version counts once for each pair of names."""
    found = [*rows]
    heads = opened.groups.heads({id_ for one, other, _ in found for id_ in (one, other)})
    weights: dict[tuple[str, str], int] = {}
    for one, other, number in found:
        pair = (opened.groups.names[heads[one]].code, opened.groups.names[heads[other]].code)
        if pair[0] < pair[1]:
            weights[pair] = weights.get(pair, 0) + number
    ties: dict[str, list[Edge]] = {}
    for (source, target), weight in sorted(weights.items()):
        ties.setdefault(source, []).append(Edge(source=source, target=target, kind="mentioned_with", weight=weight))
    return ties


def _edge(one: Relation) -> Edge:
    edge = Edge(
        source=one.subject.id,
        kind=one.kind,
        negative=one.negative,
        confidence=one.confidence,
        memory=one.memory,
        valid_from=one.valid_from,
        valid_to=one.valid_to,
    )
    return replace(edge, literal=one.literal or "") if one.object is None else replace(edge, target=one.object.id)
