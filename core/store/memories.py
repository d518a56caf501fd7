"""The SQL of memories: how a version is written, found and read back."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import cast

import msgspec

from core.ids import id_bytes, id_text
from core.points import Point
from core.store.checksums import checksum
from core.store.database import Row, Scalar, Statement
from core.store.points import lived
from core.store.spaces import SpaceRow
from core.text import ANALYZER, fold, same_text_hash
from core.times import from_us, to_us
from core.values import IMPORTANCE, Json, Kind, Memory, Passage, SourceClass, Status, Type, Version

COLUMNS = (
    "v.id, v.memory_id, v.version, v.kind, v.category, v.key, v.content, v.type, v.status, v.importance, v.author, "
    "v.reason, v.source, v.tags, v.metadata, v.event_at, v.created_at, v.updated_at, v.expires_at, v.supersedes, "
    "v.superseded_by, v.parent_id, v.tokens, v.source_class, v.derived_from, v.trust, v.valid_from, v.valid_to"
)
WIDTH = 28  # of a row of `COLUMNS`
_Columns = tuple[
    int, bytes, int, Kind, str | None, str | None, str, Type, Status, int, str | None, str | None, str | None, str,
    str, int | None, int, int, int | None, bytes | None, bytes | None, bytes | None, int, SourceClass, str, int,
    int | None, int | None,
]  # fmt: skip
# fmt: off
_WRITTEN = (
    "memory_id", "version", "kind", "category", "category_folded", "key", "content", "content_hash", "type", "status",
    "importance", "author", "author_folded", "reason", "source", "tags", "metadata", "event_at", "created_at",
    "updated_at", "expires_at", "supersedes", "superseded_by", "parent_id", "tokens", "source_class", "derived_from",
    "trust", "valid_from", "valid_to",
)
# fmt: on
_INSERT = (
    f"INSERT INTO versions (space_id, born, {', '.join(_WRITTEN)}, checksum) "
    f"SELECT id, seq - ?, {','.join('?' * len(_WRITTEN))}, ? FROM spaces WHERE id = ?"
)
CURRENT = "v.died IS NULL AND v.status <> 'superseded'"
UNEXPIRED = "(v.expires_at IS NULL OR v.expires_at > ?)"


class Indexed(msgspec.Struct, frozen=True):
    """A passage ready to be stored: its terms and, when it was embedded, its packed vector."""

    passage: Passage
    terms: bytes
    vector: bytes | None


class NewVersion(msgspec.Struct, frozen=True):
    """A version ready to be stored. `passages` is None when those of the version before still hold."""

    memory: Memory
    content_hash: bytes
    passages: Sequence[Indexed] | None
    previous: int | None = None  # row id of the version that it replaces


def memory(row: Row, space: str) -> Memory:
    """The memory in a row of `COLUMNS`."""
    # fmt: off
    (_, memory_id, number, kind, category, key, content, type_, status, importance, author, reason, source, tags,
     metadata, event, created, updated, expires, supersedes, superseded_by, parent, tokens, source_class, derived_from,
     trust, valid_from, valid_to) = cast(_Columns, row[:WIDTH])
    # fmt: on
    created_at = from_us(created)
    return Memory(
        id=id_text(memory_id),
        space=space,
        version=number,
        kind=kind,
        category=category,
        key=key,
        content=content,
        type=type_,
        status=status,
        importance=IMPORTANCE[importance],
        author=author,
        reason=reason,
        source=source,
        tags=tuple(_read(tags)) if tags != "[]" else (),
        metadata=_read(metadata) if metadata != "{}" else {},
        event_at=None if event is None else from_us(event),
        valid_from=None if valid_from is None else from_us(valid_from),
        valid_to=None if valid_to is None else from_us(valid_to),
        created_at=created_at,
        updated_at=created_at if updated == created else from_us(updated),
        expires_at=None if expires is None else from_us(expires),
        supersedes=None if supersedes is None else id_text(supersedes),
        superseded_by=None if superseded_by is None else id_text(superseded_by),
        parent_id=None if parent is None else id_text(parent),
        source_class=source_class,
        derived_from=tuple(_read(derived_from)) if derived_from != "[]" else (),
        trust=trust,
        tokens=tokens,
    )


def version(row: Row, space: str) -> Version:
    """The version in a row of `history`."""
    born, died, born_at, died_at = cast(tuple[int, int | None, int, int | None], row[WIDTH : WIDTH + 4])
    return Version(
        memory=memory(row, space),
        born=born,
        died=died,
        born_at=from_us(born_at),
        died_at=None if died_at is None else from_us(died_at),
    )


def is_expired(memory: Memory, now: int) -> bool:
    return memory.expires_at is not None and to_us(memory.expires_at) <= now


def living(space: SpaceRow, memory_id: bytes) -> Statement:
    """The living version of a memory, superseded or expired or not."""
    return Statement(
        f"SELECT {COLUMNS} FROM versions v WHERE v.memory_id = ? AND v.space_id = ? AND v.died IS NULL",
        (memory_id, space.id),
    )


def standing(space: SpaceRow, memory_id: bytes, point: Point) -> Statement:
    """The version of a memory that stood at a point, superseded or expired or not."""
    then, args = lived(point)
    return Statement(
        f"SELECT {COLUMNS} FROM versions v WHERE v.memory_id = ? AND v.space_id = ? AND {then}",
        (memory_id, space.id, *args),
    )


def last(space: SpaceRow, memory_id: bytes) -> Statement:
    """The last two versions of a memory, newest first, of a deleted one too; behind each its death."""
    return Statement(
        f"SELECT {COLUMNS}, v.died FROM versions v WHERE v.memory_id = ? AND v.space_id = ? "
        "ORDER BY v.version DESC LIMIT 2",
        (memory_id, space.id),
    )


def at_address(space: SpaceRow, category: str, key: str) -> Statement:
    """The current version at an address, expired or not."""
    return Statement(
        f"SELECT {COLUMNS} FROM versions v WHERE v.space_id = ? AND v.category_folded = ? AND v.key = ? AND {CURRENT}",
        (space.id, fold(category), key),
    )


def stood_at_address(space: SpaceRow, category: str, key: str, point: Point) -> Statement:
    """The version that was current at an address at a point, expired or not."""
    if point.number is None:
        return at_address(space, category, key)
    address = f"SELECT {COLUMNS} FROM versions v WHERE v.space_id = ? AND v.category_folded = ? AND v.key = ?"
    args = (space.id, fold(category), key, point.number)
    return Statement(
        f"{address} AND v.born <= ? AND {CURRENT} UNION ALL "
        f"{address} AND v.born <= ? AND v.died > ? AND v.status <> 'superseded'",
        (*args, *args, point.number),
    )


def same_text(space: SpaceRow, content: str, now: int) -> Statement:
    """The current memories that say the same."""
    return Statement(
        f"SELECT {COLUMNS} FROM versions v WHERE v.space_id = ? AND v.content_hash = ? AND {CURRENT} AND {UNEXPIRED} "
        "ORDER BY v.memory_id",
        (space.id, same_text_hash(content), now),
    )


def expired(space: SpaceRow, now: int, most: int) -> Statement:
    """Current memories that have expired, the earliest first."""
    return Statement(
        f"SELECT {COLUMNS} FROM versions v WHERE v.space_id = ? AND {CURRENT} AND v.expires_at <= ? "
        "ORDER BY v.expires_at LIMIT ?",
        (space.id, now, most),
    )


def of_versions(space: SpaceRow, wanted: Sequence[tuple[bytes, int]]) -> list[Statement]:
    """Given versions of memories, one statement each."""
    return [
        Statement(
            f"SELECT {COLUMNS} FROM versions v WHERE v.memory_id = ? AND v.version = ? AND v.space_id = ?",
            (memory_id, number, space.id),
        )
        for memory_id, number in wanted
    ]


def by_rows(version_ids: Sequence[int]) -> Statement:
    """Versions by row id, in no order."""
    marks = ",".join("?" * len(version_ids))
    return Statement(f"SELECT {COLUMNS} FROM versions v WHERE v.id IN ({marks})", tuple(version_ids))


def history(space: SpaceRow, memory_id: bytes) -> Statement:
    """All versions that are kept, newest first, with the times of their birth and death."""
    return Statement(
        f"""SELECT {COLUMNS}, v.born, v.died, coalesce(b.committed_at, v.updated_at), d.committed_at
        FROM versions v LEFT JOIN changes b ON b.space_id = v.space_id AND b.seq = v.born
        LEFT JOIN changes d ON d.space_id = v.space_id AND d.seq = v.died
        WHERE v.memory_id = ? AND v.space_id = ? ORDER BY v.version DESC""",
        (memory_id, space.id),
    )


def chain(space: SpaceRow, memory_id: bytes) -> Statement:
    """(memory id, category) of what superseded one another before a memory, of itself and of what came after."""
    return Statement(
        """WITH RECURSIVE
        older (id, place) AS (
            SELECT ?, 0 UNION SELECT v.supersedes, place - 1 FROM older JOIN versions v ON v.memory_id = older.id
            WHERE v.supersedes IS NOT NULL
            AND v.version = (SELECT max(version) FROM versions WHERE memory_id = older.id)
        ),
        newer (id, place) AS (
            SELECT ?, 0 UNION SELECT v.superseded_by, place + 1 FROM newer JOIN versions v ON v.memory_id = newer.id
            WHERE v.superseded_by IS NOT NULL
            AND v.version = (SELECT max(version) FROM versions WHERE memory_id = newer.id)
        )
        SELECT v.memory_id, v.category FROM (SELECT * FROM older UNION SELECT * FROM newer) c
        JOIN versions v ON v.memory_id = c.id AND v.space_id = ?
        AND v.version = (SELECT max(version) FROM versions WHERE memory_id = c.id) ORDER BY c.place""",
        (memory_id, memory_id, space.id),
    )


def newest(
    space: SpaceRow, where: str, args: Sequence[Scalar], point: Point, limit: int, after: tuple[int, bytes] | None
) -> Statement:
    """Unexpired memories that stood at a point and meet `where`, newest first; `after`: from (created_at, id) on."""
    then, numbers = lived(point)
    position = "" if after is None else " AND (v.created_at, v.memory_id) < (?, ?)"
    return Statement(
        f"SELECT {COLUMNS} FROM versions v WHERE v.space_id = ? AND {then} AND {UNEXPIRED} "
        f"AND ({where}){position} "
        "ORDER BY v.created_at DESC, v.memory_id DESC LIMIT ?",
        (space.id, *numbers, point.time, *args, *(after or ()), limit),
    )


def refuse_duplicate(space: SpaceRow, content_hash: bytes, now: int) -> Statement:
    return Statement(
        "INSERT INTO refuse SELECT 'duplicate' WHERE EXISTS (SELECT 1 FROM versions v "
        f"WHERE v.space_id = ? AND v.content_hash = ? AND {CURRENT} AND {UNEXPIRED})",
        (space.id, content_hash, now),
    )


def refuse_address(space: SpaceRow, new: Memory) -> Statement:
    """Refuse when another current memory has the address."""
    assert new.category is not None
    return Statement(
        "INSERT INTO refuse SELECT 'address_taken' WHERE EXISTS (SELECT 1 FROM versions v "
        f"WHERE v.space_id = ? AND v.category_folded = ? AND v.key = ? AND {CURRENT} AND v.memory_id <> ?)",
        (space.id, fold(new.category), new.key, _bytes(new.id)),
    )


def refuse_orphan(space: SpaceRow, parent_id: str) -> Statement:
    """Refuse when the parent is no memory of this space."""
    return Statement(
        "INSERT INTO refuse SELECT 'no_parent' WHERE NOT EXISTS "
        "(SELECT 1 FROM versions WHERE memory_id = ? AND space_id = ? AND died IS NULL)",
        (_bytes(parent_id), space.id),
    )


def trusts(space: SpaceRow, ids: Sequence[str], *, living: bool) -> Statement:
    """(memory id, trust, category) of the living versions of memories, or of the last ones, of deleted ones too."""
    marks = ",".join("?" * len(ids))
    last = (
        "v.died IS NULL" if living else "v.version = (SELECT max(version) FROM versions WHERE memory_id = v.memory_id)"
    )
    return Statement(
        "SELECT v.memory_id, v.trust, v.category FROM versions v "
        f"WHERE v.space_id = ? AND v.memory_id IN ({marks}) AND {last}",
        (space.id, *map(raw, ids)),
    )


def refuse_less_trusted(space: SpaceRow, ids: Sequence[str], trust: int) -> Statement:
    """Refuse with `stale` unless all of these memories live and are trusted so much."""
    marks = ",".join("?" * len(ids))
    return Statement(
        "INSERT INTO refuse SELECT 'stale' WHERE (SELECT count(*) FROM versions WHERE space_id = ? "
        f"AND memory_id IN ({marks}) AND died IS NULL AND trust >= ?) < ?",
        (space.id, *map(raw, ids), trust, len(ids)),
    )


def refuse_stale(memory: Memory) -> Statement:
    """Refuse when this is not the living version."""
    return Statement(
        "INSERT INTO refuse SELECT 'stale' WHERE NOT EXISTS "
        "(SELECT 1 FROM versions WHERE memory_id = ? AND version = ? AND died IS NULL)",
        (_bytes(memory.id), memory.version),
    )


def refuse_revived(memory: Memory) -> Statement:
    """Refuse when this is not the last version of a deleted memory."""
    return Statement(
        "INSERT INTO refuse SELECT 'stale' WHERE EXISTS "
        "(SELECT 1 FROM versions WHERE memory_id = ? AND (version > ? OR died IS NULL))",
        (_bytes(memory.id), memory.version),
    )


def end(space: SpaceRow, memory: Memory, offset: int = 0) -> Statement:
    """The living version dies at the space's seq less `offset`."""
    return Statement(
        "UPDATE versions SET died = (SELECT seq - ? FROM spaces WHERE id = ?) WHERE memory_id = ? AND died IS NULL",
        (offset, space.id, _bytes(memory.id)),
    )


