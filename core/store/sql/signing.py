"""The SQL of the keys that reports are signed with."""

from muisti.core.store.database import Statement


def own() -> Statement:
    """(id, private key in PEM) of the oldest key that the database has whole."""
    return Statement("SELECT id, private FROM signing_keys WHERE private IS NOT NULL ORDER BY created_at, id LIMIT 1")


def public() -> Statement:
    """(JWK) of every key that ever signed, oldest first."""
    return Statement("SELECT public FROM signing_keys ORDER BY created_at, id")


def add(key_id: str, public: str, private: str | None, now: int) -> Statement:
    return Statement(
        "INSERT INTO signing_keys VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", (key_id, public, private, now)
    )
