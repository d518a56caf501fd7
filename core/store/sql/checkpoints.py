"""The SQL of checkpoints, and of what changed between two points of a space's history."""

from collections.abc import Sequence
from typing import cast

from muisti.core.model.comparisons import Checkpoint
from muisti.core.model.times import from_us
from muisti.core.query.points import Point
from muisti.core.store.database import Row, Statement
from muisti.core.store.sql.points import lived
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import COLUMNS

# The oldest change of a space `s` that somebody still goes back to; null when nobody does. Retention stops there.
PINNED = (
    "(SELECT min(seq) FROM (SELECT seq FROM checkpoints WHERE space_id = s.id "
    "UNION ALL SELECT seq FROM forks WHERE space_id = s.id))"
)


def checkpoint(row: Row) -> Checkpoint:
    """A row of `named` or `all_of`."""
    name, seq, created_at, actor, note = cast(tuple[str, int, int, str, str | None], row)
    return Checkpoint(name=name, seq=seq, created_at=from_us(created_at), actor=actor, note=note)


def insert(space: SpaceRow, name: str, now: int, actor: str, note: str | None) -> Statement:
    """Name the point where the space stands; nothing happens when the name is taken."""
    return Statement(
        "INSERT INTO checkpoints SELECT id, ?, seq, ?, ?, ? FROM spaces WHERE id = ? "
        "ON CONFLICT (space_id, name) DO NOTHING",
        (name, now, actor, note, space.id),
    )


def named(space: SpaceRow, name: str) -> Statement:
    return Statement(
        "SELECT name, seq, created_at, actor, note FROM checkpoints WHERE space_id = ? AND name = ?", (space.id, name)
    )


def all_of(space: SpaceRow) -> Statement:
    """Newest first."""
    return Statement(
        "SELECT name, seq, created_at, actor, note FROM checkpoints WHERE space_id = ? ORDER BY seq DESC, name",
        (space.id,),
    )


def delete(space: SpaceRow, name: str) -> Statement:
    return Statement("DELETE FROM checkpoints WHERE space_id = ? AND name = ?", (space.id, name))


def touched(space: SpaceRow, after: int, upto: int, beyond: bytes, limit: int) -> Statement:
    """The ids of memories of which a version came or ended between two changes, in order, from `beyond` on."""
    return Statement(
        """SELECT memory_id FROM (
            SELECT memory_id FROM versions WHERE space_id = ? AND born > ? AND born <= ?
            UNION SELECT memory_id FROM versions WHERE space_id = ? AND died > ? AND died <= ?
        ) WHERE memory_id > ? ORDER BY memory_id LIMIT ?""",
        (space.id, after, upto, space.id, after, upto, beyond, limit),
    )


def touched_count(space: SpaceRow, after: int) -> Statement:
    """How many memories were touched after a change, and how many versions made."""
    return Statement(
        "SELECT count(*) FROM (SELECT memory_id FROM versions WHERE space_id = ? AND born > ? "
        "UNION SELECT memory_id FROM versions WHERE space_id = ? AND died > ?)",
        (space.id, after) * 2,
    )


def stood(space: SpaceRow, ids: Sequence[bytes], point: Point) -> Statement:
    """What stood of given memories at a point, in no order."""
    then, args = lived(point)
    marks = ",".join("?" * len(ids))
    return Statement(
        f"SELECT {COLUMNS} FROM versions v WHERE v.memory_id IN ({marks}) AND +v.space_id = ? AND {then}",
        (*ids, space.id, *args),
    )
