"""The SQL of stored answers, which repeated requests get by idempotency key."""

from muisti.core.model.values import RequestKey
from muisti.core.store.database import Refusal, Statement, refuse
from muisti.core.store.sql.spaces import SpaceRow

_REFUSE_KNOWN = f"{refuse(Refusal.REQUEST_KNOWN)} WHERE EXISTS (SELECT 1 FROM requests WHERE scope = ? AND key = ?)"


def refuse_known(request: RequestKey, now: int) -> list[Statement]:
    """Refuse with `request_known` when the key has an answer. Expired answers are deleted first."""
    return [
        Statement("DELETE FROM requests WHERE expires_at <= ?", (now,)),
        Statement(
            _REFUSE_KNOWN,
            (request.scope, request.key),
        ),
    ]


def old(now: int) -> Statement:
    """Select a row when there are expired answers."""
    return Statement("SELECT 1 FROM requests WHERE expires_at <= ? LIMIT 1", (now,))


def forget(now: int, limit: int) -> Statement:
    """Delete up to `limit` expired answers."""
    return Statement(
        "DELETE FROM requests WHERE (scope, key) IN "
        "(SELECT scope, key FROM requests WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)",
        (now, limit),
    )


def remember(space: SpaceRow, request: RequestKey, answer: bytes, expires_at: int) -> Statement:
    """Store the answer with the seq that the batch reached."""
    return Statement(
        "INSERT INTO requests SELECT ?, ?, ?, ?, epoch || ':' || seq, ? FROM spaces WHERE id = ?",
        (request.scope, request.key, request.body_hash, answer, expires_at, space.id),
    )


def known(request: RequestKey, now: int) -> Statement:
    """Select body hash, answer and seq of the request with this key."""
    return Statement(
        "SELECT body_hash, answer, seq FROM requests WHERE scope = ? AND key = ? AND expires_at > ?",
        (request.scope, request.key, now),
    )
