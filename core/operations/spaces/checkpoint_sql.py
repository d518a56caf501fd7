"""The SQL of checkpoints, and of the changes between two points of a space's history."""

from collections.abc import Sequence
from typing import cast

from muisti.core.model.outcomes import Checkpoint
from muisti.core.model.times import from_us
from muisti.core.query.points import Point
from muisti.core.store.database import Row, Statement, slots
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import COLUMNS, lived


def checkpoint(row: Row) -> Checkpoint:
    """Read a row of `checkpoint_named` or `all_checkpoints`."""
    name, seq, created_at, actor, note = cast(tuple[str, int, int, str, str | None], row)
    return Checkpoint(name=name, seq=seq, created_at=from_us(created_at), actor=actor, note=note)


def insert_checkpoint(space: SpaceRow, name: str, now: int, actor: str, note: str | None) -> Statement:
    """Name the current point of a space; nothing happens when the name is taken."""
    return Statement(
        "INSERT INTO checkpoints SELECT id, ?, seq, ?, ?, ? FROM spaces WHERE id = ? "
        "ON CONFLICT (space_id, name) DO NOTHING",
        (name, now, actor, note, space.id),
    )


def checkpoint_named(space: SpaceRow, name: str) -> Statement:
    return Statement(
        "SELECT name, seq, created_at, actor, note FROM checkpoints WHERE space_id = ? AND name = ?", (space.id, name)
    )


def all_checkpoints(space: SpaceRow) -> Statement:
    """Select all checkpoints of a space, newest first."""
    return Statement(
        "SELECT name, seq, created_at, actor, note FROM checkpoints WHERE space_id = ? ORDER BY seq DESC, name",
        (space.id,),
    )


def delete_checkpoint(space: SpaceRow, name: str) -> Statement:
    return Statement("DELETE FROM checkpoints WHERE space_id = ? AND name = ?", (space.id, name))


def touched(space: SpaceRow, after: int, upto: int, beyond: bytes, limit: int, category: str | None) -> Statement:
    """Select the ids after `beyond` of memories with a version that began or ended between two changes, in order.

    With `category`, a folded one, only versions of that category count.
    """
    own, args = ("", ()) if category is None else (" AND category_folded = ?", (category,))
    return Statement(
        f"""SELECT memory_id FROM (
            SELECT memory_id FROM versions WHERE space_id = ? AND born > ? AND born <= ?{own}
            UNION SELECT memory_id FROM versions WHERE space_id = ? AND died > ? AND died <= ?{own}
        ) WHERE memory_id > ? ORDER BY memory_id LIMIT ?""",
        (*(space.id, after, upto, *args) * 2, beyond, limit),
    )


def touched_count(space: SpaceRow, after: int) -> Statement:
    """Count the memories that changed after a change."""
    return Statement(
        "SELECT count(*) FROM (SELECT memory_id FROM versions WHERE space_id = ? AND born > ? "
        "UNION SELECT memory_id FROM versions WHERE space_id = ? AND died > ?)",
        (space.id, after) * 2,
    )


def memories_at(space: SpaceRow, ids: Sequence[bytes], point: Point) -> Statement:
    """Select the versions of given memories that were valid at a point, in no order."""
    then, args = lived(point)
    return Statement(
        f"SELECT {COLUMNS} FROM versions v WHERE v.memory_id IN {slots(ids)} AND +v.space_id = ? AND {then}",
        (*ids, space.id, *args),
    )
