"""Makes the vectors of a query: by the model of a space, and by its second model where it has one.

There are two ways to ask a second model. `transformer` embeds the query by it, in milliseconds. `mapped` turns the
vector by the first model into one of the second by a matrix, in microseconds and less exactly. A model without a map
is always asked itself.
"""

from typing import NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace

from muisti.core.embedding.cache import Limited
from muisti.core.embedding.models import Models, absent
from muisti.core.embedding.vectors import QueryMaps
from muisti.core.index import dense
from muisti.core.index.collection_statistics import Allowed
from muisti.core.index.dense import QueryVector, directions, query_vector, rotated
from muisti.core.index.snapshot import RowNumbers, Snapshot, best_places
from muisti.core.index.vector_columns import Vectors
from muisti.core.kernels import Doubles, Floats
from muisti.core.model.choices import SecondQuery
from muisti.core.model.errors import ModelUnavailable
from muisti.core.model.ids import id_bytes
from muisti.core.model.spaces import Space
from muisti.core.model.values import QUERY_MAX
from muisti.core.query.query import Wanted, parse
from muisti.core.text.language import mostly_latin

# Searches by a memory in place of a text: its words and its stored vector are the query


class Like(msgspec.Struct, frozen=True):
    """The memory that is the query: its id and its content."""

    id: str
    content: str

    @property
    def text(self) -> str:
        """The words of the query. Quotes in a content are no demand for a phrase."""
        return self.content[:QUERY_MAX].replace('"', " ")


def wanted_like(like: Like) -> Wanted:
    """Return the words to rank by. The text stays empty: its times and names ask for nothing."""
    return replace(parse(like.text, "any"), text="")


def direction_of(snapshot: Snapshot, like: Like, vectors: Vectors | None = None) -> Floats | None:
    """Return the mean of the vectors of the memory's passages, in the coordinates of the index; None without any.

    `vectors` are those by the space's model unless given.
    """
    own = directions(snapshot, rows_of(snapshot, like), vectors)
    own = own[own.any(axis=1)]
    return own.mean(axis=0, dtype=np.float32) if len(own) else None


def without(snapshot: Snapshot, allowed: Allowed, like: Like) -> Allowed:
    """Return the allowed rows without those of the memory itself."""
    mask = allowed.mask.copy()
    mask[_versions(snapshot, like)] = False
    return Allowed(mask, int(np.count_nonzero(mask)))


def rows_of(snapshot: Snapshot, like: Like) -> RowNumbers:
    """Return the rows of the version of the memory that was open at the snapshot; empty when it has none."""
    rows, number = _versions(snapshot, like), snapshot.seq.number
    born, died = snapshot.rows.born.view(snapshot.size), snapshot.rows.died.view(snapshot.size)
    return rows[(born[rows] <= number) & (died[rows] > number)]


def _versions(snapshot: Snapshot, like: Like) -> RowNumbers:
    raw = id_bytes(like.id)
    assert raw is not None
    high, low = (np.uint64(int.from_bytes(part, "big")) for part in (raw[:8], raw[8:]))
    c = snapshot.columns
    return np.flatnonzero((c.id_low == low) & (c.id_high == high))


# Cosines of rows by the model of a space and by its second model, in one number.
#
#     both = (1 - share) * own + share * second
#
# `share` is `SHARE`, or `MAPPED_SHARE` for a query's vector that was mapped, because that is less exact. It is 0 for a
# row without a second vector: such a row keeps its own cosine.

SHARE = 0.75
MAPPED_SHARE = 0.6


class Second(NamedTuple):
    """The vector of a query for the second model, and whether it was mapped from that of the first."""

    vector: QueryVector
    mapped: bool

    @property
    def share(self) -> float:
        return MAPPED_SHARE if self.mapped else SHARE


class QueryVectors(NamedTuple):
    """The vectors of a query by the model of a space and by its second model, None without one."""

    own: QueryVector
    second: Second | None = None


class Cosines(NamedTuple):
    """The parts of the cosine of each row, as in the formula above; without a second model the first alone."""

    both: Doubles
    own: Doubles
    second: Doubles | None = None
    share: Doubles | None = None


class Nearest(NamedTuple):
    """The rows that the model of a space proposes, those of both models, and the best memories among the latter.

    `own` and `best` have one row a memory, best first.
    """

    own: RowNumbers
    every: RowNumbers
    best: RowNumbers


