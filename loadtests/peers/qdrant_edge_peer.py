"""Qdrant Edge: Qdrant's shard within the process, with its default HNSW and an index of the group."""

from pathlib import Path

import numpy as np
import qdrant_edge as edge

from loadtests.fill import group_of
from loadtests.peers.dense import DenseEngine, Search, Selection
from loadtests.shelf import Shelf, weight
from muisti.core.embedding.vectors import Vectors

EF = 100  # as its `ef_construct`


def engines(vectors: Vectors, shelf: Shelf, *, slow: bool) -> list[DenseEngine]:
    path, seconds = shelf.kept("qdrant-edge", lambda path: _build(vectors, path))
    shard = edge.EdgeShard.load(str(path))

    def asks(name: str, params: edge.SearchParams) -> DenseEngine:
        def filtered(selection: Selection) -> Search:
            below = edge.FieldCondition("a", range=edge.RangeFloat(lt=selection.percent))
            return _search(shard, params, edge.Filter(must=[below]))

        return DenseEngine(name, _search(shard, params), filtered, seconds, weight(path))

    return [
        asks("Qdrant Edge exact", edge.SearchParams(exact=True)),
        asks(f"Qdrant Edge ef {EF}", edge.SearchParams(hnsw_ef=EF)),
    ]


def _search(shard: edge.EdgeShard, params: edge.SearchParams, condition: edge.Filter | None = None) -> Search:
    def answer(query: Vectors, k: int) -> np.ndarray:
        asked = edge.SearchRequest(edge.Query.Nearest(query.tolist()), k, filter=condition, params=params)
        return np.array([point.id for point in shard.search(asked)], np.int64)

    return answer


def _build(vectors: Vectors, path: Path) -> None:
    path.mkdir()
    made = edge.EdgeVectorParams(vectors.shape[1], edge.Distance.Dot)
    shard = edge.EdgeShard.create(str(path), edge.EdgeConfig(vectors=made, max_search_threads=1))
    shard.update(edge.UpdateOperation.create_field_index("a", edge.PayloadSchemaType.Integer))
    for first in range(0, len(vectors), 1_000):
        rows = range(first, min(first + 1_000, len(vectors)))
        points = [edge.Point(row, vectors[row].tolist(), {"a": group_of(row)}) for row in rows]
        shard.update(edge.UpdateOperation.upsert_points(points))
    shard.optimize()
    shard.flush()
    shard.close()
