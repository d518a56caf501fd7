"""The SQL that selects versions of memories, and their sizes in encodings of tokens."""

import json
from collections.abc import Mapping, Sequence

from muisti.core.model.choices import Sort
from muisti.core.model.times import to_us
from muisti.core.model.values import Memory
from muisti.core.query.points import Point
from muisti.core.store.database import Scalar, Statement, slots
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import COLUMNS, CURRENT, UNEXPIRED, lived, raw
from muisti.core.text.terms import fold, same_text_hash


def is_expired(memory: Memory, now: int) -> bool:
    return memory.expires_at is not None and to_us(memory.expires_at) <= now


def living(space: SpaceRow, memory_id: bytes) -> Statement:
    """Select the open version of a memory, even when it is superseded or expired."""
    return Statement(
        f"SELECT {COLUMNS} FROM versions v WHERE v.memory_id = ? AND v.space_id = ? AND v.died IS NULL",
        (memory_id, space.id),
    )


def standing(space: SpaceRow, memory_id: bytes, point: Point) -> Statement:
    """Select the version of a memory that was open at a point, even when superseded or expired."""
    then, args = lived(point)
    return Statement(
        f"SELECT {COLUMNS} FROM versions v WHERE v.memory_id = ? AND v.space_id = ? AND {then}",
        (memory_id, space.id, *args),
    )


def last(space: SpaceRow, memory_id: bytes) -> Statement:
    """Select the last two versions of a memory, deleted or not, newest first, each followed by its `died`."""
    return Statement(
        f"SELECT {COLUMNS}, v.died FROM versions v WHERE v.memory_id = ? AND v.space_id = ? "
        "ORDER BY v.version DESC LIMIT 2",
        (memory_id, space.id),
    )


def at_address(space: SpaceRow, category: str, key: str) -> Statement:
    """Select the current version at an address, even when it is expired."""
    return Statement(
        f"SELECT {COLUMNS} FROM versions v WHERE v.space_id = ? AND v.category_folded = ? AND v.key = ? AND {CURRENT}",
        (space.id, fold(category), key),
    )


def stood_at_address(space: SpaceRow, category: str, key: str, point: Point) -> Statement:
    """Select the version that was current at an address at a point, even when expired."""
    if point.number is None:
        return at_address(space, category, key)
    address = f"SELECT {COLUMNS} FROM versions v WHERE v.space_id = ? AND v.category_folded = ? AND v.key = ?"
    args = (space.id, fold(category), key, point.number)
    return Statement(
        f"{address} AND v.born <= ? AND {CURRENT} UNION ALL "
        f"{address} AND v.born <= ? AND v.died > ? AND v.status <> 'superseded'",
        (*args, *args, point.number),
    )


def held_address(space: SpaceRow, category: str, key: str, only: str | None) -> Statement:
    """Select the id of the memory that is at an address, even when expired, else of the last that was there.

    With `only`, select among memories whose last version is in this folded category.
    """
    newest = "SELECT l.category_folded FROM versions l WHERE l.memory_id = v.memory_id ORDER BY l.version DESC LIMIT 1"
    own = "" if only is None else f" AND ({newest}) = ?"
    args = (space.id, fold(category), key, *(() if only is None else (only,)))
    found = f"SELECT v.memory_id FROM versions v WHERE v.space_id = ? AND v.category_folded = ? AND v.key = ?{own}"
    return Statement(
        f"SELECT * FROM ({found} AND {CURRENT} LIMIT 1) UNION ALL "
        f"SELECT * FROM ({found} AND v.died IS NOT NULL ORDER BY v.died DESC LIMIT 1) LIMIT 1",
        (*args, *args),
    )


def same_text(space: SpaceRow, memory: Memory, now: int) -> Statement:
    """Select the current memories of the same kind with the same text, but for turns of conversations and chunks."""
    return Statement(
        f"SELECT {COLUMNS} FROM versions v WHERE v.space_id = ? AND v.content_hash = ? AND v.kind = ? "
        f"AND v.conversation IS NULL AND v.document IS NULL AND {CURRENT} AND {UNEXPIRED} ORDER BY v.memory_id",
        (space.id, same_text_hash(memory.content), memory.kind, now),
    )


def at_place(space: SpaceRow, category: str | None, place: str) -> Statement:
    """Select the current version at a place in the hierarchy of a category, even when it is expired."""
    return Statement(
        f"SELECT {COLUMNS} FROM versions v WHERE v.space_id = ? AND coalesce(v.category_folded, '') = ? "
        f"AND v.place = ? AND {CURRENT} AND v.place IS NOT NULL",
        (space.id, fold(category or ""), place),
    )


def expired(space: SpaceRow, now: int, most: int) -> Statement:
    """Select current memories that have expired, the earliest first."""
    return Statement(
        f"SELECT {COLUMNS} FROM versions v WHERE v.space_id = ? AND {CURRENT} AND v.expires_at <= ? "
        "ORDER BY v.expires_at LIMIT ?",
        (space.id, now, most),
    )


def of_versions(space: SpaceRow, wanted: Sequence[tuple[bytes, int]]) -> list[Statement]:
    """Select given versions of memories, in one statement each."""
    return [
        Statement(
            f"SELECT {COLUMNS} FROM versions v WHERE v.memory_id = ? AND v.version = ? AND v.space_id = ?",
            (memory_id, number, space.id),
        )
        for memory_id, number in wanted
    ]


