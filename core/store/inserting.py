"""The SQL that stores a version, with all that hangs on it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

import msgspec

from core.ids import id_bytes
from core.store.checksums import checksum
from core.store.database import Scalar, Statement
from core.store.spaces import SpaceRow
from core.store.version_rows import raw
from core.text import ANALYZER, fold
from core.times import to_us
from core.values import IMPORTANCE, Json, Memory, Passage

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
_ROW = "(SELECT id FROM versions WHERE memory_id = ? AND version = ?)"


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


def end(space: SpaceRow, memory: Memory, offset: int = 0) -> Statement:
    """The living version dies at the space's seq less `offset`."""
    return Statement(
        "UPDATE versions SET died = (SELECT seq - ? FROM spaces WHERE id = ?) WHERE memory_id = ? AND died IS NULL",
        (offset, space.id, _bytes(memory.id)),
    )


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


_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def _folded(text: str | None) -> str | None:
    return None if text is None else fold(text)


def _us(at: datetime | None) -> int | None:
    return None if at is None else to_us(at)


def _bytes(id_: str | None) -> bytes | None:
    return None if id_ is None else id_bytes(id_)
