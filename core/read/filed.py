"""Memories as files: pages of folders, and the versions of all files of a space."""

from collections.abc import Sequence
from typing import cast

from muisti.core.identity.caller import Caller
from muisti.core.model.filed import FileOperation, FileVersion, Item
from muisti.core.model.ids import id_text
from muisti.core.model.times import from_us
from muisti.core.query.filed import Changed, Folder
from muisti.core.read.reading import read
from muisti.core.store.database import Database
from muisti.core.store.sql import filed, version_rows


def items(database: Database, space: str, folder: Folder, caller: Caller, now: int) -> tuple[list[Item], bool]:
    """Return a page of a folder, and whether there are more."""
    found, (rows,) = read(database, space, lambda row: [filed.page(row, folder, caller.own_category, now)])
    page = [
        Item(
            cast(str, row[0]),
            cast(int, row[1]),
            None if row[2] is None else version_rows.memory(row[2:], found.space.name),
        )
        for row in rows[: folder.limit]
    ]
    return page, len(rows) > folder.limit


def versions(database: Database, space: str, asked: Changed, caller: Caller) -> tuple[Sequence[FileVersion], bool]:
    """Return a page of the changes of files, newest first, and whether there are more."""
    own, whole = caller.own_category, caller.sees_all
    found, (rows,) = read(database, space, lambda row: [filed.happened(row, asked, own, whole=whole)])
    page: list[FileVersion] = []
    for row in rows[: asked.limit]:
        seq, operation, memory_id, version, at, actor, redacted_at, redacted_by = row[:8]
        page.append(
            FileVersion(
                seq=cast(int, seq),
                operation=cast(FileOperation, operation),
                memory_id=id_text(cast(bytes, memory_id)),
                version=cast(int, version),
                at=from_us(cast(int, at)),
                actor=cast("str | None", actor),
                redacted_at=None if redacted_at is None else from_us(cast(int, redacted_at)),
                redacted_by=cast("str | None", redacted_by),
                memory=None if row[8] is None else version_rows.memory(row[8:], found.space.name),
            )
        )
    return page, len(rows) > asked.limit
