"""Read the audit log of administration and deletions, newest first, page by page."""

from muisti.core.model.audited import AuditPage
from muisti.core.model.errors import InvalidInput
from muisti.core.model.values import LIMIT_MAX
from muisti.core.store.database import Rows, Statement
from muisti.core.store.sql import operations


def page_of(limit: int, cursor: str | None) -> Statement:
    """Return the statement that reads a page and one entry more, which shows whether another page follows.

    Raises:
        InvalidInput: the limit is out of range or the cursor is not one of ours.
    """
    if not 1 <= limit <= LIMIT_MAX:
        raise InvalidInput.at("$.limit", f"{limit} is not between 1 and {LIMIT_MAX}")
    if cursor is not None and not (cursor.isascii() and cursor.isdigit() and len(cursor) <= 18):
        raise InvalidInput.at("$.cursor", f"{cursor[:80]!r} is no cursor; take next_cursor of the page before")
    return operations.newest_audited(limit + 1, None if cursor is None else int(cursor))


def page(rows: Rows, limit: int) -> AuditPage:
    """Return the entries read by `page_of`, and the cursor of the next page."""
    items = tuple(operations.audited(row) for row in rows[:limit])
    return AuditPage(items=items, next_cursor=str(items[-1].number) if len(rows) > limit else None)
