"""The SQL of vectors that background work stores after their passages."""

import json
from collections.abc import Sequence

from muisti.core.store.database import Statement
from muisti.core.store.sql.spaces import STAGING, SpaceRow


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
