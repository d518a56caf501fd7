"""The SQL of the models of a space: what they have embedded, the shadow, and vectors stored after their passages."""

import json
from collections.abc import Mapping, Sequence

from muisti.core.model.choices import OFF
from muisti.core.store.database import Refusal, Scalar, Statement, refuse
from muisti.core.store.sql import table, tables
from muisti.core.store.sql.spaces import STAGING, SpaceRow
from muisti.core.store.sql.version_rows import COLUMNS

DROPPED = 500  # versions whose vectors are deleted in one step

_OF = "(SELECT id FROM generations WHERE hash = ?)"
_LIVING = "FROM versions v JOIN passages p ON p.version_id = v.id WHERE v.space_id = ? AND v.died IS NULL"
_BARE = f"""NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.version_id = p.version_id AND e.number = p.number
    AND e.generation_id = {_OF})"""


def passages(space: SpaceRow) -> Statement:
    """Count the passages of current versions."""
    return Statement(f"SELECT count(*) {_LIVING}", (space.id,))


def lacking(space: SpaceRow, digest: str) -> Statement:
    """Count the passages of current versions that a model has not embedded."""
    return Statement(f"SELECT count(*) {_LIVING} AND {_BARE}", (space.id, digest))


def lacking_some(space: SpaceRow, digest: str, after: int, most: int) -> Statement:
    """Count the passages of current versions from change `after` on that a model has not embedded, up to `most`."""
    return Statement(
        f"SELECT count(*) FROM (SELECT 1 {_LIVING} AND v.born >= ? AND {_BARE} LIMIT ?)",
        (space.id, after, digest, most),
    )


def next_lacking(space: SpaceRow, digest: str, after: int, limit: int) -> Statement:
    """Select (version, passage number, start, stop, born) of passages that lack a vector, from change `after` on."""
    return Statement(
        f"SELECT {COLUMNS}, p.number, p.start, p.stop, v.born {_LIVING} AND v.born >= ? AND {_BARE} "
        "ORDER BY v.born, p.number LIMIT ?",
        (space.id, after, digest, limit),
    )


def lacking_then(space: SpaceRow, digest: str, then: str, args: Sequence[Scalar], limit: int) -> Statement:
    """Select passages like `next_lacking`, of versions that were current at a point: `then` is its condition."""
    return Statement(
        f"SELECT {COLUMNS}, p.number, p.start, p.stop, v.born FROM versions v JOIN passages p ON p.version_id = v.id "
        f"WHERE v.space_id = ? AND {then} AND {_BARE} ORDER BY v.born, p.number LIMIT ?",
        (space.id, *args, digest, limit),
    )


def store(version: int, number: int, digest: str, vector: bytes) -> Statement:
    """Store a vector, unless another process has stored it, or the version was erased meanwhile."""
    return Statement(
        "INSERT OR IGNORE INTO embeddings SELECT p.version_id, p.number, g.id, ? FROM passages p, generations g "
        "WHERE p.version_id = ? AND p.number = ? AND g.hash = ?",
        (vector, version, number, digest),
    )


def unpack_from(space: SpaceRow, digest: str, born: int) -> Statement:
    """Delete the segments of a model that hold change `born` or later ones, because they lack vectors stored since."""
    return Statement(
        f"DELETE FROM segments WHERE space_id = ? AND generation_id = {_OF} AND last >= ?", (space.id, digest, born)
    )


def counts(space: SpaceRow) -> Statement:
    """Select (hash, model, dimensions, created_at, vectors of current versions, vectors of all versions) by model."""
    return Statement(
        "SELECT g.hash, g.model, g.dimensions, g.created_at, coalesce(c.living, 0), coalesce(c.every, 0) "
        "FROM generations g LEFT JOIN (SELECT e.generation_id AS id, sum(v.died IS NULL) AS living, count(*) AS every "
        "FROM versions v JOIN embeddings e ON e.version_id = v.id WHERE v.space_id = ? GROUP BY 1) c ON c.id = g.id "
        "WHERE c.every > 0 OR g.id IN (?, ?, ?) ORDER BY g.id",
        (space.id, space.generation, space.shadow, space.second),
    )


