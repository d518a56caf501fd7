"""Store the keys that sign reports. What a key is, and how it signs, is defined elsewhere."""

from typing import cast

from muisti.core.operations.sql import signing
from muisti.core.store.database import Database


class SigningKeys:
    """Signing keys of a database, shared by all its replicas. Instances are thread-safe."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def own(self) -> tuple[str, str] | None:
        """Return the id and the private key (PEM) of the signing key, or None before the first one."""
        (rows,) = self._database.primary.read([signing.own()])
        return cast(tuple[str, str], rows[0]) if rows else None

    def add(self, key_id: str, public: str, private: str | None, now: int) -> None:
        """Store a key. `private` is None when it is kept elsewhere. A known key stays unchanged."""
        self._database.write([signing.add(key_id, public, private, now)])

    def public(self) -> list[str]:
        """Return every public key that ever signed, as a JWK, oldest first."""
        (rows,) = self._database.read([signing.public()])
        return [cast(str, row[0]) for row in rows]