def insert(
    space: SpaceRow, new: NewVersion, generation: str | None, offset: int = 0, *, alias: bytes | None = None
) -> Iterator[Statement]:
    """Store a version that is born at the space's seq less `offset`, with all that hangs on it.

    `alias`: under this id.
    """
    m = new.memory
    me = (alias or raw(m.id), m.version)
    # fmt: off
    row: dict[str, Scalar] = dict(zip(_WRITTEN, (
        *me, m.kind, m.category, _folded(m.category), m.key, m.content, new.content_hash, m.type, m.status,
        IMPORTANCE.index(m.importance), m.author, _folded(m.author), m.reason, m.source, _json(list(m.tags)),
        _json(m.metadata), _us(m.event_at), to_us(m.created_at), to_us(m.updated_at), _us(m.expires_at),
        _bytes(m.supersedes), _bytes(m.superseded_by), _bytes(m.parent_id), m.tokens, m.source_class,
        _json(list(m.derived_from)), m.trust, _us(m.valid_from), _us(m.valid_to),
    ), strict=True))
    # fmt: on
    yield Statement(_INSERT, (offset, *row.values(), checksum(row), space.id))
    yield from hang_on(me, new, generation)


def hang_on(me: tuple[bytes, int], new: NewVersion, generation: str | None) -> Iterator[Statement]:
    """Store all that hangs on a version: `me` are its memory's id and its number."""
    m = new.memory
    for tag in m.tags:
        yield Statement(f"INSERT INTO tags SELECT {_ROW}, ?, ?", (*me, fold(tag), tag))
    for path, position, type_, value in flatten(m.metadata):
        yield Statement(f"INSERT INTO metadata SELECT {_ROW}, ?, ?, ?, ?", (*me, path, position, type_, value))
    if new.passages is None:
        yield from _carry_over(me, new.previous)
    else:
        for indexed in new.passages:
            yield from _insert_passage(me, indexed, generation)


