"""Write and delete the hidden spaces of imports."""

from collections.abc import Sequence
from typing import cast

from muisti.core.model.errors import Conflict
from muisti.core.store.database import Database, Refusal, Refused, Rows, Statement
from muisti.core.store.sql import imports


def write(database: Database, batch: Sequence[Statement]) -> list[Rows]:
    """Run a batch.

    Raises:
        Conflict: the target space or the hidden one no longer exists.
    """
    try:
        return database.write(batch)
    except Refused as refused:
        if refused.code == Refusal.NO_SPACE:
            raise Conflict("the space was erased meanwhile, or the import took too long; try again") from refused
        raise


def clear(database: Database, staging_id: int, memories: int | None) -> None:
    """Delete a hidden space. `memories` is the number imported, None when the import failed."""
    while True:
        *_, left = database.write(imports.clear(staging_id))
        if not left[0][0]:
            break
    database.write(imports.end(staging_id, memories))


def clear_dead(database: Database, now: int) -> None:
    """Delete what imports of ended processes left behind."""
    _clear_all(database, imports.dead(now))


def stop_imports(database: Database, which: Statement) -> int:
    """End the imports that `which` finds, running or dead; none writes any more. Return their number."""
    (rows,) = database.read([which])
    for staging_id, _ in rows:
        database.write([imports.disown(cast(int, staging_id))])
    return _clear_all(database, which)


def _clear_all(database: Database, which: Statement) -> int:
    (rows,) = database.read([which])
    for staging_id, moved in cast(list[tuple[int, int]], rows):
        clear(database, staging_id, 0 if moved else None)
    return len(rows)
