"""Counts of a space, now or at an earlier point: categories, tags, sizes."""

from collections.abc import Mapping, Sequence
from typing import cast

from muisti.core.model.outcomes import Count, Counts, Quota, Stats
from muisti.core.model.times import DAY_US, from_us
from muisti.core.model.values import IMPORTANCE
from muisti.core.query.points import Point
from muisti.core.store.database import Rows, Scalar, Statement
from muisti.core.store.sql import quotas
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import PLAIN, UNEXPIRED, lived
from muisti.core.text.terms import fold

EVERY = 2**63 - 1  # changes
DAYS = 30  # whose changes are counted by day


def categories(space: SpaceRow, point: Point, category: str | None = None) -> Statement:
    here, args = _here(space, point, category)
    return Statement(
        f"SELECT min(v.category), count(*) FROM versions v WHERE {here} AND v.status = 'active' "
        "AND v.category IS NOT NULL GROUP BY v.category_folded ORDER BY count(*) DESC, v.category_folded",
        args,
    )


def tags(space: SpaceRow, point: Point, category: str | None = None) -> Statement:
    here, args = _here(space, point, category)
    return Statement(
        f"SELECT min(t.spelling), count(*) FROM versions v JOIN tags t ON t.version_id = v.id "
        f"WHERE {here} AND v.status = 'active' GROUP BY t.tag ORDER BY count(*) DESC, t.tag",
        args,
    )


def counts(space: SpaceRow, rows: Rows) -> Counts:
    items = tuple(Count(name=cast(str, name), count=cast(int, number)) for name, number in rows)
    return Counts(items=items, seq=space.seq)


def sizes(space: SpaceRow, point: Point, default: Quota, category: str | None = None) -> list[Statement]:
    """Return the statements that `stats` reads, in its order."""
    here, args = _here(space, point, category)
    within, named = _within(category)
    then, numbers = lived(point)
    last = EVERY if point.number is None else point.number
    changed = "" if category is None else "JOIN versions v ON v.memory_id = c.memory_id AND v.version = c.version "
    return [
        Statement(
            f"SELECT count(*), coalesce(sum(v.tokens), 0), coalesce(sum(length(CAST(v.content AS BLOB))), 0) "
            f"FROM versions v WHERE {here}",
            args,
        ),
        Statement(
            f"SELECT count(*) FROM versions v WHERE v.space_id = ? AND v.born <= ?{within}", (space.id, last, *named)
        ),
        Statement(f"SELECT count(*) FROM versions v JOIN passages p ON p.version_id = v.id WHERE {here}", args),
        Statement(
            f"SELECT count(*) FROM versions v WHERE v.space_id = ? AND {then} AND v.status <> 'superseded' "
            f"AND {PLAIN} AND v.expires_at <= ?{within}",
            (space.id, *numbers, point.time, *named),
        ),
        Statement(
            "SELECT count(*), coalesce(sum(c.committed_at > ?), 0), max(c.committed_at) "
            f"FROM changes c {changed}WHERE c.space_id = ? AND c.seq <= ?{within}",
            (point.time - DAY_US, space.id, last, *named),
        ),
        Statement(
            f"SELECT v.kind, v.type, v.status, v.importance, count(*) FROM versions v WHERE {here} GROUP BY 1, 2, 3, 4",
            args,
        ),
        Statement(
            f"SELECT c.committed_at / {DAY_US} AS day, c.kind, count(*) FROM changes c {changed}"
            f"WHERE c.space_id = ? AND c.committed_at >= ? AND c.seq <= ?{within} GROUP BY 1, 2 ORDER BY 1, 2",
            (space.id, (point.time // DAY_US - DAYS + 1) * DAY_US, last, *named),
        ),
        quotas.usage(space, default),
    ]


def _here(space: SpaceRow, point: Point, category: str | None) -> tuple[str, tuple[Scalar, ...]]:
    """Return a condition for memories that were current at a point, optionally of one category.

    Objects of conversations are left out.
    """
    within, named = _within(category)
    then, numbers = lived(point)
    where = f"v.space_id = ? AND {then} AND v.status <> 'superseded' AND {PLAIN} AND {UNEXPIRED}{within}"
    return where, (space.id, *numbers, point.time, *named)


def _within(category: str | None) -> tuple[str, tuple[Scalar, ...]]:
    return ("", ()) if category is None else (" AND v.category_folded = ?", (fold(category),))


def stats(space: SpaceRow, results: Sequence[Rows], *, whole: bool) -> Stats:
    """Return the statistics from the results of `sizes`. `whole`: the caller sees the whole space, and so its quota."""
    living, versions, passages, expired, changes, groups, days, usage = results
    last = cast(int | None, changes[0][2])
    return Stats(
        memories=cast(int, living[0][0]),
        tokens=cast(int, living[0][1]),
        content_bytes=cast(int, living[0][2]),
        versions=cast(int, versions[0][0]),
        passages=cast(int, passages[0][0]),
        expired=cast(int, expired[0][0]),
        changes=cast(int, changes[0][0]),
        changes_last_day=cast(int, changes[0][1]),
        by=_by(groups),
        by_day=_by_day(days),
        last_change_at=None if last is None else from_us(last),
        usage=quotas.used(usage[0]) if whole else None,
        seq=space.seq,
    )


def _by(groups: Rows) -> Mapping[str, Mapping[str, int]]:
    by: dict[str, dict[str, int]] = {"kind": {}, "type": {}, "status": {}, "importance": {}}
    for kind, type_, status, importance, number in groups:
        level = IMPORTANCE[cast(int, importance)]
        for name, value in (("kind", kind), ("type", type_), ("status", status), ("importance", level)):
            counted = by[name]
            counted[str(value)] = counted.get(str(value), 0) + cast(int, number)
    return by


def _by_day(days: Rows) -> Mapping[str, Mapping[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for day, kind, number in days:
        date = from_us(cast(int, day) * DAY_US).date().isoformat()
        found.setdefault(date, {})[str(kind)] = cast(int, number)
    return found
