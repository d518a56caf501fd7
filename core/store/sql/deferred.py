"""The SQL of vectors that background work stores after their passages."""

import json
from collections.abc import Sequence

from muisti.core.store.database import Statement
from muisti.core.store.sql.spaces import STAGING, SpaceRow
from muisti.core.store.sql.version_rows import COLUMNS


def lagging(generations: Sequence[str]) -> Statement:
    """Select the names of the spaces of some models, or of none, that have changed since all passages had vectors."""
    return Statement(
        "SELECT s.name FROM spaces s LEFT JOIN generations g ON g.id = s.generation_id "
        f"WHERE s.seq > s.embedded AND s.name NOT LIKE '{STAGING}%' "
        f"AND (g.hash IS NULL OR g.hash IN ({','.join('?' * len(generations))})) ORDER BY s.name",
        tuple(generations),
    )


def marks(space: SpaceRow) -> Statement:
    """Select the change up to which all passages have vectors, and the last change."""
    return Statement("SELECT embedded, seq FROM spaces WHERE id = ?", (space.id,))


def lacking(space: SpaceRow, generation: str, most: int) -> Statement:
    """Select passages of current versions that lack a vector: the version, then number, start, stop and `born`."""
    return Statement(
        f"SELECT {COLUMNS}, p.number, p.start, p.stop, v.born FROM versions v JOIN passages p ON p.version_id = v.id "
        "WHERE v.space_id = ? AND v.born > (SELECT embedded FROM spaces WHERE id = ?) AND v.died IS NULL "
        "AND NOT EXISTS (SELECT 1 FROM embeddings e JOIN generations g ON g.id = e.generation_id "
        "WHERE e.version_id = p.version_id AND e.number = p.number AND g.hash = ?) ORDER BY v.born, p.number LIMIT ?",
        (space.id, space.id, generation, most),
    )


def add(version: int, number: int, generation: str, vector: bytes) -> Statement:
    """Store the vector of a passage, unless another process has, or the version was erased meanwhile."""
    return Statement(
        "INSERT OR IGNORE INTO embeddings SELECT p.version_id, p.number, g.id, ? FROM passages p, generations g "
        "WHERE p.version_id = ? AND p.number = ? AND g.hash = ?",
        (vector, version, number, generation),
    )


def advance(space: SpaceRow, generation: str, upto: int) -> Statement:
    """Record that all passages up to a change have vectors, if the space still has no other model."""
    return Statement(
        "UPDATE spaces SET embedded = max(embedded, ?) WHERE id = ? AND (generation_id IS NULL "
        "OR generation_id = (SELECT id FROM generations WHERE hash = ?))",
        (upto, space.id, generation),
    )


def arrived(versions: Sequence[int], generation: int) -> Statement:
    """Select (version id, number, vector) of those versions that have vectors of a model."""
    return Statement(
        "SELECT e.version_id, e.number, e.vector FROM json_each(?) r JOIN embeddings e ON e.version_id = r.value "
        "WHERE e.generation_id = ? ORDER BY e.version_id, e.number",
        (json.dumps(list(versions)), generation),
    )
