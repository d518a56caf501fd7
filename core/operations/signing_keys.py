"""The keys that reports are signed with, as the database has them. What a key is and does is not known here."""

from typing import cast

from muisti.core.store.database import Database
from muisti.core.store.sql import signing


class SigningKeys:
    """Thread-safe. All replicas on a database sign with the same key."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def own(self) -> tuple[str, str] | None:
        """Id and private key (PEM) of the one to sign with, None before the first."""
        (rows,) = self._database.primary.read([signing.own()])
        return cast(tuple[str, str], rows[0]) if rows else None

    def add(self, key_id: str, public: str, private: str | None, now: int) -> None:
        """Keep a key; `private` None when it is kept elsewhere. One that is known stays as it is."""
        self._database.write([signing.add(key_id, public, private, now)])

    def public(self) -> list[str]:
        """Every key that ever signed, as a JWK, oldest first."""
        (rows,) = self._database.read([signing.public()])
        return [cast(str, row[0]) for row in rows]
