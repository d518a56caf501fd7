"""Embed stored passages that a model has not embedded, some at a time."""

from collections.abc import Callable, Sequence
from typing import cast

import msgspec
import numpy as np

from muisti.core.embedding.cache import EmbeddingCache
from muisti.core.embedding.encoder import Encoder
from muisti.core.embedding.models import Hosted, Models, Sighting, card_of, recognise
from muisti.core.embedding.vectors import pack
from muisti.core.model.errors import ModelUnavailable, NotFound
from muisti.core.model.values import Passage
from muisti.core.query.points import Point
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database, Refused, Rows, Statement
from muisti.core.store.sql import generations, operations, spaces, version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import WIDTH, lived
from muisti.core.write.prepare import Source, parts_of

# Recognise the model behind an endpoint: at the start from the database, then by its vectors of probe texts


class Recognition:
    """Keeps the identities of hosted encoders right. Does nothing for encoders whose model is a file. Thread-safe."""

    def __init__(self, database: Database, models: Models, clock: Callable[[], int]) -> None:
        self._database, self._clock = database, clock
        self._encoders = models.hosted

    def recall(self) -> None:
        """Take the identities that the models had when they were last seen, if they were. No endpoint is asked."""
        for encoder in self._encoders:
            if known := self._known(encoder):
                encoder.settle(known[0])

    def check(self) -> bool:
        """Ask the endpoints, and take the identities of their models. Return whether one has changed.

        Raises:
            ModelUnavailable: an endpoint does not answer as it should; its identity stays.
        """
        return any([self._check(encoder) for encoder in self._encoders])

    def _check(self, encoder: Hosted) -> bool:
        before, known = encoder.identity, self._known(encoder)
        found = recognise(encoder.configuration, encoder.probe(), known)
        if not known or known[0].identity != found.identity:
            probes = np.ascontiguousarray(found.vectors, "<f4").tobytes()
            self._database.primary.write(
                operations.note_model(found.identity, encoder.name, found.dimensions, probes, self._clock())
            )
        encoder.settle(found)
        return found.identity != before

    def _known(self, encoder: Hosted) -> list[Sighting]:
        (rows,) = self._database.primary.read([operations.seen_models(encoder.configuration)])
        return [
            Sighting(digest, np.frombuffer(probes, "<f4").reshape(-1, dimensions).astype(np.float32))
            for digest, dimensions, probes in cast(list[tuple[str, int, bytes]], rows)
        ]


BATCH = 256  # passages, which a static model embeds in some 30 ms
AFAR = 128  # passages, for a model behind an endpoint, which takes some requests for them
SLOW = 16  # passages, for a slow model in this process, which takes a second or two for them


class Step(msgspec.Struct, frozen=True):
    """A prepared step: `batch` stores the vectors of `passages` passages, the last of which began at change `born`."""

    batch: Sequence[Statement]
    passages: int
    born: int


def next_step(
    database: Database, space: SpaceRow, encoder: Encoder, identity: str, cache: EmbeddingCache, after: int
) -> Step | None:
    """Embed the next passages of current versions that lack a vector of the model, from change `after` on.

    Return None when none is left. Nothing is stored before the caller commits the batch. `identity` is the model whose
    vectors the caller stores: the one behind an endpoint may change at any time.

    Raises:
        ModelUnavailable: the model does not embed now, or is another one.
    """
    limit = AFAR if isinstance(encoder, Hosted) else SLOW if encoder.deferred else BATCH
    (rows,) = database.read([generations.next_lacking(space, identity, after, limit)])
    return _step(space, encoder, identity, rows, cache) if rows else None


def embed_past(database: Database, space: SpaceRow, encoder: Encoder, cache: EmbeddingCache, point: Point) -> None:
    """Embed the memories of a point of history with a model, so that they can be restored."""
    then, args = lived(point)
    identity = encoder.identity
    while True:
        asked = generations.lacking_then(space, identity, then, args, BATCH)
        (rows,) = database.read([asked])
        if not rows:
            return
        database.write(_step(space, encoder, identity, rows, cache).batch)


def _step(space: SpaceRow, encoder: Encoder, identity: str, rows: Rows, cache: EmbeddingCache) -> Step:
    vectors = pack(cache.encode(encoder, _texts(rows, space)))
    if encoder.identity != identity:
        raise ModelUnavailable(f"the embedding model {encoder.name} has just changed")
    placed = [cast(tuple[int, int], (row[0], row[WIDTH])) for row in rows]
    stored = [generations.store(*at, identity, vector) for at, vector in zip(placed, vectors, strict=True)]
    first, last = (cast(int, row[WIDTH + 3]) for row in (rows[0], rows[-1]))
    return Step([*stored, generations.unpack_from(space, identity, first)], len(rows), last)


def _texts(rows: Rows, space: SpaceRow) -> list[str]:
    memories = [version_rows.memory(row, space.space.name) for row in rows]
    passages = [Passage(*cast(tuple[int, int, int], row[WIDTH : WIDTH + 3])) for row in rows]
    parts = parts_of(zip(map(Source.of, memories), passages, strict=True))
    return [one.embedded(space.space.settings.embedded_fields) for one in parts]


class Vectors:
    """Embeds the passages that lack a vector of the model of their space. Thread-safe.

    They lack it when the model is a deferred one, or was not in the process that stored them. Two processes may do the
    same step at the same time: one of them stores the vectors.
    """

    def __init__(self, database: Database, models: Models, clock: Callable[[], int]) -> None:
        self._database, self._models, self._clock = database, models, clock

    def lagging(self) -> list[str]:
        """Return the spaces of models of this process that have changed since all their passages had vectors."""
        identities = [encoder.identity for encoder in self._models]
        (rows,) = self._database.read([generations.lagging(identities)]) if identities else ([],)
        return [str(name) for (name,) in rows]

    def step(self, space: str) -> bool:
        """Embed some passages of a space. Return whether more may lack vectors.

        Raises:
            ModelUnavailable: the model does not embed now; the passages stay as they are.
            NotFound: there is no such space.
        """
        found = find_space(self._database, space)
        encoder = self._models.of(found.space.generation)
        if encoder is None:
            return False
        ((mark, seq),) = cast(list[tuple[int, int]], self._database.read([generations.marks(found)])[0])
        card = card_of(encoder)
        if found.space.generation not in (None, card.identity):
            return False  # another model has just taken its place
        identity = card.identity
        step = next_step(self._database, found, encoder, identity, self._models.cache, mark + 1)
        batch = [spaces.guard(found)]
        if step is not None:
            batch.append(spaces.register_generation(card, self._clock()))
            if found.generation is None:
                batch.append(spaces.adopt_generation(found, identity))
            batch += step.batch
        upto = seq if step is None else step.born - 1  # the last version may lack more
        try:
            self._database.write([*batch, generations.advance(found, identity, upto)])
        except Refused as refused:
            raise NotFound("space", space) from refused
        return step is not None
