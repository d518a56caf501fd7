"""The SQL that inserts a version with all dependent rows, or refuses it, and stores answers of requests."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

import msgspec

from muisti.core.model.fields import FOLDED
from muisti.core.model.values import Json, Memory, Passage, RequestKey
from muisti.core.store.database import Refusal, Scalar, Statement, refuse, slots
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.tables import copy_rows, repeated
from muisti.core.store.sql.version_rows import CURRENT, LAYOUT, UNEXPIRED, Layout, raw
from muisti.core.text.terms import ANALYZER, fold

_ROW = "(SELECT id FROM versions WHERE memory_id = ? AND version = ?)"


class Indexed(msgspec.Struct, frozen=True):
    """A passage ready to be stored: its terms, and its packed vectors by the identity of their model."""

    passage: Passage
    terms: bytes
    vectors: Mapping[str, bytes] = {}


class NewVersion(msgspec.Struct, frozen=True):
    """A version ready to be stored. `passages` is None when those of the previous version are still right."""

    memory: Memory
    content_hash: bytes
    passages: Sequence[Indexed] | None
    previous: int | None = None  # row id of the version that it replaces


def insert(
    space: SpaceRow,
    new: NewVersion,
    offset: int = 0,
    *,
    alias: bytes | None = None,
    layout: Layout = LAYOUT,
) -> list[Statement]:
    """Insert a version at the space's seq less `offset`, with all dependent rows.

    `alias` replaces the memory's id.
    """
    row = layout.row(new.memory, new.content_hash)
    if alias is not None:
        row["memory_id"] = alias
    version = Statement(layout.insert, (offset, *row.values(), space.id))
    return [version, *dependent_rows((cast(bytes, row["memory_id"]), new.memory.version), new)]


def end(space: SpaceRow, memory: Memory, offset: int = 0) -> Statement:
    """End the open version of a memory at the space's seq less `offset`."""
    return Statement(
        "UPDATE versions SET died = (SELECT seq - ? FROM spaces WHERE id = ?) WHERE memory_id = ? AND died IS NULL",
        (offset, space.id, raw(memory.id)),
    )


def dependent_rows(me: tuple[bytes, int], new: NewVersion) -> list[Statement]:
    """Insert the dependent rows of a version: `me` is its memory's id and its number."""
    m, rows = new.memory, list[Statement]()
    for tag in m.tags:
        rows.append(Statement(f"INSERT INTO tags SELECT {_ROW}, ?, ?", (*me, fold(tag), tag)))
    for path, position, type_, value in flatten(m.metadata) if m.metadata else ():
        rows.append(Statement(f"INSERT INTO metadata SELECT {_ROW}, ?, ?, ?, ?", (*me, path, position, type_, value)))
    if new.passages is None:
        rows += _carry_over(me, new.previous)
    for indexed in new.passages or ():
        p = indexed.passage
        rows.append(Statement(_PASSAGE, (*me, p.number, p.start, p.stop, ANALYZER, indexed.terms)))
        for generation, vector in indexed.vectors.items():
            rows.append(Statement(_EMBEDDING, (*me, p.number, generation, vector)))
    return rows


_PASSAGE = f"INSERT INTO passages SELECT {_ROW}, ?, ?, ?, ?, ?"
_EMBEDDING = f"INSERT INTO embeddings SELECT {_ROW}, ?, (SELECT id FROM generations WHERE hash = ?), ?"


def refold(row: int, new: NewVersion) -> Statement:
    """Compute the columns again that comparisons use: the hash of the text, and folded names."""
    names = ", ".join(f"{name}_folded = ?" for name in FOLDED)
    folded = (_folded(getattr(new.memory, name)) for name in FOLDED)
    return Statement(f"UPDATE versions SET content_hash = ?, {names} WHERE id = ?", (new.content_hash, *folded, row))


def _carry_over(me: tuple[bytes, int], previous: int | None) -> Iterator[Statement]:
    """Copy the rows that are derived from the text, which is the same in the previous version."""
    for table in repeated():
        yield Statement(f"{copy_rows(table, _ROW)} FROM {table.name} h WHERE h.{table.version} = ?", (*me, previous))