def cosines(snapshot: Snapshot, query: QueryVectors, rows: RowNumbers) -> Cosines:
    """Return the cosines of rows."""
    own = dense.cosines(snapshot, query.own, rows)
    if query.second is None or snapshot.second is None:
        return Cosines(own, own)
    second = dense.cosines(snapshot, query.second.vector, rows, snapshot.second)
    share = np.where(snapshot.second.scales[rows] > 0, query.second.share, 0.0)
    return Cosines((1 - share) * own + share * second, own, second, share)


def nearest(snapshot: Snapshot, query: QueryVectors, allowed: Allowed, wanted: int) -> Nearest:
    """Return the rows that the models propose, `wanted` memories each."""
    own = dense.nearest(snapshot, query.own, allowed, wanted).rows
    if query.second is None or snapshot.second is None:
        return Nearest(own, own, own)
    second = dense.nearest(snapshot, query.second.vector, allowed, wanted, snapshot.second).rows
    rows = np.union1d(own, second)
    best = rows[best_places(snapshot, rows, cosines(snapshot, query, rows).both, wanted)]
    return Nearest(own, rows, best)


def nearest_by_own(snapshot: Snapshot, query: QueryVectors, allowed: Allowed, wanted: int) -> RowNumbers:
    """Return the rows that the model of the space alone proposes, in the order of the cosine of both models."""
    rows = dense.nearest(snapshot, query.own, allowed, wanted).rows
    if query.second is None:
        return rows
    return rows[np.argsort(-cosines(snapshot, query, rows).both, kind="stable")]


class QueryEmbedder:
    """Makes the vectors of queries. Thread-safe."""

    def __init__(
        self, models: Models, usual: SecondQuery = "mapped", seconds: float = 0.0, maps: QueryMaps | None = None
    ) -> None:
        """`usual` is the way to ask second models where a query names none; they have `seconds`, 0 is no limit."""
        self._models = models
        self._usual: SecondQuery = usual
        self._limited = Limited(models.cache, seconds)
        self._maps = maps or QueryMaps()

    def embed(
        self,
        space: Space,
        snapshot: Snapshot,
        text: str,
        like: Like | None,
        way: SecondQuery | None,
        *,
        talks: bool = False,
    ) -> tuple[QueryVectors, tuple[str, ...]]:
        """Return the vectors of a text or of a memory, and in words what could not be done as asked.

        The text of a memory is embedded only when no passage of it is. Where most rows are turns (`talks`), the second
        model takes part only if a `way` is named: it makes the ranking of conversations worse.

        Raises:
            ModelUnavailable: the model of the space does not embed now, or not in time.
        """
        usual = "off" if talks else self._usual
        second_too = snapshot.second is not None and (way or usual) != "off"
        if like is not None:
            stored = direction_of(snapshot, like)
            own = turned(self._first(space, like.text)) if stored is None else query_vector(stored)
            other = direction_of(snapshot, like, snapshot.second) if second_too else None
            return QueryVectors(own, None if other is None else Second(query_vector(other), False)), ()
        first = self._first(space, text)
        own = turned(first)
        if not second_too or not mostly_latin(text):
            return QueryVectors(own), ()
        second, lacks = self._second(space, text, first, way or usual)
        return QueryVectors(own, second), lacks

    def _first(self, space: Space, text: str) -> Floats:
        encoder = self._models.of(space.generation)
        if encoder is None:  # the model behind an endpoint has just changed
            raise ModelUnavailable(absent(space.name, space.generation))
        return self._models.cache.encode_query(encoder, text)

    def _second(
        self, space: Space, text: str, first: Floats, way: SecondQuery
    ) -> tuple[Second | None, tuple[str, ...]]:
        """Return the vector for the second model. One that does not answer is mapped, or left out if it has no map."""
        map = self._maps.find(space.generation, space.second)
        if way == "mapped" and map is not None:
            return Second(turned(map.of(first)), mapped=True), ()
        try:
            return Second(turned(self._by_model(space, text)), mapped=False), ()
        except ModelUnavailable as unavailable:
            if map is None:
                return None, (f"{unavailable}: ranked without it",)
            return Second(turned(map.of(first)), mapped=True), (f"{unavailable}: its vector of the query was mapped",)

    def _by_model(self, space: Space, text: str) -> Floats:
        encoder = self._models.second_of(space)
        if encoder is None:
            raise ModelUnavailable(f"second model: {absent(space.name, space.second)}")
        return self._limited.encode_query(encoder, text)


def turned(vector: Floats) -> QueryVector:
    """Return the vector of a query, which a model made, as the index takes it."""
    return query_vector(rotated(vector))