def refold(row: int, new: NewVersion) -> Statement:
    """Make anew what is compared of a version: the hash of its text, and names without case."""
    m = new.memory
    return Statement(
        "UPDATE versions SET content_hash = ?, category_folded = ?, author_folded = ? WHERE id = ?",
        (new.content_hash, _folded(m.category), _folded(m.author), row),
    )


_ROW = "(SELECT id FROM versions WHERE memory_id = ? AND version = ?)"


def _insert_passage(me: tuple[bytes, int], indexed: Indexed, generation: str | None) -> Iterator[Statement]:
    p = indexed.passage
    yield Statement(
        f"INSERT INTO passages SELECT {_ROW}, ?, ?, ?, ?, ?", (*me, p.number, p.start, p.stop, ANALYZER, indexed.terms)
    )
    if indexed.vector is not None:
        yield Statement(
            f"INSERT INTO embeddings SELECT {_ROW}, ?, (SELECT id FROM generations WHERE hash = ?), ?",
            (*me, p.number, generation, indexed.vector),
        )


def _carry_over(me: tuple[bytes, int], previous: int | None) -> Iterator[Statement]:
    yield Statement(
        f"INSERT INTO passages SELECT {_ROW}, number, start, stop, analyzer, terms FROM passages WHERE version_id = ?",
        (*me, previous),
    )
    yield Statement(
        f"INSERT INTO embeddings SELECT {_ROW}, number, generation_id, vector FROM embeddings WHERE version_id = ?",
        (*me, previous),
    )


