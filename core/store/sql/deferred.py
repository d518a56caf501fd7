"""The SQL of vectors that background work stores after their passages."""

import json
from collections.abc import Mapping, Sequence

from muisti.core.model.terms import OFF
from muisti.core.store.database import Statement
from muisti.core.store.sql.spaces import STAGING, SpaceRow

_SECOND = "coalesce(s.policy ->> '$.second_model', ?)"


def lagging(generations: Sequence[str]) -> Statement:
    """Select the names of the spaces of some models, or of none, that have changed since all passages had vectors."""
    return Statement(
        "SELECT s.name FROM spaces s LEFT JOIN generations g ON g.id = s.generation_id "
        f"WHERE s.seq > s.embedded AND s.name NOT LIKE '{STAGING}%' "
        f"AND (g.hash IS NULL OR g.hash IN ({','.join('?' * len(generations))})) ORDER BY s.name",
        tuple(generations),
    )


def second_names(default: str) -> Statement:
    """Select the second models that spaces name; `default` is that of spaces which name none."""
    return Statement(
        f"SELECT DISTINCT {_SECOND} FROM spaces s WHERE s.name NOT LIKE '{STAGING}%'",
        (default,),
    )


def second_lagging(default: str, identities: Mapping[str, str]) -> Statement:
    """Select the names of the spaces with another second model than theirs, or that have changed since it embedded all.

    `identities` has those of the models that this process has, by name. A space that names another is left as it is.
    """
    here = f"s.generation_id IS NOT NULL AND s.name NOT LIKE '{STAGING}%'"
    return Statement(
        "WITH known AS (SELECT key AS name, value AS hash FROM json_each(?)), "
        f"chosen AS (SELECT s.*, {_SECOND} AS second FROM spaces s WHERE {here}) "
        "SELECT c.name FROM chosen c LEFT JOIN known k ON k.name = c.second "
        "LEFT JOIN generations g ON g.id = c.generation_id LEFT JOIN generations t ON t.id = c.second_generation_id "
        f"WHERE CASE WHEN c.second = '{OFF}' OR k.hash = g.hash THEN t.id IS NOT NULL "
        "WHEN k.hash IS NULL THEN 0 ELSE k.hash IS NOT t.hash OR c.seq > c.second_embedded END ORDER BY c.name",
        (json.dumps(identities), default),
    )


def set_second(space: SpaceRow, digest: str | None) -> Statement:
    """Make a model the second one of a space; None for none. Its vectors stay."""
    return Statement(
        "UPDATE spaces SET second_generation_id = (SELECT id FROM generations WHERE hash = ?) WHERE id = ?",
        (digest, space.id),
    )


def second_marks(space: SpaceRow) -> Statement:
    """Select the change up to which all passages have vectors of the second model, and the last change."""
    return Statement("SELECT second_embedded, seq FROM spaces WHERE id = ?", (space.id,))


def advance_second(space: SpaceRow, digest: str, upto: int) -> Statement:
    """Record that all passages up to a change have vectors of the second model, if the space still has it."""
    return Statement(
        "UPDATE spaces SET second_embedded = max(second_embedded, ?) WHERE id = ? "
        "AND second_generation_id = (SELECT id FROM generations WHERE hash = ?)",
        (upto, space.id, digest),
    )


def look_again(space: SpaceRow) -> Statement:
    """Let background work look for missing vectors in the whole space."""
    return Statement("UPDATE spaces SET embedded = 0, second_embedded = 0 WHERE id = ?", (space.id,))


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