def by_rows(version_ids: Sequence[int]) -> Statement:
    """Select versions by row id, in no order."""
    return Statement(f"SELECT {COLUMNS} FROM versions v WHERE v.id IN {slots(version_ids)}", tuple(version_ids))


def history(space: SpaceRow, memory_id: bytes, most: int | None = None, before: int | None = None) -> Statement:
    """Select stored versions, newest first, followed by seqs and times of their begin and end.

    At most `most` of those before the version `before` are selected, if these are given.
    """
    return Statement(
        f"""SELECT {COLUMNS}, v.born, v.died, coalesce(b.committed_at, v.updated_at), d.committed_at
        FROM versions v LEFT JOIN changes b ON b.space_id = v.space_id AND b.seq = v.born
        LEFT JOIN changes d ON d.space_id = v.space_id AND d.seq = v.died
        WHERE v.memory_id = ? AND v.space_id = ? AND v.version < ? ORDER BY v.version DESC LIMIT ?""",
        (memory_id, space.id, (1 << 62) if before is None else before, -1 if most is None else most),
    )


def chain(space: SpaceRow, memory_id: bytes) -> Statement:
    """Select (memory id, category) of the chain of supersession that a memory is in, oldest first."""
    return Statement(
        """WITH RECURSIVE
        older (id, place) AS (
            SELECT ?, 0 UNION SELECT v.supersedes, older.place - 1
            FROM older JOIN versions v ON v.memory_id = older.id
            WHERE v.supersedes IS NOT NULL
            AND v.version = (SELECT max(version) FROM versions WHERE memory_id = older.id)
        ),
        newer (id, place) AS (
            SELECT ?, 0 UNION SELECT v.superseded_by, newer.place + 1
            FROM newer JOIN versions v ON v.memory_id = newer.id
            WHERE v.superseded_by IS NOT NULL
            AND v.version = (SELECT max(version) FROM versions WHERE memory_id = newer.id)
        )
        SELECT v.memory_id, v.category FROM (SELECT * FROM older UNION SELECT * FROM newer) c
        JOIN versions v ON v.memory_id = c.id AND +v.space_id = ?
        AND v.version = (SELECT max(version) FROM versions WHERE memory_id = c.id) ORDER BY c.place""",
        (memory_id, memory_id, space.id),
    )


def listed(
    space: SpaceRow,
    where: str,
    args: Sequence[Scalar],
    point: Point,
    limit: int,
    sort: Sort,
    after: tuple[int, bytes] | None,
) -> Statement:
    """Select unexpired memories as of a point that meet `where`, in order; `after` is (time, id) of the last page."""
    then, numbers = lived(point)
    column, way, beyond = sort.lstrip("-"), *(("DESC", "<") if sort.startswith("-") else ("ASC", ">"))
    position = "" if after is None else f" AND (v.{column}, v.memory_id) {beyond} (?, ?)"
    return Statement(
        f"SELECT {COLUMNS} FROM versions v WHERE v.space_id = ? AND {then} AND {UNEXPIRED} "
        f"AND ({where}){position} "
        f"ORDER BY v.{column} {way}, v.memory_id {way} LIMIT ?",
        (space.id, *numbers, point.time, *args, *(after or ()), limit),
    )


def last_turns(space: SpaceRow, where: str, args: Sequence[Scalar], point: Point, limit: int) -> Statement:
    """Select unexpired memories as of a point that meet `where`: the highest turns first, then the newest."""
    then, numbers = lived(point)
    named = "CASE WHEN json_type(v.metadata, '$.turn') IN ('integer', 'real') THEN v.metadata ->> '$.turn' END"
    return Statement(
        f"SELECT {COLUMNS} FROM versions v WHERE v.space_id = ? AND {then} AND {UNEXPIRED} AND ({where}) "
        f"ORDER BY coalesce(v.turn, {named}) DESC, v.created_at DESC, v.memory_id DESC LIMIT ?",
        (space.id, *numbers, point.time, *args, limit),
    )


def trusts(space: SpaceRow, ids: Sequence[str], *, living: bool) -> Statement:
    """Select (memory id, trust, category) of the open versions of memories; without `living`, of the last versions."""
    last = (
        "v.died IS NULL" if living else "v.version = (SELECT max(version) FROM versions WHERE memory_id = v.memory_id)"
    )
    return Statement(
        "SELECT v.memory_id, v.trust, v.category FROM versions v "
        f"WHERE +v.space_id = ? AND v.memory_id IN {slots(ids)} AND {last}",
        (space.id, *map(raw, ids)),
    )


# The SQL of the sizes of memories in encodings of tokens

Version = tuple[str, int]  # a memory's id, and the number of its version


def pieces_of(versions: Sequence[Version], encoding: str) -> Statement:
    """Select (place among `versions`, data) of those that have a row."""
    asked = json.dumps([[memory_id.replace("-", ""), version] for memory_id, version in versions])
    return Statement(
        "SELECT r.key, p.data FROM json_each(?) r "
        "JOIN versions v ON v.memory_id = unhex(r.value ->> 0) AND v.version = r.value ->> 1 "
        "JOIN pieces p ON p.version_id = v.id AND p.encoding = ?",
        (asked, encoding),
    )


def insert_pieces(found: Mapping[Version, bytes], encoding: str) -> list[Statement]:
    """Store rows; those of versions that are gone meanwhile are left out."""
    return [
        Statement(
            "INSERT OR IGNORE INTO pieces SELECT id, ?, ? FROM versions WHERE memory_id = ? AND version = ?",
            (encoding, data, raw(memory_id), version),
        )
        for (memory_id, version), data in found.items()
    ]
