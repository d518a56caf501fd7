"""List the imports of a space, and undo one."""

from collections.abc import Sequence
from typing import cast

from msgspec.structs import replace

from muisti.core.identity.caller import Caller
from muisti.core.model.errors import ChangedSince, Conflict, NotFound, TooLarge
from muisti.core.model.ids import id_text
from muisti.core.model.imports import Imported
from muisti.core.model.outcomes import LaterChange
from muisti.core.model.times import from_us
from muisti.core.store.database import Database, Refused
from muisti.core.store.sql import audit, import_undo, imports
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.transfer.importing.moving import REMOTE_MAX


def known(database: Database, space: SpaceRow) -> list[Imported]:
    """Return the imports of a space, newest first."""
    (rows,) = database.read([imports.known(space)])
    return [_imported(row) for row in rows]


def undo(database: Database, row: SpaceRow, import_id: int, caller: Caller, now: int, *, dry_run: bool) -> Imported:
    """Delete all memories of an import, if none was changed since. A dry run only counts them.

    Raises:
        NotFound, ChangedSince, Conflict.
        TooLarge: a remote database cannot delete so many in one transaction.
    """
    found = next((one for one in known(database, row) if one.id == import_id), None)
    if found is None or found.undone is not None:
        raise NotFound("import", str(import_id), "" if found is None else "it was undone before")
    span = found.first, found.last
    later, living = database.read(
        [import_undo.changed_since(row, span, import_id), import_undo.living(row, span, import_id)]
    )
    if later:
        changed = cast(list[tuple[int, str, bytes, str | None]], later)
        raise ChangedSince([LaterChange(seq, kind, id_text(id_), actor) for seq, kind, id_, actor in changed])
    memories = cast(int, living[0][0])
    if not database.local and memories > REMOTE_MAX:
        raise TooLarge(f"the import brought {memories:,} memories; a remote database undoes {REMOTE_MAX:,} in one step")
    if dry_run:
        return replace(found, memories=memories)
    batch = import_undo.undo(row, span, import_id, memories, caller.actor, caller.request, now)
    entry = audit.note(now, caller.actor, "import_undone", space=row.space.name, target=str(import_id))
    try:
        results = database.write([entry, *batch])
    except Refused as refused:
        raise Conflict("others changed the same memories meanwhile; nothing was undone: try again") from refused
    seq = cast(int, results[-1][0][0])
    return replace(found, undone=seq, memories=memories)


def _imported(row: Sequence[object]) -> Imported:
    id_, source, actor, at, memories, first, last, undone = cast(
        tuple[int, str | None, str, int, int, int, int, int | None], row
    )
    return Imported(id_, source, actor, from_us(at), memories, first, last, undone)
