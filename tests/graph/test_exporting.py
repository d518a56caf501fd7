"""An export of a graph holds one page of entities, however large the graph is."""

import random
import tracemalloc
from collections.abc import Iterable
from pathlib import Path

import pytest

from muisti.core.engine import Engine
from muisti.core.graph import exporting
from muisti.core.graph.model import EntityChange
from muisti.core.model.values import Draft
from tests.core.fakes import SPACE, open_engine
from tests.graph.plain import toy_reader

PAGE = 50


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(exporting, "PAGE", PAGE)


def fill(engine: Engine, size: int) -> None:
    """Store memories of `size` people. Each is tied to the next two, and likes one of them."""
    drafts = [Draft(content=f"P{n} met P{n + 1}. P{n} like P{n + 2}") for n in range(size - 2)]
    for start in range(0, len(drafts), 200):
        engine.owner.write.add(SPACE, drafts[start : start + 200], on_conflict="keep")
    engine.owner.graph.extend(SPACE)


def peak(parts: Iterable[object]) -> tuple[int, int]:
    """Return how many parts there are, and the most memory that was held while they came."""
    tracemalloc.start()
    try:
        count = sum(1 for _ in parts)
        return count, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.file_only
def test_memory_does_not_grow_with_the_graph(tmp_path: Path):
    peaks: dict[str, list[int]] = {"nodes": [], "edges": []}
    for size in (300, 1_800):
        with open_engine(tmp_path / f"{size}.db", graph_reader=toy_reader, embeddings=False) as engine:
            fill(engine, size)
            graph = engine.owner.graph.export(SPACE)
            nodes, held = peak(graph.nodes())
            peaks["nodes"].append(held)
            edges, held = peak(graph.edges())
            peaks["edges"].append(held)
            assert (nodes, edges) == (size, 3 * size - 5)
    for few, many in peaks.values():
        assert many < 2.5 * few  # six times as many entities


def test_names_that_are_merged_across_pages_are_one_node(tmp_path: Path):
    with open_engine(tmp_path / "m.db", graph_reader=toy_reader) as engine:
        fill(engine, 160)
        pairs = random.Random(1).sample(range(160), 40)
        for one, other in zip(pairs[::2], pairs[1::2], strict=True):
            engine.owner.graph.put_entity(SPACE, f"P{one}", EntityChange(aliases=(f"P{other}",)))
        graph = engine.owner.graph.export(SPACE)
        nodes, edges = [*graph.nodes()], [*graph.edges()]
        assert len({node.id for node in nodes}) == len(nodes) == 140
        assert sorted(len(node.aliases) for node in nodes) == [0] * 120 + [1] * 20
        assert {end for edge in edges for end in (edge.source, edge.target)} <= {node.id for node in nodes}
        assert sum(edge.kind == "likes" for edge in edges) == 158
