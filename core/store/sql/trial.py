"""Writes outside the history of a space, which may be tried."""

from collections.abc import Sequence

from muisti.core.store.database import Database, Rows, Statement


def written(database: Database, statements: Sequence[Statement], ask: Statement, *, dry_run: bool) -> Rows:
    """Write, and read afterwards; of a dry run what would be read, and nothing stays.

    Raises:
        Refused: a statement was refused; nothing of the batch is kept.
    """
    if dry_run:
        return database.rehearse([*statements, ask])[-1]
    database.write(statements)
    return database.primary.read([ask])[0]
