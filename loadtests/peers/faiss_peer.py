"""faiss: exact float32, 8-bit scalar quantisation, and its HNSW graph; filters by a bitmap selector."""

from collections.abc import Callable
from pathlib import Path

import faiss
import numpy as np

from loadtests.peers.dense import DenseEngine, Search, Selection
from loadtests.shelf import Shelf
from muisti.core.embedding.vectors import Vectors

LINKS, CONSTRUCTION, EF = 16, 100, 100
HNSW_ROWS = 100_000  # more take long to build


def engines(vectors: Vectors, shelf: Shelf, *, slow: bool) -> list[DenseEngine]:
    size = vectors.shape[1]
    bits = faiss.ScalarQuantizer.QT_8bit
    kinds: list[tuple[str, str, Callable[[], faiss.Index]]] = [
        ("faiss Flat", "faiss-flat", lambda: faiss.IndexFlatIP(size)),
        ("faiss SQ8", "faiss-sq8", lambda: faiss.IndexScalarQuantizer(size, bits, faiss.METRIC_INNER_PRODUCT)),
    ]
    hnsw = f"faiss-hnsw-{LINKS}-{CONSTRUCTION}"
    if slow or len(vectors) <= HNSW_ROWS or shelf.has(hnsw):
        kinds.append((f"faiss HNSW {EF}", hnsw, lambda: _graph(size)))
    return [
        _engine(name, *shelf.kept(key, lambda path, new=new: _build(new(), vectors, path))) for name, key, new in kinds
    ]


def _graph(size: int) -> faiss.IndexHNSWFlat:
    index = faiss.IndexHNSWFlat(size, LINKS, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = CONSTRUCTION
    return index


def _build(index: faiss.Index, vectors: Vectors, path: Path) -> None:
    index.train(vectors)
    index.add(vectors)
    faiss.write_index(index, str(path))


def _engine(name: str, path: Path, seconds: float) -> DenseEngine:
    index = faiss.read_index(str(path))
    faiss.omp_set_num_threads(1)
    graph = isinstance(index, faiss.IndexHNSW)

    def parameters(selector: faiss.IDSelector | None) -> faiss.SearchParameters:
        return faiss.SearchParametersHNSW(efSearch=EF, sel=selector) if graph else faiss.SearchParameters(sel=selector)

    def search(selector: faiss.IDSelector | None) -> Search:
        chosen = parameters(selector)
        return lambda query, k: index.search(query[None, :], k, params=chosen)[1][0]

    def filtered(selection: Selection) -> Search:
        bits = np.packbits(selection.mask, bitorder="little")
        selector = faiss.IDSelectorBitmap(bits)
        answer = search(selector)
        return lambda query, k, _alive=(bits, selector): answer(query, k)

    return DenseEngine(name, search(None), filtered, seconds, path.stat().st_size)
