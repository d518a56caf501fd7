"""Migrations: numbered SQL files, each applied once and atomically; a new database gets all of them in one batch."""

from collections.abc import Container, Sequence
from functools import cache
from importlib import resources

import apsw

from muisti.core.model.errors import Conflict, SchemaTooNew
from muisti.core.store.database import Database, Refused, Statement

TABLE = """CREATE TABLE IF NOT EXISTS schema_migrations (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT"""

APPLIED = Statement("SELECT number, name FROM schema_migrations ORDER BY number")
UNFINISHED = "unfinished_copy"  # a table that marks a database into which another one is being copied


def migrate(database: Database, now: int) -> None:
    """Apply the missing migrations; `now` in microseconds.

    Raises:
        SchemaTooNew: the database has migrations that this code does not know; it is left unchanged.
        Conflict: the database holds an unfinished copy, or is from before the first release.
    """
    known = migrations()
    applied = _applied(database)
    if applied > len(known):
        raise SchemaTooNew(
            f"the database has schema {applied}, this Muisti knows {len(known)}; run the newer Muisti that wrote it"
        )
    pending = list(enumerate(known[applied:], start=applied + 1))
    # One step at a time where there are memories to migrate: a server ends a transaction after five seconds.
    for steps in [[step] for step in pending] if applied else [pending]:
        try:
            database.write([Statement(TABLE), *(each for number, step in steps for each in _step(number, *step, now))])
        except Refused:
            if _applied(database) < steps[-1][0]:  # otherwise another process was faster
                raise


def newest(applied: Sequence[Sequence[object]]) -> int:
    """Return the number of the newest migration among the rows of `APPLIED`, 0 without any.

    Raises:
        Conflict: the database is from before the first release, whose migrations had other names.
    """
    if applied and applied[0][1] != migrations()[0][0]:
        raise Conflict(
            f"the database is from before the first release (schema {applied[-1][0]}) and was left unchanged; export "
            "it with the version that created it (`muisti export --all FOLDER`), then import the folder into a new one"
        )
    return int(str(applied[-1][0])) if applied else 0


def refuse_unfinished(tables: Container[str]) -> None:
    """Raise `Conflict` when the tables of a database mark an unfinished copy."""
    if UNFINISHED in tables:
        raise Conflict("the database contains an unfinished copy; wait for it, or copy again into a new database")


@cache
def migrations() -> list[tuple[str, str]]:
    """Return names and texts of the migrations, in order."""
    folder = resources.files("muisti.core.store").joinpath("migrations")
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    return [(f.name, f.read_text("utf-8")) for f in files]


def split(script: str) -> list[str]:
    """Split an SQL script into statements, and keep triggers whole.

    >>> split("CREATE TABLE a (b); -- c;\\nDROP TABLE a;")
    ['CREATE TABLE a (b);', '-- c;\\nDROP TABLE a;']
    """
    statements: list[str] = []
    pending = ""
    for piece in script.split(";")[:-1]:
        pending += piece + ";"
        if apsw.complete(pending):
            statements.append(pending.strip())
            pending = ""
    return statements


def _step(number: int, name: str, script: str, now: int) -> list[Statement]:
    record = Statement("INSERT INTO schema_migrations VALUES (?, ?, ?)", (number, name, now))
    return [record, *map(Statement, _statements(script))]


_statements = cache(split)  # cached for processes that open many databases


def _applied(database: Database) -> int:
    tables = Statement("SELECT name FROM sqlite_master WHERE name IN ('schema_migrations', ?)", (UNFINISHED,))
    found = {str(name) for (name,) in database.read([tables])[0]}
    refuse_unfinished(found)
    return newest(database.read([APPLIED])[0]) if found else 0
