"""The rankings of a search, by name: those that run in each mode, and the outcome of each.

A ranking is declared here once. Candidates, fusion and the places of hits use mappings by its name.
"""

from collections.abc import Callable, Mapping
from typing import Literal, Protocol

import msgspec
import numpy as np

from muisti.core.graph.pagerank import Walked
from muisti.core.index.allowed import Allowed
from muisti.core.index.collection import CollectionStatistics
from muisti.core.index.lexical import Matches, best_matches, mark_same_text, rank_lexical
from muisti.core.index.pool import one_a_memory
from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.kernels import Doubles
from muisti.core.model.terms import Mode
from muisti.core.query.query import Wanted
from muisti.core.search.two_models import QueryVectors, cosines, nearest

Name = Literal["lexical", "dense", "graph"]

BY_MODE: Mapping[Mode, tuple[Name, ...]] = {
    "hybrid": ("lexical", "dense"),
    "semantic": ("dense",),
    "keyword": ("lexical",),
    "metadata": (),
    "recent": (),
}


class Asked(msgspec.Struct, frozen=True):
    """A query and the rows of a snapshot that it may rank.

    `vectors` is None where the dense ranking does not run, `walked` where that of the graph does not.
    """

    snapshot: Snapshot
    population: CollectionStatistics
    wanted: Wanted
    vectors: QueryVectors | None
    allowed: Allowed
    walked: Walked | None = None


class Ranking(msgspec.Struct, frozen=True):
    """The outcome of one ranking.

    `best` has the best row of each memory that it proposes, best first. `scores` has one value for each candidate row
    of the search, whichever ranking proposed that row.
    """

    best: RowNumbers
    scores: Doubles


class Ranker(Protocol):
    """A ranking of one query."""

    @property
    def matches(self) -> Matches | None:
        """The query's words in the rows; None for a ranking that compares no words and may return any row."""
        ...

    def best(self, most: int) -> RowNumbers:
        """Return the best row of each of the best memories, best first."""
        ...

    def scores(self, rows: RowNumbers) -> Doubles:
        """Return the score of each of these rows."""
        ...


class Lexical:
    """The ranking by the words of the query: BM25 over its largest possible value, in [0, 1]."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self.matches = rank_lexical(asked.snapshot, asked.population, asked.wanted, asked.allowed.mask)
        mark_same_text(asked.snapshot, asked.wanted, self.matches, asked.allowed.mask)

    def best(self, most: int) -> RowNumbers:
        return best_matches(self._asked.snapshot, self.matches, self._asked.allowed.mask, most)

    def scores(self, rows: RowNumbers) -> Doubles:
        return self.matches.scores[rows].astype(np.float64)


class Dense:
    """The ranking by the query's vectors: the cosine, in [-1, 1], of both models where the space has two."""

    matches = None

    def __init__(self, asked: Asked) -> None:
        assert asked.vectors is not None
        self._asked, self._vectors = asked, asked.vectors

    def best(self, most: int) -> RowNumbers:
        return nearest(self._asked.snapshot, self._vectors, self._asked.allowed, most).best

    def scores(self, rows: RowNumbers) -> Doubles:
        return cosines(self._asked.snapshot, self._vectors, rows).both


class Graph:
    """The ranking by the entities that the query names: visits of the memory from them, in [0, 1]."""

    matches = None

    def __init__(self, asked: Asked) -> None:
        assert asked.walked is not None
        self._asked, self._walked = asked, asked.walked

    def best(self, most: int) -> RowNumbers:
        snapshot = self._asked.snapshot
        near = self._walked.versions[self._walked.visits > 0]
        rows = np.flatnonzero(self._asked.allowed.mask & np.isin(snapshot.columns.version, near))
        rows = rows[one_a_memory(snapshot, rows)]
        return rows[np.argsort(-self.scores(rows), kind="stable")[:most]]

    def scores(self, rows: RowNumbers) -> Doubles:
        return self._walked.of(self._asked.snapshot.columns.version[rows])


RANKERS: Mapping[Name, Callable[[Asked], Ranker]] = {"lexical": Lexical, "dense": Dense, "graph": Graph}
