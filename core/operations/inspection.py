"""Inspect a database without changing it: its file, schema, clock and spaces. `checkup` reads all of its data."""

from collections.abc import Collection
from pathlib import Path
from typing import cast

from msgspec import Struct

from muisti.core.store.database import Database, Statement, slots
from muisti.core.store.migrate import APPLIED, migrations, newest
from muisti.core.store.rescue import soundness


class Schema(Struct, frozen=True):
    """The schema version of a database, None if it has none yet, and the version that this Muisti needs."""

    found: int | None
    known: int


class Clocks(Struct, frozen=True):
    """The current time of a database and the time of its last change, or None. Both are in seconds since 1970."""

    there: float
    last_change: float | None


def file_flaws(path: Path) -> list[str]:
    """Return what SQLite finds wrong with a file and with its log. The list is empty when the file is sound.

    Raises:
        StoreUnavailable: the file cannot be inspected now, which says nothing about damage.
    """
    return soundness.flaws(path)


def schema_of(database: Database) -> Schema:
    """Return the schema of a database.

    Raises:
        Conflict: the database is from before the first release.
    """
    known = len(migrations())
    if not database.read([Statement("SELECT 1 FROM sqlite_master WHERE name = 'schema_migrations'")])[0]:
        return Schema(None, known)
    return Schema(newest(database.read([APPLIED])[0]), known)


def clocks_of(database: Database) -> Clocks:
    """Return the times of a database that has the current schema."""
    asked = "SELECT unixepoch('subsec'), (SELECT max(committed_at) FROM spaces)"
    ((there, last),) = cast(list[tuple[float, int | None]], database.read([Statement(asked)])[0])
    return Clocks(there, None if last is None else last / 1e6)


def spaces_with_memories(database: Database) -> list[str]:
    """Return the names of the spaces that have memories."""
    (rows,) = database.read([Statement("SELECT name FROM spaces WHERE memories > 0")])
    return [str(name) for (name,) in rows]


def spaces_of_other_models(database: Database, identities: Collection[str]) -> list[str]:
    """Return the names of the spaces whose vectors come from models other than these."""
    asked = (
        "SELECT s.name FROM spaces s JOIN generations g ON g.id = s.generation_id "
        f"WHERE g.hash NOT IN {slots(identities)} ORDER BY 1"
    )
    (rows,) = database.read([Statement(asked, tuple(identities))])
    return [str(name) for (name,) in rows]
