"""Inspection of a database without changing it: its file, its schema, its clock and its spaces. `checkup` reads all."""

from pathlib import Path
from typing import cast

from msgspec import Struct

from muisti.core.store.database import Database, Statement
from muisti.core.store.migrate import migrations
from muisti.core.store.rescue import soundness


class Schema(Struct, frozen=True):
    """The schema of a database, None where it has none yet, and that of this Muisti."""

    found: int | None
    known: int


class Clocks(Struct, frozen=True):
    """The time of a database, and that of its last change, None without one; in seconds since 1970."""

    there: float
    last_change: float | None


def file_flaws(path: Path) -> list[str]:
    """Return what SQLite finds wrong with a file, and what it does not see of its log; nothing when all is well.

    Raises:
        StoreUnavailable: it cannot be looked at now, which says nothing about damage.
    """
    return soundness.flaws(path)


def schema_of(database: Database) -> Schema:
    """Return the schema of a database."""
    known = len(migrations())
    if not database.read([Statement("SELECT 1 FROM sqlite_master WHERE name = 'schema_migrations'")])[0]:
        return Schema(None, known)
    ((found,),) = database.read([Statement("SELECT coalesce(max(number), 0) FROM schema_migrations")])[0]
    return Schema(cast(int, found), known)


def clocks_of(database: Database) -> Clocks:
    """Return the times of a database whose schema is this Muisti's."""
    asked = "SELECT unixepoch('subsec'), (SELECT max(committed_at) FROM spaces)"
    ((there, last),) = cast(list[tuple[float, int | None]], database.read([Statement(asked)])[0])
    return Clocks(there, None if last is None else last / 1e6)


def spaces_with_memories(database: Database) -> list[str]:
    """Return the names of the spaces that have memories."""
    (rows,) = database.read([Statement("SELECT name FROM spaces WHERE memories > 0")])
    return [str(name) for (name,) in rows]


def spaces_of_other_models(database: Database, identity: str) -> list[str]:
    """Return the names of the spaces that another model than `identity` embedded."""
    asked = "SELECT s.name FROM spaces s JOIN generations g ON g.id = s.generation_id WHERE g.hash <> ? ORDER BY 1"
    (rows,) = database.read([Statement(asked, (identity,))])
    return [str(name) for (name,) in rows]
