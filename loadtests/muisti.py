"""Muisti as the benchmarks see it: whole searches through `Engine`, and the rankings under them.

Only this module of the benchmarks depends on the internals of the index.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from loadtests.fill import SPACE
from muisti.core.embedding.encoder import Encoder
from muisti.core.engine import Engine
from muisti.core.index.collection_statistics import Allowed
from muisti.core.index.columns import Buffer
from muisti.core.index.dense import nearest, query_vector, rotated
from muisti.core.index.lexical import best_matches, rank_lexical
from muisti.core.index.snapshot import Snapshot
from muisti.core.index.space_index import SpaceIndex
from muisti.core.index.vector_columns import SignBits
from muisti.core.kernels import Floats, Mask
from muisti.core.model.hits import Mode
from muisti.core.query.filters import Filter, Leaf
from muisti.core.query.query import Query, parse
from muisti.core.store.file.database import FileDatabase

DENSE = ("bits", "codes", "scales", "fine", "fine_scales", "embedded")
MEMORY = 16 << 30  # bytes that the index may take: benchmarks never evict

Found = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Muisti:
    """An open database whose space is loaded. Memories are numbered in the order in which they were stored."""

    engine: Engine
    encoder: Encoder
    index: SpaceIndex
    snapshot: Snapshot
    memory_of: Found  # of each row

    def search(self, text: str, mode: Mode, filter: Filter | None = None) -> int:
        """A whole search; the number of hits."""
        return len(self.engine.owner.read.search(SPACE, Query(text=text, mode=mode, filter=filter)).hits)

    def dense(self, direction: Floats, k: int, allowed: Allowed | None = None) -> Found:
        """The nearest memories to a unit vector."""
        rows = self._visible() if allowed is None else allowed
        return self.memory_of[nearest(self.snapshot, query_vector(rotated(direction)), rows, k).rows]

    def lexical(self, text: str, k: int, allowed: Allowed | None = None) -> Found:
        """The best memories by BM25."""
        population = self.snapshot.population(_now())
        mask = population.mask if allowed is None else allowed.mask
        matches = rank_lexical(self.snapshot, population, parse(text, "any"), mask)
        return self.memory_of[best_matches(self.snapshot, matches, mask, k)]

    def store_sizes(self) -> None:
        """Write the sizes that contexts have computed."""
        self.engine.flush_retrievals()

    def forget_sizes(self) -> None:
        """Forget the sizes of memories that are in memory, so that the next context reads them."""
        self.engine._sizes.forget()  # pyright: ignore[reportPrivateUsage]  # below the engine

    @property
    def dense_bytes(self) -> int:
        """Bytes that a vector search reads, over all rows."""
        return sum(size for name, size in sizes(self.index).items() if name in DENSE)

    @property
    def lexical_bytes(self) -> int:
        """Bytes that a keyword search reads, over all rows, with the ordered tokens, which only phrases need."""
        return sum(size for name, size in sizes(self.index).items() if name.startswith("postings.") or name == "length")

    def rows_of(self, memories: Mask) -> Allowed:
        """The rows of some memories."""
        mask = memories[self.memory_of]
        return Allowed(mask, int(np.count_nonzero(mask)))

    def _visible(self) -> Allowed:
        return self.snapshot.population(_now()).allowed


@contextmanager
def opened(path: Path, encoder: Encoder) -> Iterator[Muisti]:
    """The database with its index loaded."""
    with Engine(FileDatabase(path), encoder, _now, index_memory=MEMORY) as engine:
        index, snapshot = engine._indexes.fresh(SPACE)  # pyright: ignore[reportPrivateUsage]  # below the engine
        engine.settle()
        memory_of = np.unique(snapshot.rows.version.view(snapshot.size), return_inverse=True)[1].astype(np.int64)
        yield Muisti(engine, encoder, index, snapshot, memory_of)


def loading(path: Path, encoder: Encoder) -> tuple[float, int]:
    """Seconds of processor time that reading the space into memory takes, and its bytes there."""
    with Engine(FileDatabase(path), encoder, _now, index_memory=MEMORY) as engine:
        began = time.process_time()
        index, _ = engine._indexes.fresh(SPACE)  # pyright: ignore[reportPrivateUsage]  # below the engine
        took = time.process_time() - began
        engine.settle()
        return took, index.nbytes


def forget_filters(engine: Engine, space: str) -> None:
    """Forget the rows of filters, as if none had been asked since the fields were read."""
    index, _ = engine._indexes.fresh(space)  # pyright: ignore[reportPrivateUsage]  # below the engine
    fields = index._fields  # pyright: ignore[reportPrivateUsage]
    known = getattr(fields, "selections", None)  # an older checkout remembers nothing
    if known is not None:
        fields.selections = type(known)(fields.rows, fields.column)


def below(percent: int) -> Filter:
    """The filter that lets `percent` of the memories through."""
    return Leaf("metadata.a", "lt", percent)


def sizes(index: SpaceIndex) -> dict[str, int]:
    """Bytes that are in use, by column of the index. Buffers that grow have up to as much again in reserve."""
    rows, pieces = index.snapshot.rows, index.snapshot.pieces
    growing = ((name, value) for name, value in vars(rows).items() if isinstance(value, Buffer | SignBits))
    found = {name: value.view().nbytes for name, value in growing}
    for piece in pieces:
        for name in piece.__slots__:
            array = getattr(piece, name)
            if isinstance(array, np.ndarray):
                found[f"postings.{name}"] = found.get(f"postings.{name}", 0) + array.nbytes
    return found


def _now() -> int:
    return time.time_ns() // 1000
