"""Counts over a space: categories, tags, sizes."""

from collections.abc import Mapping
from typing import cast

from core.store.database import Rows, Statement
from core.store.memories import CURRENT, UNEXPIRED
from core.store.spaces import SpaceRow
from core.times import DAY_US, from_us
from core.values import IMPORTANCE, Count, Counts, Stats

_HERE = f"v.space_id = ? AND {CURRENT} AND {UNEXPIRED}"


def categories(space: SpaceRow, now: int) -> Statement:
    return Statement(
        f"SELECT min(v.category), count(*) FROM versions v WHERE {_HERE} AND v.status = 'active' "
        "AND v.category IS NOT NULL GROUP BY v.category_folded ORDER BY count(*) DESC, v.category_folded",
        (space.id, now),
    )


def tags(space: SpaceRow, now: int) -> Statement:
    return Statement(
        f"SELECT min(t.spelling), count(*) FROM versions v JOIN tags t ON t.version_id = v.id "
        f"WHERE {_HERE} AND v.status = 'active' GROUP BY t.tag ORDER BY count(*) DESC, t.tag",
        (space.id, now),
    )


def counts(space: SpaceRow, rows: Rows) -> Counts:
    items = tuple(Count(name=cast(str, name), count=cast(int, number)) for name, number in rows)
    return Counts(items=items, seq=space.seq)


def sizes(space: SpaceRow, now: int) -> list[Statement]:
    """What `stats` reads, in its order."""
    return [
        Statement(
            f"SELECT count(*), coalesce(sum(v.tokens), 0), coalesce(sum(length(CAST(v.content AS BLOB))), 0) "
            f"FROM versions v WHERE {_HERE}",
            (space.id, now),
        ),
        Statement("SELECT count(*) FROM versions WHERE space_id = ?", (space.id,)),
        Statement(
            f"SELECT count(*) FROM versions v JOIN passages p ON p.version_id = v.id WHERE {_HERE}", (space.id, now)
        ),
        Statement(
            f"SELECT count(*) FROM versions v WHERE v.space_id = ? AND {CURRENT} AND v.expires_at <= ?", (space.id, now)
        ),
        Statement(
            "SELECT count(*), coalesce(sum(committed_at > ?), 0), max(committed_at) FROM changes WHERE space_id = ?",
            (now - DAY_US, space.id),
        ),
        Statement(
            "SELECT v.kind, v.type, v.status, v.importance, count(*) FROM versions v "
            f"WHERE {_HERE} GROUP BY 1, 2, 3, 4",
            (space.id, now),
        ),
    ]


def stats(space: SpaceRow, results: list[Rows]) -> Stats:
    living, versions, passages, expired, changes, groups = results
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
        last_change_at=None if last is None else from_us(last),
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
