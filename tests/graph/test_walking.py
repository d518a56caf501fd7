"""Ties that walks follow."""

import random
from itertools import pairwise

from muisti.core.graph.extraction import usual_reader
from muisti.core.model.choices import PATH_MAX
from tests.core.fakes import SPACE, add, open_engine
from tests.graph.plain import toy_reader
from tests.stores import Stores


def test_a_date_ties_nobody(stores: Stores):
    """Two memories that name the same week say nothing about each other."""
    with open_engine(stores(), graph_reader=usual_reader) as engine:
        add(engine, "Then Ann Berg met Tom Keller last week", "Then Zoe Miller flew to Oslo last week")
        graph = engine.owner.graph
        assert "last week" in {one.name for one in graph.entities(SPACE, kind="date").items}
        near = {one.entity.name for one in graph.neighbours(SPACE, "Ann Berg", depth=3).items}
        assert near == {"Tom Keller"}
        assert not graph.path(SPACE, "Ann Berg", "Zoe Miller").found
        part = graph.part(SPACE, "Ann Berg", depth=3)
        assert {node.name for node in part.nodes} == {"Ann Berg", "Tom Keller"}
        edges = [(edge.source, edge.target) for edge in graph.export(SPACE).edges() if edge.kind == "mentioned_with"]
        names = {node.id: node.name for node in graph.export(SPACE).nodes()}
        tied = {frozenset(names[end] for end in pair if end) for pair in edges}
        assert tied == {frozenset({"Ann Berg", "Tom Keller"}), frozenset({"Zoe Miller", "Oslo"})}


def test_few_neighbours_are_the_first_of_many(stores: Stores):
    """Names that are not shown are read only as far as merging needs it, and nothing else changes."""
    people = ["Ann Berg", "Tom Keller", "Zoe Miller", "Eva Novak", "Liam Byrne", "Maria Garcia", "Bob Lind"]
    said = [*people, "Keller", "Zoe", "Novak", "Garcia"]  # the last are parts of names, and merge with them
    rng = random.Random(5)
    texts = [f"Then {one} met {two} in the park, day {day}" for day in range(40)
             for one, two in [rng.sample(said, 2)] if rng.random() < 0.4]  # fmt: skip
    with open_engine(stores(), graph_reader=usual_reader) as engine:
        add(engine, *(f"Then {one} met Ann Berg in the park" for one in people[1:3]), *texts)
        graph = engine.owner.graph
        for depth in (1, 2, 3):
            every = graph.neighbours(SPACE, "Ann Berg", depth=depth, limit=100)
            assert len(every.items) > 1
            for limit in range(1, len(every.items) + 1):
                few = graph.neighbours(SPACE, "Ann Berg", depth=depth, limit=limit)
                assert (few.items, few.total) == (every.items[:limit], every.total)
        far = graph.neighbours(SPACE, "Ann Berg", depth=3, limit=100).items
        for one in far:
            way = graph.path(SPACE, "Ann Berg", one.entity.name)
            assert (len(way.steps), way.steps[-1].target) == (one.depth, one.entity)
        assert any(one.depth == 2 for one in far)


def test_paths_are_as_short_as_a_plain_search_finds_them(stores: Stores):
    """Sparse random ties, some names merged: the sides of a search meet at each length, also where no level is."""
    rng = random.Random(11)
    names = [f"{first}{last}" for first in ["Abcd", "Efgh", "Ijkl", "Mnop", "Qrst", "Uvwx"] for last in "aeiouyzk"]
    pairs = [tuple(rng.sample(names, 2)) for _ in range(54)]
    merged = [tuple(rng.sample(names, 2)) for _ in range(4)]
    with open_engine(stores(), graph_reader=toy_reader, embeddings=False) as engine:
        add(engine, *(f"{one} like {two}" for one, two in pairs))
        engine.owner.graph.extend(SPACE)
        graph = engine.owner.graph
        known = sorted({name for pair in pairs for name in pair})
        for one, two in merged:
            graph.merge(SPACE, one, [two])
        heads = {name: graph.entity(SPACE, name).entity.id for name in known}
        tied: dict[str, set[str]] = {head: set() for head in heads.values()}
        for one, two in pairs:
            tied[heads[one]].add(heads[two])
            tied[heads[two]].add(heads[one])
        lengths = set[int]()
        for kinds in (["likes"], ["mentioned_with"], ["likes", "mentioned_with"]):
            for one, two in [tuple(rng.sample(known, 2)) for _ in range(24)]:
                away = distances(tied, heads[one]).get(heads[two])
                path = graph.path(SPACE, one, two, kinds=kinds)  # pyright: ignore[reportArgumentType]
                lengths.add(len(path.steps))
                assert (len(path.steps) if path.found else None) == (away if away is None or away <= PATH_MAX else None)
                way = [heads[one], *(step.target.id for step in path.steps)]
                assert not path.steps or all(b in tied[a] for a, b in pairwise(way)) and way[-1] == heads[two]
                assert all(step.kinds and set(step.kinds) <= set(kinds) and step.memories for step in path.steps)
        assert lengths >= set(range(1, PATH_MAX + 1))


def distances(tied: dict[str, set[str]], start: str) -> dict[str, int]:
    """Return how many ties each entity is away from one."""
    found, frontier = {start: 0}, [start]
    while frontier:
        frontier = [other for one in frontier for other in tied[one] if other not in found
                    and found.setdefault(other, found[one] + 1)]  # fmt: skip
    return found
