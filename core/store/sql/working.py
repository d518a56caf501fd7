"""The SQL of working memory: what callers keep for a conversation, by key."""

from typing import cast

from muisti.core.model.conversations import Entry
from muisti.core.model.ids import id_bytes, id_text
from muisti.core.model.times import from_us, to_us
from muisti.core.model.values import Memory
from muisti.core.store.database import Row, Statement
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import raw

_COLUMNS = "key, memory_id, content, tokens, pinned, priority, made_at, expires_at"


def entries(conversation: Memory, now: int) -> Statement:
    """Select what is kept for a conversation, oldest first."""
    return Statement(
        f"SELECT {_COLUMNS} FROM working WHERE conversation_id = ? AND (expires_at IS NULL OR expires_at > ?) "
        "ORDER BY made_at, key",
        (raw(conversation.id), now),
    )


def entry(row: Row) -> Entry:
    """Read a row of `entries`."""
    key, memory, content, tokens, pinned, priority, made, expires = cast(
        tuple[str, bytes | None, str | None, int | None, int, int, int, int | None], row
    )
    return Entry(
        key=key,
        memory_id=None if memory is None else id_text(memory),
        content=content,
        tokens=tokens,
        pinned=bool(pinned),
        priority=priority,
        made_at=from_us(made),
        expires_at=None if expires is None else from_us(expires),
    )


def put(space: SpaceRow, conversation: Memory, one: Entry, now: int) -> Statement:
    """Keep an entry in place of what is at its key."""
    values = (
        None if one.memory_id is None else id_bytes(one.memory_id),
        one.content,
        one.tokens,
        int(one.pinned),
        one.priority,
        now,
        None if one.expires_at is None else to_us(one.expires_at),
    )
    return Statement(
        f"INSERT OR REPLACE INTO working (space_id, conversation_id, {_COLUMNS}) "
        "SELECT id, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM spaces WHERE id = ?",
        (raw(conversation.id), one.key, *values, space.id),
    )


def expired(now: int) -> Statement:
    """Select a row when an entry has expired."""
    return Statement("SELECT 1 FROM working WHERE expires_at <= ? LIMIT 1", (now,))


def sweep(now: int, most: int) -> Statement:
    """Delete up to `most` entries that have expired."""
    return Statement(
        "DELETE FROM working WHERE (conversation_id, key) IN "
        "(SELECT conversation_id, key FROM working WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)",
        (now, most),
    )


def release(conversation: Memory, key: str) -> Statement:
    """Release what is at a key."""
    return Statement("DELETE FROM working WHERE conversation_id = ? AND key = ?", (raw(conversation.id), key))
