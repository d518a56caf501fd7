"""Vectors that come after their passages: background work embeds what writes have stored without waiting for a model.

Each space has a mark: all current versions up to the change of that number have vectors. So finding out that nothing
is to be done reads no passages, and a step reads only those of later versions.
"""

from collections.abc import Callable
from typing import cast

from muisti.core.embedding.encoder import Encoder
from muisti.core.embedding.models import Models
from muisti.core.embedding.vectors import pack
from muisti.core.model.errors import NotFound
from muisti.core.model.values import Passage
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database, Refused, Row, Rows
from muisti.core.store.sql import deferred, spaces, version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import WIDTH
from muisti.core.write.prepare import Source, draft_of, embedded_text

BATCH = 128  # passages of a step


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
        (rows,) = self._database.read([deferred.lagging(identities)]) if identities else ([],)
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
        identity = encoder.identity
        rows, ((after, seq),) = self._database.read([deferred.lacking(found, identity, BATCH), deferred.marks(found)])
        upto = cast(int, seq) if len(rows) < BATCH else _born(rows[-1]) - 1
        vectors = pack(self._models.cache.encode(encoder, [_text(row, found) for row in rows])) if rows else []
        if encoder.identity != identity:  # the model behind an endpoint has changed meanwhile
            return True
        self._store(found, encoder, rows, vectors, max(upto, cast(int, after)))
        return len(rows) == BATCH

    def _store(self, space: SpaceRow, encoder: Encoder, rows: Rows, vectors: list[bytes], upto: int) -> None:
        identity, batch = encoder.identity, [spaces.guard(space)]
        if rows:
            batch.append(spaces.register_generation(identity, encoder.name, encoder.dimensions, self._clock()))
        if rows and space.generation is None:
            batch.append(spaces.adopt_generation(space, identity))
        for row, vector in zip(rows, vectors, strict=True):
            version, number = cast(tuple[int, int], (row[0], row[WIDTH]))
            batch.append(deferred.add(version, number, identity, vector))
        try:
            self._database.write([*batch, deferred.advance(space, identity, upto)])
        except Refused as refused:
            raise NotFound("space", space.space.name) from refused


def _born(row: Row) -> int:
    return cast(int, row[WIDTH + 3])


def _text(row: Row, space: SpaceRow) -> str:
    number, start, stop = cast(tuple[int, int, int], row[WIDTH : WIDTH + 3])
    source = Source.of(draft_of(version_rows.memory(row, space.space.name)))
    return embedded_text(source, Passage(number, start, stop), space.space.settings.embedded_fields)
