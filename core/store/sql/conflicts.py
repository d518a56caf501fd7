"""The SQL of conflicts that wait for a decision."""

from collections.abc import Sequence

from muisti.core.model.ids import id_bytes
from muisti.core.model.outcomes import Likeness
from muisti.core.model.values import Memory
from muisti.core.store.database import Refusal, Row, Scalar, Statement, refuse
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import COLUMNS, CURRENT, UNEXPIRED, WIDTH
from muisti.core.text.terms import fold

_STANDS = (
    "{0}.died IS NULL AND {0}.status NOT IN ('superseded', 'deprecated') "
    "AND ({0}.expires_at IS NULL OR {0}.expires_at > ?)"
)
# Both memories `e` and `n` still have the texts that were compared.
_OPEN = (
    "FROM conflicts c JOIN versions ec ON ec.id = c.existing_row JOIN versions nc ON nc.id = c.new_row "
    "JOIN versions e ON e.memory_id = ec.memory_id AND e.content_hash = ec.content_hash "
    f"AND {_STANDS.format('e')} "
    "JOIN versions n ON n.memory_id = nc.memory_id AND n.content_hash = nc.content_hash "
    f"AND {_STANDS.format('n')} WHERE c.space_id = ?"
)
_HEAD = "c.id, c.kind, c.similarity, c.opened_at, c.actor"
HEAD = 5  # columns before those of both memories


def parts(row: Row) -> tuple[Row, Row, Row]:
    """Split a row of `waiting` or `one`: (id, kind, similarity, opened at, actor), existing memory, new memory."""
    return row[:HEAD], row[HEAD : HEAD + WIDTH], row[HEAD + WIDTH :]


def open_pair(space: SpaceRow, found: Likeness, new: Memory, now: int, actor: str) -> Statement:
    """Add a conflict between a new version and a similar memory; nothing happens when that one has ended meanwhile."""
    return Statement(
        "INSERT INTO conflicts (space_id, existing_row, new_row, kind, similarity, opened_at, actor) "
        "SELECT e.space_id, e.id, n.id, ?, ?, ?, ? FROM versions e, versions n "
        "WHERE e.space_id = ? AND e.memory_id = ? AND e.died IS NULL AND n.memory_id = ? AND n.version = ? "
        "ON CONFLICT DO NOTHING",
        (found.kind, found.similarity, now, actor, space.id, id_bytes(found.id), id_bytes(new.id), new.version),
    )


def open_same(space: SpaceRow, new: Memory, now: int, actor: str) -> Statement:
    """Add a conflict between a new version and each current memory with the same text."""
    return Statement(
        "INSERT INTO conflicts (space_id, existing_row, new_row, kind, similarity, opened_at, actor) "
        "SELECT v.space_id, v.id, n.id, 'duplicate', 1.0, ?, ? FROM versions n JOIN versions v "
        "ON v.space_id = n.space_id AND v.content_hash = n.content_hash AND v.memory_id <> n.memory_id "
        "AND v.kind = n.kind AND v.conversation IS NULL AND v.document IS NULL "
        f"WHERE n.space_id = ? AND n.memory_id = ? AND n.version = ? AND {CURRENT} AND {UNEXPIRED} "
        "ON CONFLICT DO NOTHING",
        (now, actor, space.id, id_bytes(new.id), new.version, now),
    )


def waiting(space: SpaceRow, category: str | None, now: int, before: int | None, most: int) -> Statement:
    """Select open conflicts, newest first, with both memories in a category, or in any; `before` is an id."""
    where, args = _only(category)
    if before is not None:
        where, args = f"{where} AND c.id < ?", (*args, before)
    return Statement(
        f"SELECT {_HEAD}, {_columns('e')}, {_columns('n')} {_OPEN}{where} ORDER BY c.id DESC LIMIT ?",
        (now, now, space.id, *args, most),
    )


def one(space: SpaceRow, number: int, category: str | None, now: int) -> Statement:
    """Select one open conflict."""
    where, args = _only(category)
    return Statement(
        f"SELECT {_HEAD}, {_columns('e')}, {_columns('n')} {_OPEN}{where} AND c.id = ?",
        (now, now, space.id, *args, number),
    )


def close(space: SpaceRow, number: int) -> Sequence[Statement]:
    """Delete a conflict; refuse with `stale` when it does not exist."""
    known = (space.id, number)
    return [
        Statement(
            f"{refuse(Refusal.STALE)} WHERE NOT EXISTS (SELECT 1 FROM conflicts WHERE space_id = ? AND id = ?)",
            known,
        ),
        Statement("DELETE FROM conflicts WHERE space_id = ? AND id = ?", known),
    ]


def _columns(table: str) -> str:
    return COLUMNS.replace("v.", f"{table}.")


def _only(category: str | None) -> tuple[str, tuple[Scalar, ...]]:
    if category is None:
        return "", ()
    folded = fold(category)
    return " AND e.category_folded = ? AND n.category_folded = ?", (folded, folded)