def flatten(metadata: Mapping[str, Json], prefix: str = "") -> Iterator[tuple[str, int, str, Scalar]]:
    """The scalars of metadata as (path, position, type, value); elements of an array share a path.

    >>> list(flatten({"a": {"b": [1, "x"]}, "c": None, "d": True}))
    [('a.b', 0, 'number', 1), ('a.b', 1, 'text', 'x'), ('d', 0, 'boolean', 1)]
    """
    positions: dict[str, int] = {}
    for path, value in _scalars(metadata, prefix):
        position = positions.get(path, 0)
        positions[path] = position + 1
        if isinstance(value, bool):
            yield path, position, "boolean", int(value)
        elif isinstance(value, str):
            yield path, position, "text", value
        else:
            yield path, position, "number", value


def _scalars(value: Json | Mapping[str, Json], path: str) -> Iterator[tuple[str, str | int | float | bool]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _scalars(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for inner in value:
            yield from _scalars(inner, path)
    elif value is not None:
        yield path, value


_read = msgspec.json.Decoder().decode  # what was checked when it was written: no number is out of its range
_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def _folded(text: str | None) -> str | None:
    return None if text is None else fold(text)


def _us(at: datetime | None) -> int | None:
    return None if at is None else to_us(at)


def raw(memory_id: str) -> bytes:
    """The id of a stored memory, as the store has it."""
    raw = id_bytes(memory_id)
    assert raw is not None
    return raw


def _bytes(id_: str | None) -> bytes | None:
    return None if id_ is None else id_bytes(id_)
