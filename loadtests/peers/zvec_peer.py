"""zvec: Alibaba's embedded vector store, flat and by HNSW, as its README opens it. The group is an indexed field."""

from pathlib import Path

import numpy as np
import zvec

from loadtests.fill import group_of
from loadtests.peers.dense import DenseEngine, Search, Selection
from loadtests.shelf import Shelf, weight
from muisti.core.embedding.vectors import Vectors

EF = 300  # its default


def engines(vectors: Vectors, shelf: Shelf, *, slow: bool) -> list[DenseEngine]:
    metric = zvec.MetricType.IP
    forms = {
        "zvec Flat": (zvec.FlatIndexParam(metric_type=metric), None),
        f"zvec HNSW ef {EF}": (zvec.HnswIndexParam(metric_type=metric), zvec.HnswQueryParam(ef=EF)),
    }
    found: list[DenseEngine] = []
    for name, (index, asked) in forms.items():
        path, seconds = shelf.kept(name.replace(" ", "-"), lambda path, index=index: _build(vectors, path, index))
        opened = zvec.open(str(path))

        def filtered(selection: Selection, opened: zvec.Collection = opened, asked: object = asked) -> Search:
            return _search(opened, asked, f"a < {selection.percent}")

        found.append(DenseEngine(name, _search(opened, asked), filtered, seconds, weight(path)))
    return found


def _search(opened: zvec.Collection, asked: object, condition: str | None = None) -> Search:
    def answer(query: Vectors, k: int) -> np.ndarray:
        made = zvec.Query(field_name="vector", vector=query, param=asked)
        return np.array([int(doc.id) for doc in opened.query(made, topk=k, filter=condition)], np.int64)

    return answer


def _build(vectors: Vectors, path: Path, index: object) -> None:
    number = zvec.FieldSchema("a", zvec.DataType.INT64, index_param=zvec.InvertIndexParam())
    vector = zvec.VectorSchema("vector", zvec.DataType.VECTOR_FP32, vectors.shape[1], index)
    opened = zvec.create_and_open(str(path), zvec.CollectionSchema("texts", number, vector))
    for first in range(0, len(vectors), 1_000):
        rows = range(first, min(first + 1_000, len(vectors)))
        opened.insert(
            [zvec.Doc(str(row), vectors={"vector": vectors[row]}, fields={"a": group_of(row)}) for row in rows]
        )
    opened.optimize()
    opened.flush()
    opened.close()
