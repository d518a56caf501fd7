"""Makes the vectors of a query: by the model of a space, and by its second model where it has one.

There are two ways to ask a second model. `transformer` embeds the query by it, in milliseconds. `mapped` turns the
vector by the first model into one of the second by a matrix, in microseconds and less exactly. A model without a map
is always asked itself.
"""

from muisti.core.embedding.limited import Limited
from muisti.core.embedding.models import Models, absent
from muisti.core.embedding.query_map import QueryMaps
from muisti.core.index.dense import QueryVector, query_vector, rotated
from muisti.core.index.snapshot import Snapshot
from muisti.core.kernels import Floats
from muisti.core.model.spaces import Space
from muisti.core.model.terms import SecondQuery
from muisti.core.model.unavailable import ModelUnavailable
from muisti.core.search import similar
from muisti.core.search.similar import Like
from muisti.core.search.two_models import QueryVectors, Second
from muisti.core.text.language import mostly_latin


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
        self, space: Space, snapshot: Snapshot, text: str, like: Like | None, way: SecondQuery | None
    ) -> tuple[QueryVectors, tuple[str, ...]]:
        """Return the vectors of a text or of a memory, and in words what could not be done as asked.

        The text of a memory is embedded only when no passage of it is.

        Raises:
            ModelUnavailable: the model of the space does not embed now, or not in time.
        """
        second_too = snapshot.second is not None and (way or self._usual) != "off"
        if like is not None:
            stored = similar.direction(snapshot, like)
            own = turned(self._first(space, like.text)) if stored is None else query_vector(stored)
            other = similar.direction(snapshot, like, snapshot.second) if second_too else None
            return QueryVectors(own, None if other is None else Second(query_vector(other), False)), ()
        first = self._first(space, text)
        own = turned(first)
        if not second_too or not mostly_latin(text):
            return QueryVectors(own), ()
        second, lacks = self._second(space, text, first, way or self._usual)
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
