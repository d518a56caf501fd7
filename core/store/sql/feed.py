"""The SQL of the change feed: changes of a space in order, with the versions that each made and ended."""

from collections.abc import Sequence
from typing import NamedTuple, cast

from muisti.core.query.filters import Filter
from muisti.core.store.database import Row, Scalar, Statement
from muisti.core.store.sql.filters import where
from muisti.core.store.sql.spaces import SpaceRow


class FeedRow(NamedTuple):
    """A change with the row ids of the versions that it made (`born`) and ended (`died`), and the bytes of both."""

    seq: int
    kind: str
    memory_id: bytes | None
    version: int | None
    committed_at: int
    actor: str | None
    request: str | None
    born: int | None
    died: int | None
    bytes: int


def feed_row(row: Row) -> FeedRow:
    """Read a row of `after`."""
    return FeedRow(*cast(tuple[int, str, bytes, int, int, str, str, int, int, int], row))


def after(
    space: SpaceRow, since: int, until: int, kinds: Sequence[str], filter: Filter | None, limit: int
) -> Statement:
    """Select changes after `since` up to `until`, oldest first, of these kinds (none: all).

    With a filter, select only changes of memories that pass it before or after the change.
    """
    tests, args = ["c.space_id = ? AND c.seq > ? AND c.seq <= ?"], [space.id, since, until]
    values: list[Scalar] = [*args]
    if kinds:
        tests.append(f"c.kind IN ({','.join('?' * len(kinds))})")
        values += kinds
    if filter is not None:
        condition, operands = where(filter)
        tests.append(f"EXISTS (SELECT 1 FROM versions v WHERE v.id IN (b.id, d.id) AND {condition})")
        values += operands
    return Statement(
        "SELECT c.seq, c.kind, c.memory_id, c.version, c.committed_at, c.actor, c.request, b.id, d.id, "
        "coalesce(b.bytes, 0) + coalesce(d.bytes, 0) FROM changes c "
        "LEFT JOIN versions b ON b.space_id = c.space_id AND b.born = c.seq "
        "LEFT JOIN versions d ON d.space_id = c.space_id AND d.died = c.seq AND d.memory_id = c.memory_id "
        f"WHERE {' AND '.join(tests)} ORDER BY c.seq LIMIT ?",
        (*values, limit),
    )


def standing(names: Sequence[str]) -> Statement:
    """Select name, epoch and seq of spaces."""
    marks = ",".join("?" * len(names))
    return Statement(f"SELECT name, epoch, seq FROM spaces WHERE name IN ({marks})", tuple(names))
