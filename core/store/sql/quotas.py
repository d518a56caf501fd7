"""The SQL of quotas: the usage of a space, its limits, and refusals beyond them."""

from collections.abc import Mapping
from typing import cast

from muisti.core.model.ids import id_bytes
from muisti.core.model.outcomes import Quota, SpaceUse, Usage
from muisti.core.model.times import from_us
from muisti.core.model.values import Memory
from muisti.core.store.database import Refusal, Row, Scalar, Statement, refuse
from muisti.core.store.sql.spaces import SpaceRow

_HERE = "FROM spaces s LEFT JOIN quotas q ON q.space = s.name WHERE s.id = ?"
_EXCEEDED = refuse(Refusal.QUOTA_EXCEEDED)


def usage(space: SpaceRow, default: Quota) -> Statement:
    """Select the usage and the limits of a space."""
    return Statement(
        f"SELECT s.memories + s.objects, s.bytes, coalesce(q.memories, ?), coalesce(q.bytes, ?) {_HERE}",
        (*_both(default), space.id),
    )


def uses() -> Statement:
    """Select (epoch, memories, bytes, time of the last change) of each space, from counters and one look-up."""
    return Statement(
        "SELECT s.epoch, s.memories, s.bytes, "
        "(SELECT c.committed_at FROM changes c WHERE c.space_id = s.id ORDER BY c.seq DESC LIMIT 1) FROM spaces s"
    )


def use(row: Row) -> tuple[str, SpaceUse]:
    """Read a row of `uses`: the epoch of a space and its use."""
    epoch, memories, size, at = cast(tuple[str, int, int, int | None], row)
    return epoch, SpaceUse(memories=memories, bytes=size, last_change_at=None if at is None else from_us(at))


def used(row: Row) -> Usage:
    """Read a row of `usage`."""
    memories, size, memories_max, bytes_max = cast(tuple[int, int, int | None, int | None], row)
    return Usage(memories=memories, bytes=size, quota=Quota(memories=memories_max, bytes=bytes_max))


def refuse_more(space: SpaceRow, default: Quota) -> Statement:
    """Refuse when the space exceeds its limits. Put it after the statements that add memories."""
    return Statement(
        f"{_EXCEEDED} {_HERE} AND (s.memories + s.objects > coalesce(q.memories, ?) OR s.bytes > coalesce(q.bytes, ?))",
        (space.id, default.memories, default.bytes),
    )


def refuse_more_in_bulk(space: SpaceRow, default: Quota) -> Statement:
    """Refuse as `refuse_more` does when the plan of a bulk replace stores a version, and does not only end some."""
    sql, args = refuse_more(space, default)
    return Statement(f"{sql} AND EXISTS (SELECT 1 FROM turns WHERE source IS NOT NULL)", args)


def refuse_more_in(name: str, default: Quota) -> Statement:
    """Refuse when the space of this name, made in the same batch, exceeds its limits."""
    return Statement(
        f"{_EXCEEDED} FROM spaces s LEFT JOIN quotas q ON q.space = s.name "
        "WHERE s.name = ? AND (s.memories + s.objects > coalesce(q.memories, ?) OR s.bytes > coalesce(q.bytes, ?))",
        (name, *_both(default)),
    )


def refuse_kept(space: SpaceRow, default: Quota) -> Statement:
    """Refuse when the space with what its working memories keep exceeds its limit of bytes."""
    kept = "SELECT coalesce(sum(length(CAST(w.key || coalesce(w.content, '') AS BLOB))), 0) FROM working w"
    return Statement(
        f"{_EXCEEDED} {_HERE} AND coalesce(q.bytes, ?) IS NOT NULL "
        f"AND s.bytes + ({kept} WHERE w.space_id = s.id) > coalesce(q.bytes, ?)",
        (space.id, default.bytes, default.bytes),
    )


def refuse_sum(space: SpaceRow, more: SpaceRow, default: Quota) -> Statement:
    """Refuse when a space together with the content of `more` would exceed its limits."""
    return Statement(
        f"{_EXCEEDED} FROM spaces s JOIN spaces m ON m.id = ? "
        "LEFT JOIN quotas q ON q.space = s.name WHERE s.id = ? "
        "AND (s.memories + s.objects + m.memories + m.objects > coalesce(q.memories, ?) "
        "OR s.bytes + m.bytes > coalesce(q.bytes, ?))",
        (more.id, space.id, *_both(default)),
    )


def refuse_larger(space: SpaceRow, default: Quota, new: Memory) -> Statement:
    """Refuse when the space exceeds its limit of bytes and this version is larger than the one before it."""
    return Statement(
        f"{_EXCEEDED} {_HERE} AND s.bytes > coalesce(q.bytes, ?) AND EXISTS "
        "(SELECT 1 FROM versions n JOIN versions b ON b.memory_id = n.memory_id AND b.version = n.version - 1 "
        "WHERE n.memory_id = ? AND n.version = ? AND n.bytes > b.bytes)",
        (space.id, default.bytes, id_bytes(new.id), new.version),
    )


def grant(space: str, changes: Mapping[str, int | None]) -> list[Statement]:
    """Set the limit of `memories`, of `bytes` or of both; None is the default."""
    made = [Statement("INSERT INTO quotas (space) VALUES (?) ON CONFLICT DO NOTHING", (space,))]
    for name in sorted(changes.keys() & {"memories", "bytes"}):
        made.append(Statement(f"UPDATE quotas SET {name} = ? WHERE space = ?", (changes[name], space)))
    return made


def _both(quota: Quota) -> tuple[Scalar, Scalar]:
    return quota.memories, quota.bytes
