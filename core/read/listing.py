"""Lists of memories, page by page, sorted by creation or by the last change; and memories as files of folders.

A cursor contains the position of the last memory of a page and the name of the order. It is valid in that order only.
"""

import base64
import binascii
from collections.abc import Sequence
from typing import cast

from muisti.core.identity.caller import Caller
from muisti.core.model.choices import SORTS, Sort
from muisti.core.model.errors import InvalidInput
from muisti.core.model.filed import Changed, FileOperation, FileVersion, Folder, Item
from muisti.core.model.ids import id_bytes, id_text
from muisti.core.model.times import from_us, to_us
from muisti.core.model.values import LIMIT_MAX, Memory, Page
from muisti.core.query.filters import Filter, fields_of
from muisti.core.query.points import Point
from muisti.core.read.reading import read
from muisti.core.store.database import Database, Rows, Scalar, Statement
from muisti.core.store.sql import filed, memories, version_rows
from muisti.core.store.sql.filters import where
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import PLAIN, said

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
    condition, args = condition_of(filter)
    after = None if cursor is None else _position(cursor)
    return memories.listed(space, condition, args, point, limit + 1, sort, after)


def last_turns(space: SpaceRow, filter: Filter | None, limit: int, point: Point) -> Statement:
    """Return the statement that reads memories by their turn as of a point, the last first, then those without one.

    Superseded turns are among them: they were said.
    """
    turns = f"(v.status = 'active' OR v.status = 'superseded' AND v.kind = 'exchange' AND {said('v', point)})"
    condition, args = condition_of(filter, turns)
    return memories.last_turns(space, condition, args, point, limit)


def page(space: SpaceRow, rows: Rows, limit: int, sort: Sort) -> Page:
    """Return the memories read by `page_of`, and the cursor of the next page."""
    items = tuple(version_rows.memory(row, space.space.name) for row in rows[:limit])
    return Page(items=items, next_cursor=_cursor(items[-1], sort) if len(rows) > limit else None, seq=space.seq)


def condition_of(filter: Filter | None, usual: str = "v.status = 'active'") -> tuple[str, Sequence[Scalar]]:
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


# Memories as files: pages of folders, and the versions of all files of a space


def items(database: Database, space: str, folder: Folder, caller: Caller, now: int) -> tuple[list[Item], bool]:
    """Return a page of a folder, and whether there are more."""
    found, (rows,) = read(database, space, lambda row: [filed.page(row, folder, caller.own_category, now)])
    page = [
        Item(
            cast(str, row[0]),
            cast(int, row[1]),
            None if row[2] is None else version_rows.memory(row[2:], found.space.name),
        )
        for row in rows[: folder.limit]
    ]
    return page, len(rows) > folder.limit


def versions(database: Database, space: str, asked: Changed, caller: Caller) -> tuple[Sequence[FileVersion], bool]:
    """Return a page of the changes of files, newest first, and whether there are more."""
    own, whole = caller.own_category, caller.sees_all
    found, (rows,) = read(database, space, lambda row: [filed.happened(row, asked, own, whole=whole)])
    page: list[FileVersion] = []
    for row in rows[: asked.limit]:
        seq, operation, memory_id, version, at, actor, redacted_at, redacted_by = row[:8]
        page.append(
            FileVersion(
                seq=cast(int, seq),
                operation=cast(FileOperation, operation),
                memory_id=id_text(cast(bytes, memory_id)),
                version=cast(int, version),
                at=from_us(cast(int, at)),
                actor=cast("str | None", actor),
                redacted_at=None if redacted_at is None else from_us(cast(int, redacted_at)),
                redacted_by=cast("str | None", redacted_by),
                memory=None if row[8] is None else version_rows.memory(row[8:], found.space.name),
            )
        )
    return page, len(rows) > asked.limit
