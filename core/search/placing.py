"""Places of hits that are chunks of documents, by one statement for all hits of an answer."""

from collections.abc import Mapping
from typing import cast

from msgspec.structs import replace

from muisti.core.model.filing import located, overlap_of, place_of
from muisti.core.model.hits import Hit
from muisti.core.query.points import Point
from muisti.core.store.database import Database
from muisti.core.store.sql import documents, version_rows
from muisti.core.store.sql.spaces import SpaceRow


def placed(hits: tuple[Hit, ...], database: Database, space: SpaceRow, number: int) -> tuple[Hit, ...]:
    """Return hits with the places of chunks in their documents, as they were at change `number`."""
    chunks = [hit.memory.id for hit in hits if hit.memory.kind == "chunk" and hit.memory.document is not None]
    if not chunks:
        return hits
    (rows,) = database.read([documents.ends(space, [version_rows.raw(one) for one in chunks], Point(number, 0))])
    ends = {cast(bytes, row[0]): cast(tuple[int, int], row[1:3]) for row in rows}
    return tuple(_placed(hit, ends) for hit in hits)


def _placed(hit: Hit, ends: Mapping[bytes, tuple[int, int]]) -> Hit:
    end = ends.get(version_rows.raw(hit.memory.id))
    if end is None:
        return hit
    own = hit.memory.content[overlap_of(hit.memory) :]
    return replace(hit, place=place_of(located(hit.memory, end[0] - len(own), end[1] - own.count("\n"))))