def guard_models(space: SpaceRow) -> Statement:
    """Refuse with `stale` when the model, the shadow or the second model of the space has changed."""
    return Statement(
        f"{refuse(Refusal.STALE)} WHERE NOT EXISTS (SELECT 1 FROM spaces WHERE id = ? AND epoch = ? "
        "AND generation_id IS ? AND shadow_generation_id IS ? AND second_generation_id IS ?)",
        (space.id, space.space.epoch, space.generation, space.shadow, space.second),
    )


def refuse_lacking(space: SpaceRow, digest: str, after: int) -> Statement:
    """Refuse with `incomplete` while a model has not embedded some passage of a current version after a change."""
    return Statement(
        f"{refuse(Refusal.INCOMPLETE)} WHERE EXISTS (SELECT 1 {_LIVING} AND v.born > ? AND {_BARE})",
        (space.id, after, digest),
    )


def one(digest: str) -> Statement:
    """Select (model, dimensions, created_at) of a model."""
    return Statement("SELECT model, dimensions, created_at FROM generations WHERE hash = ?", (digest,))


def set_shadow(space: SpaceRow, digest: str | None) -> Statement:
    """Make a model the shadow of the space; None for no shadow."""
    return Statement(
        f"UPDATE spaces SET shadow_generation_id = {_OF}, shadow_served = 0 WHERE id = ?", (digest, space.id)
    )


def exchange(space: SpaceRow, *, served: bool) -> Statement:
    """Make the shadow the model of the space, and its model the shadow. `served`: roll-back leads to that one."""
    return Statement(
        "UPDATE spaces SET generation_id = shadow_generation_id, shadow_generation_id = generation_id, "
        "shadow_served = ? WHERE id = ?",
        (int(served), space.id),
    )


def drop_some(space: SpaceRow, digest: str, after: int, *, overwrites: bool) -> list[Statement]:
    """Delete the vectors that a model, which the space does not use, has of some versions from change `after` on.

    The first statements select how many there are, and the last change among them. `overwrites`: the server leaves
    deleted bytes in its file.
    """
    models = "s.generation_id, s.shadow_generation_id, s.second_generation_id"
    used = f"SELECT 1 FROM spaces s WHERE s.id = ? AND {_OF} IN ({models})"
    some = (
        "SELECT v.id FROM versions v WHERE v.space_id = ? AND v.born >= ? AND EXISTS (SELECT 1 FROM embeddings e "
        f"WHERE e.version_id = v.id AND e.generation_id = {_OF}) AND NOT EXISTS ({used}) ORDER BY v.born LIMIT ?"
    )
    where = f"generation_id = {_OF} AND version_id IN ({some})"
    args = (digest, space.id, after, digest, space.id, digest, DROPPED)
    over = table.over(tables.named("embeddings"), where, args) if overwrites else []
    last = f"SELECT max(born) FROM versions WHERE id IN (SELECT version_id FROM embeddings WHERE {where})"
    return [
        Statement(f"SELECT count(*) FROM embeddings WHERE {where}", args),
        Statement(last, args),
        *over,
        Statement(f"DELETE FROM embeddings WHERE {where}", args),
    ]


def forget_segments(space: SpaceRow, digest: str, *, overwrites: bool) -> list[Statement]:
    """Delete the segments of one model. `overwrites`: the server leaves deleted bytes in its file."""
    where, args = f"space_id = ? AND generation_id = {_OF}", (space.id, digest)
    over = table.over(tables.named("segments"), where, args) if overwrites else []
    return [*over, Statement(f"DELETE FROM segments WHERE {where}", args)]


# The SQL of vectors that background work stores after their passages

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
