"""Forget the copy of spaces that a database no longer holds: those that have left it, and those that never arrived.

Callers do not see these spaces any more, so each step is a transaction of its own. A server keeps the bytes of rows
that it deletes, so they are overwritten in a transaction before. A page that one transaction changes and frees is not
written to the file.
"""

from collections.abc import Callable, Sequence
from typing import cast

from muisti.core.store.database import Database, Statement, slots
from muisti.core.store.sql.table import Table, over
from muisti.core.store.sql.tables import TABLES

AT_ONCE = 200  # versions that are overwritten and deleted together

Keep = Callable[[], None]  # keeps the lease of the move, and says by an error that another process goes on


def forget(database: Database, name: str, keep: Keep) -> None:
    """Delete the spaces of a name with `%`, a few versions at a time, after overwriting them on a server."""
    (found,) = database.read([Statement("SELECT id, epoch FROM spaces WHERE name LIKE ?", (name,))])
    for space, epoch in cast("list[tuple[int, str]]", found):
        while ids := _some(database, space):
            if not database.local:
                database.write(_overwritten([one for one in _WIPED if _of_versions(one)], ids))
            database.write([Statement(f"DELETE FROM versions WHERE id IN {slots(ids)}", tuple(ids))])
            keep()
        answers = ("seq >= ? AND seq < ?", (f"{epoch.partition(' ')[0]}:", f"{epoch.partition(' ')[0]};"))
        if not database.local:
            for table in (one for one in _WIPED if one.space and not _of_versions(one)):
                database.write(over(table, f"{table.space} = ?", (space,)))
                keep()
            database.write(over(_REQUESTS, *answers))
        database.write([
            Statement(f"DELETE FROM requests WHERE {answers[0]}", answers[1]),
            Statement("DELETE FROM spaces WHERE id = ?", (space,)),
        ])  # fmt: skip


_WIPED = [one for one in TABLES if one.wipes]
_REQUESTS = next(one for one in TABLES if one.name == "requests")


def _of_versions(table: Table) -> bool:
    return table.name == "versions" or bool(table.version)


def _some(database: Database, space: int) -> list[int]:
    (rows,) = database.read([Statement("SELECT id FROM versions WHERE space_id = ? LIMIT ?", (space, AT_ONCE))])
    return [cast(int, row[0]) for row in rows]


def _overwritten(tables: Sequence[Table], ids: Sequence[int]) -> list[Statement]:
    return [
        statement
        for table in tables
        for statement in over(table, f"{table.version or 'id'} IN {slots(ids)}", tuple(ids))
    ]
