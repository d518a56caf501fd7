"""The SQL that stores what was read out of versions, and selects versions that are not read, or that a caller sees."""

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from muisti.core.query.points import Point
from muisti.core.store.database import Refusal, Scalar, Statement, refuse
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import UNEXPIRED, lived

READ_KINDS = ("memory", "exchange", "chunk", "entity", "relation")
_READ = f"v.kind IN ({', '.join(map(repr, READ_KINDS))})"
_LISTED = "(SELECT value FROM json_each(?))"
_SOURCE = (
    "v.id, v.born, v.kind, v.content, v.author, v.structure, "
    "CASE WHEN v.kind = 'memory' AND v.category_folded IN ('entities', 'relations') THEN v.metadata END"
)
_TABLES = ("mentions", "relations", "aliases", "graph_fallbacks")


class Gathered(NamedTuple):
    """Rows of a batch. Entities are named by their norms, and versions by their row ids.

    - `names`: norm, code, first word, last word, initials, version.
    - `mentions`: version, start, stop, norm, kind, confidence, source.
    - `relations`: version, number, norm of the subject, kind, norm of the object or None, start and stop of the literal
      or None. Then polarity, confidence, start, stop, source.
    - `aliases`: version, norm, norm of the alias, apart. Each entity that a person states is an alias of itself.
    - `fallbacks`: version, name of what read it in place of a model that did not answer.

    `dropped` counts names that a model reported and that are not in their text.
    """

    names: Sequence[tuple[str, str, str, str, str, str, int]]
    mentions: Sequence[tuple[int, int, int, str, str, float, str]]
    relations: Sequence[tuple[int, int, str, str, str | None, int | None, int | None, int, float, int, int, str]]
    aliases: Sequence[tuple[int, str, str, int]]
    fallbacks: Sequence[tuple[int, str]] = ()
    dropped: int = 0


def state(space: SpaceRow) -> Statement:
    """Select (through, recogniser, revision) of a space, no row when nothing was read, and the seq of the space."""
    return Statement(
        "SELECT coalesce(g.through, 0), coalesce(g.recogniser, ''), coalesce(g.revision, 0), s.seq "
        "FROM spaces s LEFT JOIN graph_spaces g ON g.space_id = s.id WHERE s.id = ?",
        (space.id,),
    )


def expired(space: SpaceRow, now: int) -> Statement:
    """Count the memories that have expired and are not deleted yet."""
    return Statement(
        "SELECT count(*) FROM versions WHERE space_id = ? AND died IS NULL AND expires_at <= ?", (space.id, now)
    )


def lagging(recogniser: str) -> Statement:
    """Select (name, policy, seq, changes since then) of spaces that have changed since this recogniser read them."""
    return Statement(
        "SELECT s.name, s.policy, s.seq, s.seq - iif(g.recogniser = ?, g.through, 0) "
        "FROM spaces s LEFT JOIN graph_spaces g ON g.space_id = s.id "
        "WHERE s.name NOT LIKE '~%' AND s.seq > 0 "
        "AND (g.space_id IS NULL OR g.through < s.seq OR g.recogniser <> ?) ORDER BY s.name",
        (recogniser, recogniser),
    )


def pending(space: str, recogniser: str, category: str | None = None) -> Statement:
    """Count the versions of a space that this recogniser has not read, in one folded category or all."""
    own = "" if category is None else " AND v.category_folded = ?"
    return Statement(
        f"SELECT count(*) FROM spaces s CROSS JOIN versions v ON v.space_id = s.id WHERE s.name = ? AND {_READ}{own} "
        "AND v.born > coalesce((SELECT iif(g.recogniser = ?, g.through, 0) FROM graph_spaces g "
        "WHERE g.space_id = s.id), 0)",
        (space, *(() if category is None else (category,)), recogniser),
    )


def unread(space: SpaceRow, after: int, limit: int) -> Statement:
    """Select versions born after a change, the oldest first: (row, born, kind, content, author, structure, metadata).

    Metadata are null but for the sentences of imported graphs.
    """
    return Statement(
        f"SELECT {_SOURCE} FROM versions v WHERE v.space_id = ? AND v.born > ? AND {_READ} ORDER BY v.born LIMIT ?",
        (space.id, after, limit),
    )


def fallen(space: SpaceRow, through: int, after: int, limit: int) -> Statement:
    """Select versions after a row that something else than the chosen recogniser has read; the columns of `unread`.

    Only those up to the change `through`: later ones are to be read anyway.
    """
    return Statement(
        f"SELECT {_SOURCE} FROM versions v CROSS JOIN graph_fallbacks f ON f.version_id = v.id "
        "WHERE v.space_id = ? AND v.id > ? AND v.born <= ? ORDER BY v.id LIMIT ?",
        (space.id, after, through, limit),
    )


def fallbacks(space: SpaceRow) -> Statement:
    """Count the versions of a space that something else than the chosen recogniser has read."""
    return Statement(
        "SELECT count(*) FROM versions v CROSS JOIN graph_fallbacks f ON f.version_id = v.id WHERE v.space_id = ?",
        (space.id,),
    )


