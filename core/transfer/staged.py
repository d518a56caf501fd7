"""Takes away what imports put aside, into spaces that nobody sees."""

from typing import cast

from muisti.core.store.database import Database, Statement
from muisti.core.store.sql import imports


def clear(database: Database, staging_id: int, memories: int | None) -> None:
    """Delete a staging space; of an import that has brought `memories`, None when it has come to nothing."""
    while True:
        *_, left = database.write(imports.clear(staging_id))
        if not left[0][0]:
            break
    database.write(imports.end(staging_id, memories))


def clear_dead(database: Database, now: int) -> None:
    """Take away what imports left behind that broke off with their process."""
    _clear_all(database, imports.dead(now))


def stop(database: Database, which: Statement) -> int:
    """End the imports that `which` finds, under way or dead: none of them writes or moves any more. Gives how many."""
    (rows,) = database.read([which])
    for staging_id, _ in rows:
        database.write([imports.disown(cast(int, staging_id))])
    return _clear_all(database, which)


def _clear_all(database: Database, which: Statement) -> int:
    (rows,) = database.read([which])
    for staging_id, moved in cast(list[tuple[int, int]], rows):
        clear(database, staging_id, 0 if moved else None)
    return len(rows)