def flatten(metadata: Mapping[str, Json], prefix: str = "") -> Iterator[tuple[str, int, str, Scalar]]:
    """Yield the scalars of metadata as (path, position, type, value); elements of an array share a path.

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


def _folded(text: str | None) -> str | None:
    return None if text is None else fold(text)


# The SQL that refuses a whole batch when a condition that it was prepared for is no longer true

_DUPLICATE = refuse(Refusal.DUPLICATE)
_ADDRESS_TAKEN = refuse(Refusal.ADDRESS_TAKEN)
_PLACE_TAKEN = refuse(Refusal.PLACE_TAKEN)
_NO_PARENT = refuse(Refusal.NO_PARENT)
_STALE = refuse(Refusal.STALE)


def refuse_duplicate(space: SpaceRow, new: Memory, content_hash: bytes, now: int, category: str | None) -> Statement:
    """Refuse when another current memory of the same kind has the same text: of a folded category, or of any."""
    only, args = ("", ()) if category is None else (" AND v.category_folded = ?", (category,))
    return Statement(
        f"{_DUPLICATE} WHERE EXISTS (SELECT 1 FROM versions v "
        f"WHERE v.space_id = ? AND v.content_hash = ? AND v.kind = ? AND v.conversation IS NULL AND v.document IS NULL "
        f"AND {CURRENT} AND {UNEXPIRED}{only})",
        (space.id, content_hash, new.kind, now, *args),
    )


def refuse_address(space: SpaceRow, new: Memory) -> Statement:
    """Refuse when another current memory has the address."""
    assert new.category is not None
    return Statement(
        f"{_ADDRESS_TAKEN} WHERE EXISTS (SELECT 1 FROM versions v "
        f"WHERE v.space_id = ? AND v.category_folded = ? AND v.key = ? AND {CURRENT} AND v.memory_id <> ?)",
        (space.id, fold(new.category), new.key, raw(new.id)),
    )


def refuse_place(space: SpaceRow, new: Memory, place: str) -> Statement:
    """Refuse when another current memory of the category is at the same place in the hierarchy."""
    return Statement(
        f"{_PLACE_TAKEN} WHERE EXISTS (SELECT 1 FROM versions v WHERE v.space_id = ? "
        "AND coalesce(v.category_folded, '') = ? AND v.place = ? "
        f"AND {CURRENT} AND v.place IS NOT NULL AND v.memory_id <> ?)",
        (space.id, fold(new.category or ""), place, raw(new.id)),
    )


def refuse_orphan(space: SpaceRow, parent_id: str) -> Statement:
    """Refuse when the parent is no memory of this space."""
    return Statement(
        f"{_NO_PARENT} WHERE NOT EXISTS (SELECT 1 FROM versions WHERE memory_id = ? AND space_id = ? AND died IS NULL)",
        (raw(parent_id), space.id),
    )


def refuse_less_trusted(space: SpaceRow, ids: Sequence[str], trust: int) -> Statement:
    """Refuse with `stale` unless all of these memories exist and have at least this trust."""
    return Statement(
        f"{_STALE} WHERE (SELECT count(*) FROM versions WHERE +space_id = ? "
        f"AND memory_id IN {slots(ids)} AND died IS NULL AND trust >= ?) < ?",
        (space.id, *map(raw, ids), trust, len(ids)),
    )


def refuse_stale(memory: Memory) -> Statement:
    """Refuse when this version has ended or was replaced."""
    return Statement(
        f"{_STALE} WHERE NOT EXISTS (SELECT 1 FROM versions WHERE memory_id = ? AND version = ? AND died IS NULL)",
        (raw(memory.id), memory.version),
    )


def refuse_revived(memory: Memory) -> Statement:
    """Refuse when this is not the last version of a deleted memory."""
    return Statement(
        f"{_STALE} WHERE EXISTS (SELECT 1 FROM versions WHERE memory_id = ? AND (version > ? OR died IS NULL))",
        (raw(memory.id), memory.version),
    )


# The SQL of stored answers, which repeated requests get by idempotency key

_REFUSE_KNOWN = f"{refuse(Refusal.REQUEST_KNOWN)} WHERE EXISTS (SELECT 1 FROM requests WHERE scope = ? AND key = ?)"


def refuse_known(request: RequestKey, now: int) -> list[Statement]:
    """Refuse with `request_known` when the key has an answer. Expired answers are deleted first."""
    return [
        Statement("DELETE FROM requests WHERE expires_at <= ?", (now,)),
        Statement(
            _REFUSE_KNOWN,
            (request.scope, request.key),
        ),
    ]


def old(now: int) -> Statement:
    """Select a row when there are expired answers."""
    return Statement("SELECT 1 FROM requests WHERE expires_at <= ? LIMIT 1", (now,))


def forget(now: int, limit: int) -> Statement:
    """Delete up to `limit` expired answers."""
    return Statement(
        "DELETE FROM requests WHERE (scope, key) IN "
        "(SELECT scope, key FROM requests WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)",
        (now, limit),
    )


def remember(space: SpaceRow, request: RequestKey, answer: bytes, expires_at: int) -> Statement:
    """Store the answer with the seq that the batch reached."""
    return Statement(
        "INSERT INTO requests SELECT ?, ?, ?, ?, epoch || ':' || seq, ? FROM spaces WHERE id = ?",
        (request.scope, request.key, request.body_hash, answer, expires_at, space.id),
    )


def known(request: RequestKey, now: int) -> Statement:
    """Select body hash, answer and seq of the request with this key."""
    return Statement(
        "SELECT body_hash, answer, seq FROM requests WHERE scope = ? AND key = ? AND expires_at > ?",
        (request.scope, request.key, now),
    )
