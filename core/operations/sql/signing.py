"""The SQL of the keys that reports are signed with."""

from muisti.core.store.database import Statement


def own() -> Statement:
    """Select (id, private key in PEM) of the oldest key whose private part is in the database."""
    return Statement("SELECT id, private FROM signing_keys WHERE private IS NOT NULL ORDER BY created_at, id LIMIT 1")


def public() -> Statement:
    """Select (JWK) of every key that ever signed, oldest first."""
    return Statement("SELECT public FROM signing_keys ORDER BY created_at, id")


def add(key_id: str, public: str, private: str | None, now: int) -> Statement:
    return Statement(
        "INSERT INTO signing_keys VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", (key_id, public, private, now)
    )
