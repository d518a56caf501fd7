"""The SQL of the audit log."""

from typing import cast

from muisti.core.model.operations import Action, Audited
from muisti.core.model.times import from_us
from muisti.core.store.database import Row, Statement


def note(now: int, actor: str, action: Action, *, space: str | None = None, target: str | None = None) -> Statement:
    """Add an entry; it belongs into the batch that does what the entry records."""
    return Statement(
        "INSERT INTO audit (at, actor, action, space, target) VALUES (?, ?, ?, ?, ?)",
        (now, actor, action, space, target),
    )


def newest(limit: int, before: int | None) -> Statement:
    """Select up to `limit` entries, newest first; `before` is the last number of the page before."""
    where, args = ("WHERE id < ? ", (before,)) if before is not None else ("", ())
    return Statement(
        f"SELECT id, at, actor, action, space, target FROM audit {where}ORDER BY id DESC LIMIT ?", (*args, limit)
    )


def audited(row: Row) -> Audited:
    """Return the entry in a row of `newest`."""
    number, at, actor, action, space, target = cast(tuple[int, int, str, Action, str | None, str | None], row)
    return Audited(number=number, at=from_us(at), actor=actor, action=action, space=space, target=target)
