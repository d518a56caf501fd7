"""The rankings of a search, by name: those that run in each mode, and the outcome of each.

A ranking is declared here once. Candidates, fusion and the places of hits use mappings by its name.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Protocol

import msgspec
import numpy as np

from muisti.core.graph.answers import Answering
from muisti.core.graph.pagerank import Walked
from muisti.core.index.collection_statistics import Allowed, CollectionStatistics
from muisti.core.index.lexical import Matches, best_matches, mark_same_text, rank_lexical
from muisti.core.index.snapshot import RowNumbers, Snapshot, one_a_memory
from muisti.core.index.space_index import SpaceIndex
from muisti.core.kernels import Doubles
from muisti.core.model.choices import Mode
from muisti.core.model.hits import Recency
from muisti.core.query.filters import Filter
from muisti.core.query.query import Options, Query, Wanted
from muisti.core.search.query_vectors import Like, QueryVectors, cosines, nearest

Name = Literal["lexical", "dense", "graph"]

BY_MODE: Mapping[Mode, tuple[Name, ...]] = {
    "hybrid": ("lexical", "dense"),
    "semantic": ("dense",),
    "keyword": ("lexical",),
    "metadata": (),
    "recent": (),
}


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """Memories that a caller expects among the hits, by id.

    `conditions` has each condition of the filter with the fields that it names. `shows` says whether the caller sees
    memories of a category.
    """

    ids: tuple[str, ...]
    conditions: Sequence[tuple[frozenset[str], Filter]]
    shows: Callable[[object], bool]


class Extra(msgspec.Struct, frozen=True, kw_only=True):
    """Options, with what they are resolved to: the memory of `similar_to`, and the filter of what the caller sees.

    `walked` are the visits of the graph ranking, and `facts` those of the graph that answer. `recency` has the decay of
    a composite. `joint` says that the answer will be merged with those of other spaces. `expected` has the memories of
    `explain_ids`, None for none.
    """

    options: Options
    recency: Recency = Recency()
    joint: bool = False
    like: Like | None = None
    sees: Filter | None = None
    walked: Walked | None = None
    facts: Answering = Answering()
    expected: Expected | None = None


class Asked(msgspec.Struct, frozen=True):
    """A query on a snapshot, with what it is resolved to and the rows that it may rank.

    `mode` is the one that runs. `now` is in microseconds. `vectors` is None where the dense ranking does not run, and
    `extra` has options, None for none. `quoted` has the allowed rows with every quoted part, None unless these come
    before others.
    """

    index: SpaceIndex
    snapshot: Snapshot
    query: Query
    wanted: Wanted
    mode: Mode
    now: int
    vectors: QueryVectors | None
    extra: Extra | None
    population: CollectionStatistics
    allowed: Allowed
    quoted: RowNumbers | None

    @property
    def walked(self) -> Walked | None:
        """The visits of the graph ranking; None where it does not run."""
        return None if self.extra is None else self.extra.walked


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
