"""The SQL of retention: the start of the kept history of a space, and the erasure of what is older."""

from muisti.core.model.times import DAY_US
from muisti.core.store.database import Statement
from muisti.core.store.sql.spaces import SpaceRow

_KEPT = "(SELECT kept_from FROM spaces WHERE id = ?)"
_OLD_VERSIONS = f"FROM versions WHERE space_id = ? AND died <= {_KEPT}"
_OLD_CHANGES = f"FROM changes WHERE space_id = ? AND seq < {_KEPT}"


def history_edge(space: SpaceRow, before: int) -> Statement:
    """Select the last change up to a time."""
    return Statement(
        "SELECT seq FROM changes WHERE space_id = ? AND committed_at <= ? ORDER BY committed_at DESC, seq DESC LIMIT 1",
        (space.id, before),
    )


def pinned_history(space: SpaceRow) -> Statement:
    """Select the oldest point that a checkpoint or an unmerged fork keeps."""
    return Statement(
        "SELECT min(seq) FROM (SELECT seq FROM checkpoints WHERE space_id = ? "
        "UNION ALL SELECT seq FROM forks WHERE space_id = ?)",
        (space.id, space.id),
    )


def move_edge(space: SpaceRow, point: int) -> list[Statement]:
    """Let the kept history of a space begin at a point.

    A segment that was packed before that point lacks ends of versions that may be erased now. Where there is one, all
    segments are deleted, and packed again later.
    """
    return [
        Statement("UPDATE spaces SET kept_from = ? WHERE id = ? AND kept_from < ?", (point, space.id, point)),
        Statement(
            "DELETE FROM segments WHERE space_id = ? "
            "AND EXISTS (SELECT 1 FROM segments WHERE space_id = ? AND seen < ?)",
            (space.id, space.id, point),
        ),
    ]


def erase_history(space: SpaceRow, most: int) -> list[Statement]:
    """Erase up to `most` old versions, and as many changes; the last statement says whether more are left.

    The change at which the kept history begins stays, since it has the time of that point.
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
    """Select the names of the spaces with history to erase.

    `days` is the default for spaces without a policy, 0 for ever. `least` is the shortest time in microseconds,
    whatever a policy says.
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
    """Select the names of the spaces with memories older than their policy allows."""
    return Statement(
        "SELECT s.name FROM (SELECT id, name, json_extract(policy, '$.purge_after_days') AS days FROM spaces) s "
        "WHERE s.days IS NOT NULL AND EXISTS (SELECT 1 FROM versions v WHERE v.space_id = s.id "
        f"AND v.created_at < ? - CAST(s.days * {DAY_US} AS INTEGER))",
        (now,),
    )


def expired(now: int) -> Statement:
    """Select the names of the spaces with expired memories that have not ended yet."""
    return Statement(
        "SELECT s.name FROM spaces s WHERE EXISTS (SELECT 1 FROM versions v WHERE v.space_id = s.id "
        "AND v.died IS NULL AND v.expires_at <= ? AND v.status <> 'superseded')",
        (now,),
    )


def expired_entries(now: int) -> Statement:
    """Select a row when an entry has expired."""
    return Statement("SELECT 1 FROM working WHERE expires_at <= ? LIMIT 1", (now,))


def sweep_entries(now: int, most: int) -> Statement:
    """Delete up to `most` entries that have expired."""
    return Statement(
        "DELETE FROM working WHERE (conversation_id, key) IN "
        "(SELECT conversation_id, key FROM working WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)",
        (now, most),
    )
