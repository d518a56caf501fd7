"""The SQL that stores some versions of a bulk replace differently from their sources.

These versions go into a temporary space inside the transaction, with ids that no memory has, and are copied from there.
"""

from collections.abc import Iterator, Sequence

from msgspec import structs

from muisti.core.store.database import Refusal, Statement, refuse
from muisti.core.store.sql.inserting import NewVersion, insert
from muisti.core.store.sql.spaces import STAGING, SpaceRow
from muisti.core.store.sql.version_rows import raw

HIDDEN = -1  # row id of the temporary space; SQLite counts up from 1
MARK = b"arrivals"  # suffix of an id, which keeps it apart from the id of the memory
TOP = 1 << 53


def planned() -> Statement:
    """Select (row of the version that a memory is to become, row of its current version or null), by memory."""
    return Statement(
        "SELECT t.source, v.id FROM turns t LEFT JOIN versions v ON v.memory_id = t.memory_id AND v.died IS NULL "
        "AND v.status <> 'superseded' WHERE t.source IS NOT NULL ORDER BY t.number"
    )


def refuse_others(rows: Sequence[tuple[int, int | None]]) -> Statement:
    """Refuse with `stale` when the plan copies other versions than these."""
    return Statement(
        f"{refuse(Refusal.STALE)} WHERE (SELECT count(*) FROM turns WHERE source IS NOT NULL) <> ? "
        "OR (SELECT coalesce(sum(source), 0) FROM turns) <> ?",
        (len(rows), sum(source for source, _ in rows)),
    )


def begin(space: SpaceRow) -> list[Statement]:
    """Create the temporary space, which the batch deletes again."""
    return [
        Statement(
            "INSERT INTO spaces (id, name, epoch, seq, created_at, committed_at, settings) "
            "SELECT ?, ?, lower(hex(randomblob(16))), ?, 0, 0, settings FROM spaces WHERE id = ?",
            (HIDDEN, f"{STAGING}arrivals", TOP, space.id),
        )
    ]


def instead(space: SpaceRow, source: int, new: NewVersion, number: int) -> Iterator[Statement]:
    """Make the plan copy `new` in place of the version in row `source`; `number` counts the calls of a batch."""
    alias = raw(new.memory.id) + MARK
    yield from insert(structs.replace(space, id=HIDDEN), new, number, alias=alias)
    yield Statement(
        "UPDATE turns SET source = (SELECT id FROM versions WHERE memory_id = ? AND version = ?) WHERE source = ?",
        (alias, new.memory.version, source),
    )


def clear() -> list[Statement]:
    """Delete the temporary space with all its versions."""
    return [
        Statement("DELETE FROM versions WHERE space_id = ?", (HIDDEN,)),
        Statement("DELETE FROM spaces WHERE id = ?", (HIDDEN,)),
    ]
