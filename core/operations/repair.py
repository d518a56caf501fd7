"""Repair what a checkup found: rebuild derived data, and recover what a damaged file still holds into a new file."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from muisti.core.embedding.models import Models, card_of
from muisti.core.model.errors import Conflict, StoreCorrupt
from muisti.core.operations.checkup import BATCH, Findings
from muisti.core.store.backup import checked, fresh, opened
from muisti.core.store.database import Database, Statement, slots
from muisti.core.store.file.database import FileDatabase
from muisti.core.store.file.sqlite_errors import translated
from muisti.core.store.migrate import migrate
from muisti.core.store.rescue.salvage import Salvaged, salvage
from muisti.core.store.rescue.soundness import image
from muisti.core.store.sql import generations, index_rows, inserting, spaces, version_rows
from muisti.core.store.sql.spaces import SpaceRow, space_row
from muisti.core.store.sql.tables import rebuilt_from_version
from muisti.core.store.sql.version_rows import COVERED, checksum
from muisti.core.support.meters import Progress
from muisti.core.write.prepare import ready


def mend(database: Database, models: Models, findings: Findings, now: int) -> int:
    """Rebuild derived data that are wrong. Return the number of versions that were repaired.

    Altered versions are left, because their original text is unknown. Versions without a checksum get one.
    """
    derived = [flaw.row for flaw in findings.derived]
    for first in range(0, len(derived), BATCH):
        _derive(database, models, derived[first : first + BATCH], now)
    if findings.unsealed:
        _seal(database, {flaw.row for flaw in findings.altered})
    spoilt = {*findings.segments, *(findings.counts)}
    for row in map(space_row, database.read([spaces.all_spaces()])[0]):
        if derived or row.space.name in spoilt:
            database.write([index_rows.forget_segments(row), generations.look_again(row), spaces.count_anew(row)])
    return len(derived)


def recover(source: Path, target: Path, models: Models, now: int, progress: Progress) -> Salvaged:
    """Recover what a damaged file still holds into a new file. The new file gets its name after it was verified.

    `models` embed the recovered memories. The damaged file is not changed.

    Raises:
        Conflict: a process has the file open, or a file of the new name exists.
        StoreCorrupt: the file holds nothing that can be recovered.
    """
    if target.exists():
        raise Conflict(f"{target} is there already")
    with fresh(target) as partial:
        _make(partial, now)
        with image(source) as pages, translated(), opened(partial) as connection:
            found = salvage(pages, connection, now, lambda done, total: progress("reading", done, total))
            connection.execute(
                "UPDATE spaces SET generation_id = NULL, shadow_generation_id = NULL, second_generation_id = NULL"
            )  # there are no vectors yet
        if not found.rows:
            raise StoreCorrupt(f"{source.name} has nothing of a Muisti database; was there a backup?")
        database = FileDatabase(partial)
        try:
            _derive_all(database, models, now, progress)
        finally:
            database.close()
        with translated(), opened(partial) as connection:
            connection.pragma("journal_mode", "delete")
        checked(partial, progress)
    return found


def _make(path: Path, now: int) -> None:
    database = FileDatabase(path)
    try:
        migrate(database, now)
    finally:
        database.close()


def _derive_all(database: Database, models: Models, now: int, progress: Progress) -> None:
    after, done = 0, 0
    ((total,),) = database.read([Statement("SELECT count(*) FROM versions")])[0]
    while True:
        asked = f"SELECT id FROM versions WHERE id > ? ORDER BY id LIMIT {BATCH}"
        (rows,) = database.read([Statement(asked, (after,))])
        if not rows:
            return
        ids = [cast(int, row[0]) for row in rows]
        _derive(database, models, ids, now)
        after, done = ids[-1], done + len(ids)
        progress("deriving", done, cast(int, total))


def _derive(database: Database, models: Models, rows: Sequence[int], now: int) -> None:
    """Rebuild all derived rows of versions, one space at a time."""
    encoder = models.inline(None)
    if encoder is not None:
        database.write([spaces.register_generation(card_of(encoder), now)])
    for space in map(space_row, database.read([spaces.all_spaces()])[0]):
        if encoder is not None and space.generation is None:
            database.write([spaces.adopt_generation(space, encoder.identity)])
        _derive_in(database, space, models, rows)


def _derive_in(database: Database, space: SpaceRow, models: Models, rows: Sequence[int]) -> None:
    """Rebuild derived rows in a space. A space whose model is missing is skipped, because no other can embed it."""
    if space.space.generation is not None and models.of(space.space.generation) is None:
        return
    asked = f"SELECT {version_rows.COLUMNS} FROM versions v WHERE v.space_id = ? AND v.id IN {slots(rows)}"
    (found,) = database.read([Statement(asked, (space.id, *rows))])
    versions = [version_rows.memory(row, space.space.name) for row in found]
    statements: list[Statement] = []
    for row, new in zip(found, ready(versions, space, models), strict=True):
        statements += (
            Statement(f"DELETE FROM {table.name} WHERE {table.version} = ?", (row[0],))
            for table in reversed(rebuilt_from_version())
        )
        statements.append(inserting.refold(cast(int, row[0]), new))
        statements += inserting.dependent_rows((version_rows.raw(new.memory.id), new.memory.version), new)
    if statements:
        database.write(statements)


def _seal(database: Database, altered: set[int]) -> None:
    """Add checksums to versions that were stored before checksums existed."""
    named = ", ".join((*COVERED, "updated_at"))
    after = 0
    while True:
        asked = f"SELECT id, {named} FROM versions WHERE checksum IS NULL AND id > ? ORDER BY id LIMIT {BATCH}"
        (rows,) = database.read([Statement(asked, (after,))])
        if not rows:
            return
        database.write([
            Statement(
                "UPDATE versions SET checksum = ? WHERE id = ?",
                (checksum(dict(zip((*COVERED, "updated_at"), row[1:], strict=True))), row[0]),
            )
            for row in rows
            if row[0] not in altered
        ])  # fmt: skip
        after = cast(int, rows[-1][0])
