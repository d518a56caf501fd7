"""Places of hits in documents and conversations, by one statement for all hits of an answer."""

from collections.abc import Mapping
from typing import cast

from msgspec.structs import replace

from muisti.core.model.filing import located, overlap_of, place_of
from muisti.core.model.hits import Hit
from muisti.core.model.values import Memory
from muisti.core.query.points import Point
from muisti.core.read.hierarchy import situated
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


def turns_placed(
    found: dict[int, Memory], database: Database, space: SpaceRow, number: int, known: dict[int, Memory]
) -> dict[int, Memory]:
    """Return memories by version, turns with their session and topic at change `number`; `known` remembers these."""
    turns = [version for version, one in found.items() if one.kind == "exchange" and one.conversation is not None]
    missing = [version for version in turns if version not in known]
    if missing:
        placed = situated(database, space, [found[version] for version in missing], Point(number, 0))
        known.update(zip(missing, placed, strict=True))
    return {**found, **{version: known[version] for version in turns}} if turns else found


def _placed(hit: Hit, ends: Mapping[bytes, tuple[int, int]]) -> Hit:
    end = ends.get(version_rows.raw(hit.memory.id))
    if end is None:
        return hit
    own = hit.memory.content[overlap_of(hit.memory) :]
    return replace(hit, place=place_of(located(hit.memory, end[0] - len(own), end[1] - own.count("\n"))))
