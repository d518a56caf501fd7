"""The SQL that feeds the indexes: passages, ended versions, values of a filter field, and packed segments."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from muisti.core.query.filter_fields import LISTED
from muisti.core.store.database import Scalar, Statement, slots
from muisti.core.store.sql import spaces, table, tables
from muisti.core.store.sql.filters import COLUMNS, LISTS
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import PLAIN

# What the turns of one dialogue share: their conversation, which each category has of its own, or `metadata.session`.
_DIALOGUE = (
    "CASE WHEN conversation IS NULL THEN metadata ->> '$.session' "
    "ELSE coalesce(category_folded || char(31), '') || conversation END"
)


def living(
    space: SpaceRow, generation: int | None, after_born: int, versions: int, second: int | None = None
) -> Statement:
    """Select passages of current versions with `born` > `after_born`: of at most `versions`, oldest first."""
    living = "v.died IS NULL AND v.status <> 'superseded'"
    return _passages(space, (generation, second), after_born, versions, living)


def every(
    space: SpaceRow, generation: int | None, after_born: int, versions: int, second: int | None = None
) -> Statement:
    """Select passages of all versions with `born` > `after_born`, ended and superseded ones too, oldest first."""
    return _passages(space, (generation, second), after_born, versions, "1")


def _passages(
    space: SpaceRow, generations: tuple[int | None, int | None], after_born: int, versions: int, where: str
) -> Statement:
    generation, second = generations
    column, join, args = "", "", (space.id, after_born, versions, generation)
    if second is not None:
        column, args = ", t.vector", (*args, second)
        join = "LEFT JOIN embeddings t ON t.version_id = p.version_id AND t.number = p.number AND t.generation_id = ?"
    return Statement(
        f"""SELECT v.id, v.memory_id, v.born, v.status, v.importance, v.at, v.expires_at, v.content_hash,
            p.number, p.start, p.stop, p.terms, e.vector, v.session, v.turn, v.speaker, v.died
            {column}
        FROM (SELECT id, memory_id, born, status, importance, coalesce(event_at, updated_at) AS at, expires_at,
                content_hash, {_DIALOGUE} AS session, coalesce(turn, metadata ->> '$.turn') AS turn,
                coalesce(author, metadata ->> '$.speaker') AS speaker, died
            FROM versions v WHERE space_id = ? AND born > ? AND {where} AND {PLAIN}
            ORDER BY born LIMIT ?) v
        JOIN passages p ON p.version_id = v.id
        LEFT JOIN embeddings e ON e.version_id = p.version_id AND e.number = p.number AND e.generation_id = ?
        {join}
        ORDER BY v.born, p.number""",
        args,
    )


def instructions(space: SpaceRow, after: int, upto: int, marked: str) -> Statement:
    """Select what may be standing instructions: guards with ids after `after` up to `upto`, and the `marked` versions.

    `marked` is a JSON array of version ids. A version may come twice. Columns: id, type, kind, trust, who says it, the
    content and the structure.
    """
    columns = "v.id, v.type, v.kind, v.trust, coalesce(v.author, v.metadata ->> '$.speaker'), v.content, v.structure"
    return Statement(
        f"SELECT {columns} FROM versions v "
        f"WHERE +v.space_id = ? AND v.id > ? AND v.id <= ? AND v.type = 'guard' AND {PLAIN} "  # + : by id, not by space
        f"UNION ALL SELECT {columns} FROM json_each(?) j CROSS JOIN versions v "
        "WHERE v.id = j.value AND +v.space_id = ?",
        (space.id, after, upto, marked, space.id),
    )


def ended(space: SpaceRow, after: int) -> Statement:
    """Select (version id, seq, erased) of versions that ended after `after`; `erased` is 1 when a row is gone."""
    return Statement(
        "SELECT id, died, 0 FROM versions WHERE space_id = ? AND died > ? "
        "UNION ALL SELECT version_id, seq, 1 FROM erased WHERE space_id = ? AND seq > ?",
        (space.id, after) * 2,
    )


def field_values(space: SpaceRow, field: str, first_id: int, last_id: int) -> Statement:
    """Select (version id, value) of a filter field, for versions first_id to last_id; several rows for lists.

    For metadata there is a third column, the type of the value.
    """
    args = (space.id, first_id, last_id)
    return _values(field, "versions v JOIN", "v.space_id = ? AND v.id BETWEEN ? AND ?", args)


def some_field_values(space: SpaceRow, field: str, versions: Sequence[int]) -> Statement:
    """Select what `field_values` does, for these versions alone: one look-up each, however many the space has."""
    args = (json.dumps(list(versions)), space.id)  # cross joins keep their order: SQLite would begin with the path
    return _values(field, "json_each(?) r CROSS JOIN versions v ON v.id = r.value CROSS JOIN", "+v.space_id = ?", args)


def _values(field: str, source: str, where: str, args: tuple[Scalar, ...]) -> Statement:
    """Select the values of a field; `source` is a FROM clause that ends where another table may be joined."""
    if field == "tags":
        return Statement(f"SELECT v.id, t.tag FROM {source} tags t ON t.version_id = v.id WHERE {where}", args)
    if field in LISTED:
        return Statement(f"SELECT v.id, d.value FROM {source} json_each({LISTS[field]}) d WHERE {where}", args)
    if field.startswith("metadata."):
        sql = (
            f"SELECT v.id, m.value, m.type FROM {source} metadata m ON m.version_id = v.id WHERE {where} AND m.path = ?"
        )
        return Statement(sql, (*args, field.removeprefix("metadata.")))
    column = COLUMNS[field]
    alone = source.removesuffix(" CROSS JOIN").removesuffix(" JOIN")
    return Statement(f"SELECT v.id, {column} FROM {alone} WHERE {where} AND {column} IS NOT NULL", args)


# The SQL of segments: the rows of an index packed into a few large ones, which load faster than many small ones

FORMAT = 1  # version of the packed bytes; segments of other formats are ignored
MAPPED = 2  # format of the seal of an index in a file, which has the file's digest in place of rows
SECOND = 1_001  # format of packed vectors of a second model


class KeptSegment(NamedTuple):
    """Names a segment of a space that is to be rewritten; `seen` is the change that it was packed after."""

    space: int
    generation: int
    format: int
    first: int
    seen: int

    @property
    def key(self) -> tuple[int, ...]:
        return tuple(self)


_OWN = "space_id = ? AND generation_id = ? AND format = ?"
Chain = tuple[int, int, int]  # the segments of a space by one model: row ids of both, and the format
_WITH_ERASED = (
    "FROM segments s WHERE s.space_id = ? AND s.format IN (?, ?) AND EXISTS (SELECT 1 FROM erased e "
    "WHERE e.space_id = s.space_id AND e.seq > s.seen AND e.born > s.first AND e.born <= s.last)"
)


def own_chain(space: SpaceRow, generation: int | None) -> Chain:
    return space.id, generation or 0, FORMAT


def second_chain(space: SpaceRow) -> Chain:
    return space.id, space.second or 0, SECOND


def segments(chain: Chain) -> Statement:
    """Select (first, passages, bytes) of each segment, in order."""
    return Statement(f"SELECT first, passages, length(data) FROM segments WHERE {_OWN} ORDER BY first", chain)


def segment_data(chain: Chain, firsts: Sequence[int]) -> Statement:
    """Select (first, last, seen, data) of the segments that begin at `firsts`, in order."""
    return Statement(
        f"SELECT first, last, seen, data FROM segments WHERE {_OWN} AND first IN {slots(firsts)} ORDER BY first",
        (*chain, *firsts),
    )


def last_segment(chain: Chain) -> Statement:
    """Select the highest `born` of the packed versions; null when there is no segment."""
    return Statement(f"SELECT max(last) FROM segments WHERE {_OWN}", chain)


def add_segment(
    space: SpaceRow, chain: Chain, span: tuple[int, int], seen: int, passages: int, packed: bytes
) -> list[Statement]:
    """Append a segment: `span` is its `first` and `last`.

    Nothing happens when another process has appended one, or the model is no longer that of the space. The same holds
    when a change after `seen` embedded or erased older versions, or when ends of versions after `seen` may have been
    erased.
    """
    kinds, model = "'reembedded', 'erased'", "? IN (generation_id, 0)"
    if chain[2] == SECOND:
        kinds, model = "'erased'", "second_generation_id = ?"
    return [
        spaces.guard(space),
        Statement(
            "INSERT INTO segments SELECT ?, ?, ?, ?, ?, ?, ?, ? "
            f"WHERE (SELECT coalesce(max(last), 0) FROM segments WHERE {_OWN}) = ? AND NOT EXISTS "
            f"(SELECT 1 FROM changes WHERE space_id = ? AND seq > ? AND kind IN ({kinds})) "
            f"AND EXISTS (SELECT 1 FROM spaces WHERE id = ? AND kept_from <= ? AND {model})",
            (*chain, *span, seen, passages, packed, *chain, span[0], space.id, seen, space.id, seen, chain[1]),
        ),
    ]


def forget_segments(space: SpaceRow) -> Statement:
    """Delete all segments of a space."""
    return Statement("DELETE FROM segments WHERE space_id = ?", (space.id,))


def forget_packed() -> Statement:
    """Delete the segments of all spaces that have terms, and the seals of files that have."""
    return Statement("DELETE FROM segments WHERE format IN (?, ?)", (FORMAT, MAPPED))


def sealed_chain(space: SpaceRow, generation: int | None) -> Chain:
    return space.id, generation or 0, MAPPED


def seal(chain: Chain) -> Statement:
    """Select the digest of the file with an index."""
    return Statement(f"SELECT data FROM segments WHERE {_OWN}", chain)


def seals() -> Statement:
    """Select the digests of all files with an index."""
    return Statement("SELECT data FROM segments WHERE format = ?", (MAPPED,))


def set_seal(space: SpaceRow, chain: Chain, seen: int, digest: bytes) -> list[Statement]:
    """Record the digest of the file with an index at change `seen`, in place of the one before.

    The old one only goes when anything was erased after `seen`, or the model is no longer that of the space.
    """
    return [
        spaces.guard(space),
        Statement(f"DELETE FROM segments WHERE {_OWN}", chain),
        Statement(
            "INSERT INTO segments SELECT ?, ?, ?, 0, ?, ?, 0, ? "
            "WHERE NOT EXISTS (SELECT 1 FROM changes WHERE space_id = ? AND seq > ? AND kind = 'erased') "
            "AND EXISTS (SELECT 1 FROM spaces WHERE id = ? AND kept_from <= ? AND ? IN (generation_id, 0))",
            (*chain, seen, seen, digest, space.id, seen, space.id, seen, chain[1]),
        ),
    ]


def segments_with_erased(space: SpaceRow) -> Statement:
    """Select (generation id, format, first, seen, data) of a segment with versions erased after it was packed."""
    return Statement(
        f"SELECT s.generation_id, s.format, s.first, s.seen, s.data {_WITH_ERASED} LIMIT 1", (space.id, FORMAT, SECOND)
    )


def count_erased_segments(space: SpaceRow) -> Statement:
    """Count the segments with versions that were erased after they were packed."""
    return Statement(f"SELECT count(*) {_WITH_ERASED}", (space.id, FORMAT, SECOND))


def seconds(space: SpaceRow) -> Statement:
    """Select (generation id, first) of each segment with vectors of a second model, of all that the space has had."""
    return Statement(
        "SELECT generation_id, first FROM segments WHERE space_id = ? AND format = ? ORDER BY 1, 2", (space.id, SECOND)
    )


def second_vectors(space: SpaceRow, after: int, upto: int, versions: int) -> Statement:
    """Select (born, version id, number, vector) by the second model, of current versions after a change up to another.

    At most `versions` versions are selected, the oldest first. One without vectors has a row of nulls.
    """
    return Statement(
        "SELECT v.born, v.id, e.number, e.vector FROM (SELECT id, born FROM versions v WHERE space_id = ? AND born > ? "
        f"AND born <= ? AND died IS NULL AND status <> 'superseded' AND {PLAIN} ORDER BY born LIMIT ?) v "
        "LEFT JOIN embeddings e ON e.version_id = v.id AND e.generation_id = ? ORDER BY v.born, e.number",
        (space.id, after, upto, versions, space.second),
    )


def overwrite_segment(one: KeptSegment) -> list[Statement]:
    """Overwrite a segment that the same transaction rewrites."""
    return table.over(tables.named("segments"), f"{_OWN} AND first = ? AND seen = ?", one.key)


def rewrite_segment(one: KeptSegment, seen: int, passages: int, packed: bytes) -> Statement:
    """Replace the content of a segment, unless another process has."""
    return Statement(
        f"UPDATE segments SET seen = ?, passages = ?, data = ? WHERE {_OWN} AND first = ? AND seen = ?",
        (seen, passages, packed, *one.key),
    )
