"""The SQL that refuses a whole batch when a condition that it was prepared for is no longer true."""

from collections.abc import Sequence

from muisti.core.model.values import Memory
from muisti.core.store.database import Refusal, Statement, refuse
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import CURRENT, UNEXPIRED, raw
from muisti.core.text.terms import fold

_DUPLICATE = refuse(Refusal.DUPLICATE)
_ADDRESS_TAKEN = refuse(Refusal.ADDRESS_TAKEN)
_PLACE_TAKEN = refuse(Refusal.PLACE_TAKEN)
_NO_PARENT = refuse(Refusal.NO_PARENT)
_STALE = refuse(Refusal.STALE)


def refuse_duplicate(space: SpaceRow, new: Memory, content_hash: bytes, now: int, category: str | None) -> Statement:
    """Refuse when another current memory of the same kind has the same text: of a folded category, or of any."""
    only, args = ("", ()) if category is None else (" AND v.category_folded = ?", (category,))
    return Statement(
        f"{_DUPLICATE} WHERE EXISTS (SELECT 1 FROM versions v "
        f"WHERE v.space_id = ? AND v.content_hash = ? AND v.kind = ? AND v.conversation IS NULL AND v.document IS NULL "
        f"AND {CURRENT} AND {UNEXPIRED}{only})",
        (space.id, content_hash, new.kind, now, *args),
    )


def refuse_address(space: SpaceRow, new: Memory) -> Statement:
    """Refuse when another current memory has the address."""
    assert new.category is not None
    return Statement(
        f"{_ADDRESS_TAKEN} WHERE EXISTS (SELECT 1 FROM versions v "
        f"WHERE v.space_id = ? AND v.category_folded = ? AND v.key = ? AND {CURRENT} AND v.memory_id <> ?)",
        (space.id, fold(new.category), new.key, raw(new.id)),
    )


def refuse_place(space: SpaceRow, new: Memory, place: str) -> Statement:
    """Refuse when another current memory of the category is at the same place in the hierarchy."""
    return Statement(
        f"{_PLACE_TAKEN} WHERE EXISTS (SELECT 1 FROM versions v WHERE v.space_id = ? "
        "AND coalesce(v.category_folded, '') = ? AND v.place = ? "
        f"AND {CURRENT} AND v.place IS NOT NULL AND v.memory_id <> ?)",
        (space.id, fold(new.category or ""), place, raw(new.id)),
    )


def refuse_orphan(space: SpaceRow, parent_id: str) -> Statement:
    """Refuse when the parent is no memory of this space."""
    return Statement(
        f"{_NO_PARENT} WHERE NOT EXISTS (SELECT 1 FROM versions WHERE memory_id = ? AND space_id = ? AND died IS NULL)",
        (raw(parent_id), space.id),
    )


def refuse_less_trusted(space: SpaceRow, ids: Sequence[str], trust: int) -> Statement:
    """Refuse with `stale` unless all of these memories exist and have at least this trust."""
    marks = ",".join("?" * len(ids))
    return Statement(
        f"{_STALE} WHERE (SELECT count(*) FROM versions WHERE +space_id = ? "
        f"AND memory_id IN ({marks}) AND died IS NULL AND trust >= ?) < ?",
        (space.id, *map(raw, ids), trust, len(ids)),
    )


def refuse_stale(memory: Memory) -> Statement:
    """Refuse when this version has ended or was replaced."""
    return Statement(
        f"{_STALE} WHERE NOT EXISTS (SELECT 1 FROM versions WHERE memory_id = ? AND version = ? AND died IS NULL)",
        (raw(memory.id), memory.version),
    )


def refuse_revived(memory: Memory) -> Statement:
    """Refuse when this is not the last version of a deleted memory."""
    return Statement(
        f"{_STALE} WHERE EXISTS (SELECT 1 FROM versions WHERE memory_id = ? AND (version > ? OR died IS NULL))",
        (raw(memory.id), memory.version),
    )
