"""Lists, newest first, page by page."""

import base64
import binascii

from core.errors import InvalidInput
from core.filter_sql import where
from core.filters import Filter, fields_of
from core.ids import id_bytes
from core.points import Point
from core.store import memories, version_rows
from core.store.database import Rows, Statement
from core.store.spaces import SpaceRow
from core.times import to_us
from core.values import LIMIT_MAX, Memory, Page


def page_of(space: SpaceRow, filter: Filter | None, limit: int, cursor: str | None, point: Point) -> Statement:
    """Up to one memory more than `limit`, as they stood at a point, to see whether another page follows.

    Raises:
        InvalidInput: the limit is out of range or the cursor is not one of ours.
    """
    if not 1 <= limit <= LIMIT_MAX:
        raise InvalidInput.at("$.limit", f"{limit} is not between 1 and {LIMIT_MAX}")
    condition, args = ("1", ()) if filter is None else where(filter)
    if filter is None or "status" not in fields_of(filter):
        condition = f"v.status = 'active' AND ({condition})"  # what is superseded is to be asked for, too
    after = None if cursor is None else _position(cursor)
    return memories.newest(space, condition, args, point, limit + 1, after)


def page(space: SpaceRow, rows: Rows, limit: int) -> Page:
    """The memories read by `page_of`, and the cursor of the next page."""
    items = tuple(version_rows.memory(row, space.space.name) for row in rows[:limit])
    return Page(items=items, next_cursor=_cursor(items[-1]) if len(rows) > limit else None, seq=space.seq)


def _cursor(memory: Memory) -> str:
    raw = id_bytes(memory.id)
    assert raw is not None
    return base64.urlsafe_b64encode(to_us(memory.created_at).to_bytes(8, "big", signed=True) + raw).decode()


def _position(cursor: str) -> tuple[int, bytes]:
    try:
        raw = base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raw = b""
    if len(raw) != 24:
        raise InvalidInput.at("$.cursor", f"{cursor[:80]!r} is no cursor; take next_cursor of the page before")
    return int.from_bytes(raw[:8], "big", signed=True), raw[8:]
