"""The SQL of redacting one version of a memory."""

import json
from collections.abc import Sequence

from muisti.core.identity.caller import Caller
from muisti.core.store.database import Statement
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.table import Table
from muisti.core.store.sql.tables import TABLES


def version(space: SpaceRow, memory_id: bytes, number: int) -> Statement:
    """Select the row id of a version, the changes at which it begins and ends, and its category."""
    return Statement(
        "SELECT id, born, died, category FROM versions WHERE memory_id = ? AND version = ? AND space_id = ?",
        (memory_id, number, space.id),
    )


def derived(space: SpaceRow, memory_id: bytes, name: str, life: tuple[int, int]) -> Statement:
    """Select the ids of what was derived from a memory during the life of one of its versions."""
    return Statement(
        "SELECT DISTINCT d.memory_id FROM versions d, json_each(d.derived_from) s WHERE d.space_id = ? "
        "AND d.derived_from <> '[]' AND d.memory_id <> ? AND s.value = ? AND d.born >= ? AND d.born < ? "
        "AND d.kind IN ('memory', 'summary', 'entity', 'relation')",
        (space.id, memory_id, name, *life),
    )


def detach(row: int, twin: bytes) -> Statement:
    """Make the ended version in a row a memory of its own, with the id `twin`."""
    return Statement("UPDATE versions SET memory_id = ?, version = 1 WHERE id = ? AND died IS NOT NULL", (twin, row))


def record(space: SpaceRow, memory_id: bytes, number: int, caller: Caller) -> Statement:
    """Add the change that redacts a version, as the last but one of the space."""
    return Statement(
        "INSERT INTO changes (space_id, seq, kind, memory_id, version, committed_at, actor, request) "
        "SELECT id, seq - 1, 'redacted', ?, ?, committed_at, ?, ? FROM spaces WHERE id = ?",
        (memory_id, number, caller.actor, caller.request, space.id),
    )


def redacted(space: SpaceRow, later: Sequence[tuple[bytes, int]]) -> Statement:
    """Select a row when the version before one of these (memory id, version) was redacted."""
    asked = json.dumps([[memory_id.hex(), version] for memory_id, version in later])
    return Statement(
        "WITH asked AS MATERIALIZED (SELECT unhex(value ->> 0) AS memory_id, (value ->> 1) - 1 AS version "
        "FROM json_each(?)) SELECT 1 FROM changes c JOIN asked a ON a.memory_id = c.memory_id "
        "AND a.version = c.version WHERE c.space_id = ? AND c.kind = 'redacted' LIMIT 1",
        (asked, space.id),
    )


def texts(row: int, tables: Sequence[Table] = TABLES) -> list[Statement]:
    """Select the texts and bytes of a version that must not remain in free space."""
    return [
        Statement(f"SELECT {', '.join(table.sought)} FROM {table.name} WHERE {table.version or 'id'} = ?", (row,))
        for table in tables
        if table.sought and (table.version or table.name == "versions")
    ]
