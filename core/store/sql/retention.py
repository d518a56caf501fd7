"""The SQL of retention: from which point on a space can be shown, what can be erased before it, and what is too old."""

from muisti.core.model.times import DAY_US
from muisti.core.store.database import Statement
from muisti.core.store.sql.spaces import SpaceRow

_KEPT = "(SELECT kept_from FROM spaces WHERE id = ?)"
_OLD_VERSIONS = f"FROM versions WHERE space_id = ? AND died <= {_KEPT}"
_OLD_CHANGES = f"FROM changes WHERE space_id = ? AND seq < {_KEPT}"


def edge(space: SpaceRow, before: int) -> Statement:
    """The last change up to a time."""
    return Statement(
        "SELECT seq FROM changes WHERE space_id = ? AND committed_at <= ? ORDER BY committed_at DESC, seq DESC LIMIT 1",
        (space.id, before),
    )


def pinned(space: SpaceRow) -> Statement:
    """The oldest point that a checkpoint keeps, or a fork that is to be merged."""
    return Statement(
        "SELECT min(seq) FROM (SELECT seq FROM checkpoints WHERE space_id = ? "
        "UNION ALL SELECT seq FROM forks WHERE space_id = ?)",
        (space.id, space.id),
    )


def move(space: SpaceRow, point: int) -> list[Statement]:
    """Keep no more than what stood at a point and came later.

    A segment that was packed before it knows nothing of deaths that may be erased now; then all are packed anew.
    """
    return [
        Statement("UPDATE spaces SET kept_from = ? WHERE id = ? AND kept_from < ?", (point, space.id, point)),
        Statement(
            "DELETE FROM segments WHERE space_id = ? "
            "AND EXISTS (SELECT 1 FROM segments WHERE space_id = ? AND seen < ?)",
            (space.id, space.id, point),
        ),
    ]


def erase(space: SpaceRow, most: int) -> list[Statement]:
    """Erase up to `most` versions, and as many changes; the last statement tells whether there are more.

    The change at which the space begins stays: it has the time of that point.
    """
    me = (space.id, space.id)
    return [
        Statement(f"DELETE FROM versions WHERE id IN (SELECT id {_OLD_VERSIONS} LIMIT ?)", (*me, most)),
        Statement(
            f"DELETE FROM changes WHERE space_id = ? AND seq IN (SELECT seq {_OLD_CHANGES} LIMIT ?)",
            (space.id, *me, most),
        ),
        Statement(f"SELECT EXISTS (SELECT 1 {_OLD_VERSIONS}) OR EXISTS (SELECT 1 {_OLD_CHANGES})", me * 2),
    ]


def due(now: int, days: float, least: int) -> Statement:
    """The names of the spaces that have something to forget.

    `days` is how long history is kept where a space says nothing, 0 for ever; `least` the shortest time, in
    microseconds, whatever it says.
    """
    return Statement(
        "SELECT s.name FROM (SELECT id, name, kept_from, coalesce(json_extract(policy, '$.history_days'), ?) AS days "
        "FROM spaces) s WHERE EXISTS (SELECT 1 FROM changes c WHERE c.space_id = s.id AND (c.seq < s.kept_from "
        f"OR (s.days > 0 AND c.committed_at <= ? - max(CAST(s.days * {DAY_US} AS INTEGER), ?) "
        "AND c.seq > s.kept_from))) "
        "OR EXISTS (SELECT 1 FROM versions v WHERE v.space_id = s.id AND v.died <= s.kept_from)",
        (days, now, least),
    )


def outdated(now: int) -> Statement:
    """The names of the spaces with memories that are older than their policy lets them grow."""
    return Statement(
        "SELECT s.name FROM (SELECT id, name, json_extract(policy, '$.purge_after_days') AS days FROM spaces) s "
        "WHERE s.days IS NOT NULL AND EXISTS (SELECT 1 FROM versions v WHERE v.space_id = s.id "
        f"AND v.created_at < ? - CAST(s.days * {DAY_US} AS INTEGER))",
        (now,),
    )


def expired(now: int) -> Statement:
    """The names of the spaces with memories that have expired and are not ended yet."""
    return Statement(
        "SELECT s.name FROM spaces s WHERE EXISTS (SELECT 1 FROM versions v WHERE v.space_id = s.id "
        "AND v.died IS NULL AND v.expires_at <= ? AND v.status <> 'superseded')",
        (now,),
    )
