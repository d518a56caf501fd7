"""The SQL that inserts a version with all dependent rows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

import msgspec

from muisti.core.model.fields import FOLDED
from muisti.core.model.values import Json, Memory, Passage
from muisti.core.store.database import Scalar, Statement
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.tables import copy_rows, repeated
from muisti.core.store.sql.version_rows import LAYOUT, Layout, raw
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
) -> Iterator[Statement]:
    """Insert a version at the space's seq less `offset`, with all dependent rows.

    `alias` replaces the memory's id.
    """
    row = layout.row(new.memory, new.content_hash)
    if alias is not None:
        row["memory_id"] = alias
    yield Statement(layout.insert, (offset, *row.values(), space.id))
    yield from dependent_rows((cast(bytes, row["memory_id"]), new.memory.version), new)


def end(space: SpaceRow, memory: Memory, offset: int = 0) -> Statement:
    """End the open version of a memory at the space's seq less `offset`."""
    return Statement(
        "UPDATE versions SET died = (SELECT seq - ? FROM spaces WHERE id = ?) WHERE memory_id = ? AND died IS NULL",
        (offset, space.id, raw(memory.id)),
    )


def dependent_rows(me: tuple[bytes, int], new: NewVersion) -> Iterator[Statement]:
    """Insert the dependent rows of a version: `me` is its memory's id and its number."""
    m = new.memory
    for tag in m.tags:
        yield Statement(f"INSERT INTO tags SELECT {_ROW}, ?, ?", (*me, fold(tag), tag))
    for path, position, type_, value in flatten(m.metadata):
        yield Statement(f"INSERT INTO metadata SELECT {_ROW}, ?, ?, ?, ?", (*me, path, position, type_, value))
    if new.passages is None:
        yield from _carry_over(me, new.previous)
    else:
        for indexed in new.passages:
            yield from _insert_passage(me, indexed)


def refold(row: int, new: NewVersion) -> Statement:
    """Compute the columns again that comparisons use: the hash of the text, and folded names."""
    names = ", ".join(f"{name}_folded = ?" for name in FOLDED)
    folded = (_folded(getattr(new.memory, name)) for name in FOLDED)
    return Statement(f"UPDATE versions SET content_hash = ?, {names} WHERE id = ?", (new.content_hash, *folded, row))


def _insert_passage(me: tuple[bytes, int], indexed: Indexed) -> Iterator[Statement]:
    p = indexed.passage
    yield Statement(
        f"INSERT INTO passages SELECT {_ROW}, ?, ?, ?, ?, ?", (*me, p.number, p.start, p.stop, ANALYZER, indexed.terms)
    )
    for generation, vector in indexed.vectors.items():
        yield Statement(
            f"INSERT INTO embeddings SELECT {_ROW}, ?, (SELECT id FROM generations WHERE hash = ?), ?",
            (*me, p.number, generation, vector),
        )


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