def advance(space: SpaceRow, known: int, through: int, recogniser: str) -> list[Statement]:
    """Record how far a space is read; refuse with `stale` when another process has, with `no_space` when it is gone."""
    return [
        Statement(
            f"{refuse(Refusal.NO_SPACE)} WHERE NOT EXISTS (SELECT 1 FROM spaces WHERE id = ? AND epoch = ?)",
            (space.id, space.space.epoch),
        ),
        Statement(
            f"{refuse(Refusal.STALE)} WHERE coalesce((SELECT revision FROM graph_spaces WHERE space_id = ?), 0) <> ?",
            (space.id, known),
        ),
        Statement(
            "INSERT OR REPLACE INTO graph_spaces VALUES (?, ?, ?, ?)", (space.id, through, recogniser, known + 1)
        ),
    ]


def forget(versions: Sequence[int]) -> list[Statement]:
    """Delete what was read out of versions."""
    listed = _json(versions)
    return [Statement(f"DELETE FROM {table} WHERE version_id IN {_LISTED}", (listed,)) for table in _TABLES]


def some(space: SpaceRow, limit: int) -> Statement:
    """Count the entities of a space, at most `limit`."""
    return Statement("SELECT count(*) FROM (SELECT 1 FROM entities WHERE space_id = ? LIMIT ?)", (space.id, limit))


def drop(space: SpaceRow, limit: int) -> Statement:
    """Delete some entities of a space, with all that is known of them."""
    return Statement(
        "DELETE FROM entities WHERE id IN (SELECT id FROM entities WHERE space_id = ? LIMIT ?)", (space.id, limit)
    )


def forget_space(space: SpaceRow) -> Statement:
    """Forget that a space was read."""
    return Statement("DELETE FROM graph_spaces WHERE space_id = ?", (space.id,))


def store(space: SpaceRow, versions: Sequence[int], found: Gathered) -> list[Statement]:
    """Store what was read out of versions, in place of what was there; nothing of a version that is gone."""
    entity = "CROSS JOIN entities {0} ON {0}.space_id = ? AND {0}.norm = j.value ->> {1}"
    live = "CROSS JOIN versions v ON v.id = j.value ->> 0"
    statements = forget(versions)
    if found.names:
        statements.append(
            Statement(
                "INSERT OR IGNORE INTO entities (space_id, norm, code, folded, first_word, last_word, initials) "
                "SELECT ?, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5 "
                "FROM json_each(?) j WHERE EXISTS (SELECT 1 FROM versions v WHERE v.id = j.value ->> 6)",
                (space.id, _json(found.names)),
            )
        )
    if found.mentions:
        statements.append(
            Statement(
                "INSERT OR IGNORE INTO mentions SELECT v.id, value ->> 1, value ->> 2, e.id, value ->> 4, value ->> 5, "
                f"value ->> 6 FROM json_each(?) j {live} {entity.format('e', 3)}",
                (_json(found.mentions), space.id),
            )
        )
    if found.relations:
        statements.append(
            Statement(
                "INSERT OR IGNORE INTO relations SELECT v.id, value ->> 1, s.id, value ->> 3, o.id, value ->> 5, "
                "value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11 "
                f"FROM json_each(?) j {live} {entity.format('s', 2)} "
                "LEFT JOIN entities o ON o.space_id = ? AND o.norm = j.value ->> 4",
                (_json(found.relations), space.id, space.id),
            )
        )
    if found.aliases:
        statements.append(
            Statement(
                f"INSERT OR IGNORE INTO aliases SELECT v.id, e.id, a.id, value ->> 3 FROM json_each(?) j {live} "
                f"{entity.format('e', 1)} {entity.format('a', 2)}",
                (_json(found.aliases), space.id, space.id),
            )
        )
    if found.fallbacks:
        statements.append(
            Statement(
                f"INSERT OR IGNORE INTO graph_fallbacks SELECT v.id, value ->> 1 FROM json_each(?) j {live}",
                (_json(found.fallbacks),),
            )
        )
    return statements


def _json(rows: Sequence[object]) -> str:
    return msgspec.json.encode(rows).decode()


# Conditions on the versions that a caller sees in the graph of a space at a point, and lists of ids as arguments

IDS = "json_each(?) t"
LISTED = "(SELECT value FROM json_each(?))"


class Shown(NamedTuple):
    """The versions that a caller sees at a point: those of one folded category, or of all."""

    point: Point
    category: str | None

    @property
    def sql(self) -> str:
        """The condition on a row `v`."""
        own = "" if self.category is None else " AND v.category_folded = ?"
        return f"{lived(self.point)[0]} AND v.status <> 'superseded' AND {UNEXPIRED}{own}"

    @property
    def args(self) -> tuple[Scalar, ...]:
        own = () if self.category is None else (self.category,)
        return (*lived(self.point)[1], self.point.time, *own)

    def mentioned(self, entity: str) -> str:
        """Return the condition that a version that is seen mentions an entity."""
        return (
            "EXISTS (SELECT 1 FROM mentions n CROSS JOIN versions v ON v.id = n.version_id "
            f"WHERE n.entity_id = {entity} AND {self.sql})"
        )


def ids_text(ids: Iterable[int]) -> str:
    """Return ids as the argument of `IDS` or `LISTED`, in order."""
    return json.dumps(sorted(ids))
