"""Embed stored passages that a model has not embedded, some at a time."""

from collections.abc import Sequence
from typing import cast

import msgspec

from muisti.core.embedding.cache import EmbeddingCache
from muisti.core.embedding.encoder import Encoder
from muisti.core.embedding.hosted import Hosted
from muisti.core.embedding.vectors import pack
from muisti.core.model.unavailable import ModelUnavailable
from muisti.core.model.values import Passage
from muisti.core.operations.generations import sql as generations
from muisti.core.query.points import Point
from muisti.core.store.database import Database, Row, Rows, Statement
from muisti.core.store.sql import version_rows
from muisti.core.store.sql.points import lived
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import WIDTH
from muisti.core.write.prepare import Source, draft_of, embedded_text

BATCH = 256  # passages, which a static model embeds in some 30 ms
AFAR = 128  # passages, for a model behind an endpoint, which takes some requests for them
SLOW = 16  # passages, for a slow model in this process, which takes a second or two for them


class Step(msgspec.Struct, frozen=True):
    """A prepared step: `batch` stores the vectors of `passages` passages, the last of which began at change `born`."""

    batch: Sequence[Statement]
    passages: int
    born: int


def next_step(database: Database, space: SpaceRow, encoder: Encoder, cache: EmbeddingCache, after: int) -> Step | None:
    """Embed the next passages of current versions that lack a vector of the model, from change `after` on.

    Return None when none is left. Nothing is stored before the caller commits the batch.

    Raises:
        ModelUnavailable: the model does not embed now.
    """
    limit = AFAR if isinstance(encoder, Hosted) else SLOW if encoder.deferred else BATCH
    (rows,) = database.read([generations.next_lacking(space, encoder.identity, after, limit)])
    return _step(space, encoder, rows, cache) if rows else None


def embed_past(database: Database, space: SpaceRow, encoder: Encoder, cache: EmbeddingCache, point: Point) -> None:
    """Embed the memories of a point of history with a model, so that they can be restored."""
    then, args = lived(point)
    while True:
        asked = generations.lacking_then(space, encoder.identity, then, args, BATCH)
        (rows,) = database.read([asked])
        if not rows:
            return
        database.write(_step(space, encoder, rows, cache).batch)


def _step(space: SpaceRow, encoder: Encoder, rows: Rows, cache: EmbeddingCache) -> Step:
    digest = encoder.identity
    vectors = pack(cache.encode(encoder, [_text(row, space) for row in rows]))
    if encoder.identity != digest:
        raise ModelUnavailable(f"the embedding model {encoder.name} has just changed")
    placed = [cast(tuple[int, int], (row[0], row[WIDTH])) for row in rows]
    stored = [generations.store(*at, digest, vector) for at, vector in zip(placed, vectors, strict=True)]
    first, last = (cast(int, row[WIDTH + 3]) for row in (rows[0], rows[-1]))
    return Step([*stored, generations.unpack_from(space, digest, first)], len(rows), last)


def _text(row: Row, space: SpaceRow) -> str:
    number, start, stop = cast(tuple[int, int, int], row[WIDTH : WIDTH + 3])
    source = Source.of(draft_of(version_rows.memory(row, space.space.name)))
    return embedded_text(source, Passage(number, start, stop), space.space.settings.embedded_fields)
