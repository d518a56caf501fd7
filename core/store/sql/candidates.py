"""The SQL of candidates: those retrieved often enough to promote, and those never asked for."""

from muisti.core.model.values import IMPORTANCE
from muisti.core.store.database import Scalar, Statement
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import COLUMNS, PLAIN, UNEXPIRED
from muisti.core.text.terms import fold

_FROM = (
    "FROM versions v LEFT JOIN retrievals r ON r.space_id = v.space_id AND r.memory_id = v.memory_id "
    f"WHERE v.space_id = ? AND v.died IS NULL AND v.status = 'candidate' AND {UNEXPIRED}"
)


def proved(space: SpaceRow, category: str | None, now: int, retrievals: int, most: int) -> Statement:
    """Select candidates retrieved at least `retrievals` times, oldest first; `category` None for all."""
    return _chosen(space, category, now, "coalesce(r.count, 0) >= ?", (retrievals,), most)


def neglected(space: SpaceRow, category: str | None, now: int, retrievals: int, before: int, most: int) -> Statement:
    """Select candidates made before a time and retrieved less often, oldest first; no guards and nothing important."""
    where = "coalesce(r.count, 0) < ? AND v.created_at < ? AND v.type <> 'guard' AND v.importance < ?"
    return _chosen(space, category, now, where, (retrievals, before, IMPORTANCE.index("high")), most)


def by_status(space: SpaceRow, category: str | None) -> Statement:
    """Count (status, memories) of memories that are not deleted."""
    only, args = _only(category)
    return Statement(
        "SELECT v.status, count(*) FROM versions v "
        f"WHERE v.space_id = ? AND v.died IS NULL AND {PLAIN}{only} GROUP BY v.status",
        (space.id, *args),
    )


def spaces_with_some() -> Statement:
    """Select the names of the spaces that have candidates."""
    return Statement(
        "SELECT s.name FROM spaces s WHERE EXISTS (SELECT 1 FROM versions v "
        "WHERE v.space_id = s.id AND v.died IS NULL AND v.status = 'candidate') ORDER BY s.name"
    )


def _chosen(
    space: SpaceRow, category: str | None, now: int, where: str, args: tuple[Scalar, ...], most: int
) -> Statement:
    only, own = _only(category)
    return Statement(
        f"SELECT {COLUMNS} {_FROM} AND {where}{only} ORDER BY v.created_at, v.memory_id LIMIT ?",
        (space.id, now, *args, *own, most),
    )


def _only(category: str | None) -> tuple[str, tuple[Scalar, ...]]:
    return ("", ()) if category is None else (" AND v.category_folded = ?", (fold(category),))
