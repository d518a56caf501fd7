"""The SQL of topics and summaries: what a conversation says, with its vectors, and what its topics cover.

A conversation is named within a category; None is that of memories without one.
"""

from typing import NamedTuple, cast

from muisti.core.conversations.model import Entry
from muisti.core.model.ids import id_bytes, id_text
from muisti.core.model.places import TURN_MAX
from muisti.core.model.times import from_us, to_us
from muisti.core.model.values import Memory
from muisti.core.store.database import Refusal, Row, Rows, Scalar, Statement, refuse
from muisti.core.store.sql.hierarchy import of_conversation, turns_of
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import COLUMNS, CURRENT, UNEXPIRED, raw
from muisti.core.text.terms import fold

_AT = "coalesce(v.event_at, v.created_at)"


class Said(NamedTuple):
    """An exchange as topics are found from it. `at` is in microseconds; `session` is what its metadata names."""

    turn: int
    tokens: int
    at: int
    session: str | None
    vectors: tuple[bytes, ...]


def covered(space: SpaceRow, category: str | None, conversation: str) -> list[Statement]:
    """Select the last turn that a topic covers, or null; then the largest number of a name such as t12, or null."""
    of, args = of_conversation(space, category, conversation)
    last = "SELECT max(s.value ->> 1) FROM json_each(v.structure, '$.spans') s"
    number = "CAST(substr(v.topic, 2) AS INTEGER)"
    return [
        Statement(f"SELECT max(({last})) FROM versions v WHERE {of} AND v.kind = 'topic' AND {CURRENT}", args),
        Statement(
            f"SELECT max({number}) FROM versions v WHERE {of} AND v.kind = 'topic' AND v.topic GLOB 't[0-9]*'", args
        ),
    ]


def counted(space: SpaceRow, category: str | None, conversation: str, turns: tuple[int, int], now: int) -> Statement:
    """Count the exchanges with turns from the first to the second, both included."""
    of, args = turns_of(space, category, conversation, turns, now)
    return Statement(f"SELECT count(*) FROM versions v WHERE {of}", args)


def said(space: SpaceRow, category: str | None, conversation: str, after: int, now: int) -> Statement:
    """Select what `read_said` reads: exchanges after a turn, a row for each vector, in order."""
    of, args = turns_of(space, category, conversation, (after + 1, TURN_MAX), now)
    return Statement(
        f"SELECT v.turn, v.tokens, {_AT}, v.metadata ->> '$.session', e.vector FROM versions v "
        f"LEFT JOIN embeddings e ON e.version_id = v.id AND e.generation_id = ? WHERE {of} ORDER BY v.turn, e.number",
        (space.generation, *args),
    )


def read_said(rows: Rows) -> list[Said]:
    """Read the rows of `said`."""
    found: dict[int, Said] = {}
    for row in rows:
        turn, tokens, at, session, vector = cast(tuple[int, int, int, Scalar, bytes | None], row)
        before = found[turn].vectors if turn in found else ()
        vectors = before if vector is None else (*before, vector)
        found[turn] = Said(turn, tokens, at, None if session is None else str(session), vectors)
    return [*found.values()]


def recent(space: SpaceRow, category: str | None, conversation: str, now: int, limit: int) -> Statement:
    """Select the exchanges with the largest turns, the last first."""
    of, args = turns_of(space, category, conversation, (0, TURN_MAX), now)
    return Statement(f"SELECT {COLUMNS} FROM versions v WHERE {of} ORDER BY v.turn DESC LIMIT ?", (*args, limit))


def refuse_others(space: SpaceRow, category: str | None, conversation: str, newest: int, now: int) -> Statement:
    """Refuse with `stale` unless the newest version of a current topic is in a row; 0 when there is no topic."""
    of, args = of_conversation(space, category, conversation)
    return Statement(
        f"{refuse(Refusal.STALE)} WHERE (SELECT coalesce(max(v.id), 0) FROM versions v WHERE {of} "
        f"AND v.kind = 'topic' AND {CURRENT} AND {UNEXPIRED}) <> ?",
        (*args, now, newest),
    )


def of_session(space: SpaceRow, category: str | None, session: str, now: int) -> list[Statement]:
    """Select the session, its conversations and its summary; then the summaries of its conversations."""
    own = "v.space_id = ? AND coalesce(v.category_folded, '') = ?"
    args = (space.id, fold(category or ""))
    kinds = f"{own} AND v.kind IN ('session', 'conversation', 'summary') AND {CURRENT} AND {UNEXPIRED}"
    return [
        Statement(
            f"SELECT {COLUMNS} FROM versions v WHERE {kinds} AND v.session = ? ORDER BY v.memory_id",
            (*args, now, session),
        ),
        Statement(
            f"SELECT {COLUMNS} FROM versions v WHERE {kinds} AND v.kind = 'summary' "
            "AND v.structure ->> '$.of' = 'conversation' AND v.conversation IN (SELECT c.conversation FROM versions c "
            "WHERE c.space_id = v.space_id AND c.kind = 'conversation' AND c.session = ? AND c.died IS NULL "
            "AND c.category_folded IS v.category_folded) ORDER BY v.memory_id",
            (*args, now, session),
        ),
    ]


def hashes(
    space: SpaceRow, category: str | None, conversation: str, now: int, turns: tuple[int, int] = (0, TURN_MAX)
) -> Statement:
    """Select (turn, hash of the text, tokens) of the exchanges of a conversation from a turn to another, in order."""
    of, args = turns_of(space, category, conversation, turns, now)
    return Statement(f"SELECT v.turn, v.content_hash, v.tokens FROM versions v WHERE {of} ORDER BY v.turn", args)


# The SQL of working memory: what callers keep for a conversation, by key

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


def put_entry(space: SpaceRow, conversation: Memory, one: Entry, now: int) -> Statement:
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


def release_entries(conversation: Memory, key: str) -> Statement:
    """Release what is at a key."""
    return Statement("DELETE FROM working WHERE conversation_id = ? AND key = ?", (raw(conversation.id), key))
