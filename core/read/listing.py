"""List memories page by page, sorted by creation or by the last change.

A cursor contains the position of the last memory of a page and the name of the order. It is valid in that order only.
"""

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import cast

from muisti.core.model.choices import SORTS, Sort
from muisti.core.model.errors import InvalidInput
from muisti.core.model.ids import id_bytes
from muisti.core.model.outcomes import Count, Counts, Quota, Stats
from muisti.core.model.times import DAY_US, from_us, to_us
from muisti.core.model.values import IMPORTANCE, LIMIT_MAX, Memory, Page
from muisti.core.query.filters import Filter, fields_of
from muisti.core.query.points import Point
from muisti.core.store.database import Rows, Scalar, Statement
from muisti.core.store.sql import memories, quotas, version_rows
from muisti.core.store.sql.filters import where
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import PLAIN, UNEXPIRED, lived, said
from muisti.core.text.terms import fold

# Counts of a space, now or at an earlier point: categories, tags, sizes

EVERY = 2**63 - 1  # changes


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
    living, versions, passages, expired, changes, groups, usage = results
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


NEWEST: Sort = "-created_at"
_NAMES: dict[Sort, str] = {"-created_at": "", "created_at": "c", "-updated_at": "-u", "updated_at": "u"}  # in cursors
_ORDERS: dict[str, Sort] = {name: sort for sort, name in _NAMES.items()}
_PLACE = 32  # characters of a cursor after the name of its order


def order_of(sort: str | None, cursor: str | None) -> Sort:
    """Return the order of a list: the requested one, else that of its cursor, else newest first.

    >>> order_of("updated_at", None), order_of(None, None), order_of(None, "-u" + 32 * "A")
    ('updated_at', '-created_at', '-updated_at')

    Raises:
        InvalidInput: there is no such order, or the cursor belongs to another.
    """
    if sort is not None and sort not in SORTS:
        raise InvalidInput.at("$.sort", f"{sort[:40]!r} is none of {', '.join(SORTS)}")
    if cursor is None:
        return NEWEST if sort is None else sort
    own = _ORDERS.get(cursor[:-_PLACE])
    if own is None:
        raise _no_cursor(cursor)
    if sort is not None and sort != own:
        raise InvalidInput.at("$.cursor", f"belongs to a list sorted by {own}, not by {sort}")
    return own


def page_of(
    space: SpaceRow, filter: Filter | None, limit: int, sort: Sort, cursor: str | None, point: Point
) -> Statement:
    """Return the statement that reads a page as of a point, and one memory more if another page follows.

    Raises:
        InvalidInput: the limit is out of range or the cursor is not one of ours.
    """
    if not 1 <= limit <= LIMIT_MAX:
        raise InvalidInput.at("$.limit", f"{limit} is not between 1 and {LIMIT_MAX}")
    condition, args = _condition(filter)
    after = None if cursor is None else _position(cursor)
    return memories.listed(space, condition, args, point, limit + 1, sort, after)


def last_turns(space: SpaceRow, filter: Filter | None, limit: int, point: Point) -> Statement:
    """Return the statement that reads memories by their turn as of a point, the last first, then those without one.

    Superseded turns are among them: they were said.
    """
    turns = f"(v.status = 'active' OR v.status = 'superseded' AND v.kind = 'exchange' AND {said('v', point)})"
    condition, args = _condition(filter, turns)
    return memories.last_turns(space, condition, args, point, limit)


def page(space: SpaceRow, rows: Rows, limit: int, sort: Sort) -> Page:
    """Return the memories read by `page_of`, and the cursor of the next page."""
    items = tuple(version_rows.memory(row, space.space.name) for row in rows[:limit])
    return Page(items=items, next_cursor=_cursor(items[-1], sort) if len(rows) > limit else None, seq=space.seq)


def _condition(filter: Filter | None, usual: str = "v.status = 'active'") -> tuple[str, Sequence[Scalar]]:
    """Return the condition of a list. Objects are in it only when the filter asks for them.

    `usual` is the condition on the status unless the filter has one.
    """
    condition, args = ("1", ()) if filter is None else where(filter)
    named = frozenset[str]() if filter is None else fields_of(filter)
    if "kind" not in named:
        condition = f"{PLAIN} AND ({condition})"
    if "status" not in named:
        condition = f"{usual} AND ({condition})"
    return condition, args


def _cursor(memory: Memory, sort: Sort) -> str:
    raw = id_bytes(memory.id)
    assert raw is not None
    at = memory.updated_at if sort.endswith("updated_at") else memory.created_at
    return _NAMES[sort] + base64.urlsafe_b64encode(to_us(at).to_bytes(8, "big", signed=True) + raw).decode()


def _position(cursor: str) -> tuple[int, bytes]:
    try:
        raw = base64.b64decode(cursor[-_PLACE:].encode("ascii"), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raw = b""
    if len(raw) != 24:
        raise _no_cursor(cursor)
    return int.from_bytes(raw[:8], "big", signed=True), raw[8:]


def _no_cursor(cursor: str) -> InvalidInput:
    return InvalidInput.at("$.cursor", f"{cursor[:80]!r} is no cursor; take next_cursor of the page before")
