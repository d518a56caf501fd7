"""The SQL of undoing an import: its memories, the later changes of them, and their deletion."""

from collections.abc import Sequence

from muisti.core.store.database import Statement
from muisti.core.store.refusal_codes import Refusal, refuse
from muisti.core.store.sql import spaces
from muisti.core.store.sql.spaces import SpaceRow

_BIRTHS = "changes b JOIN versions v ON v.space_id = b.space_id AND v.born = b.seq"
_BY_IMPORT = "b.space_id = ? AND b.seq BETWEEN ? AND ? AND b.import_id = ?"
_LIVING = f"FROM {_BIRTHS} WHERE {_BY_IMPORT} AND v.died IS NULL"


def holding_changes(space: SpaceRow, seqs: Sequence[int]) -> Statement:
    """Select (id, memories) of the newest import that is not undone and made one of some changes."""
    marks = ",".join("?" * len(seqs))
    return Statement(
        "SELECT i.id, i.memories FROM imports i JOIN changes c ON c.import_id = i.id AND c.space_id = i.space_id "
        f"WHERE i.space_id = ? AND i.undone IS NULL AND c.seq IN ({marks}) ORDER BY i.id DESC LIMIT 1",
        (space.id, *seqs),
    )


def changed_since(space: SpaceRow, span: tuple[int, int], import_id: int) -> Statement:
    """Select (seq, kind, memory id, actor) of later changes that ended versions of an import, made by others."""
    return Statement(
        f"SELECT c.seq, c.kind, v.memory_id, c.actor FROM {_BIRTHS} JOIN changes c ON c.space_id = v.space_id "
        f"AND c.seq = v.died WHERE {_BY_IMPORT} AND c.import_id IS NOT ? LIMIT 100",
        (space.id, *span, import_id, import_id),
    )


def living(space: SpaceRow, span: tuple[int, int], import_id: int) -> Statement:
    """Count the memories of an import that still exist unchanged."""
    return Statement(f"SELECT count(*) {_LIVING}", (space.id, *span, import_id))


def undo(
    space: SpaceRow, span: tuple[int, int], import_id: int, memories: int, actor: str, request: str | None, now: int
) -> list[Statement]:
    """Delete the `memories` of an import, each as a change of its own. The last statement selects the seq."""
    brought = (space.id, *span, import_id)
    return [
        spaces.guard(space),
        Statement(
            f"{refuse(Refusal.STALE)} WHERE EXISTS (SELECT 1 FROM imports WHERE id = ? AND undone IS NOT NULL)"
            f" OR (SELECT count(*) {_LIVING}) <> ?",
            (import_id, *brought, memories),
        ),
        *spaces.advance(space, memories, now)[:1],
        Statement("UPDATE imports SET base = (SELECT seq FROM spaces WHERE id = ?) - ? WHERE id = ?",
                  (space.id, memories, import_id)),
        Statement(
            "INSERT INTO changes (space_id, seq, kind, memory_id, version, committed_at, actor, request) "
            "SELECT s.id, i.base + row_number() OVER (ORDER BY m.born), 'undone', m.memory_id, m.version, "
            "s.committed_at, ?, ? "
            f"FROM (SELECT v.born, v.memory_id, v.version {_LIVING}) m, imports i, spaces s "
            "WHERE i.id = ? AND s.id = i.space_id",
            (actor, request, *brought, import_id),
        ),
        Statement(
            "UPDATE versions SET died = m.died FROM (SELECT v.id, i.base + row_number() OVER (ORDER BY v.born) AS died "
            f"FROM imports i, {_BIRTHS} WHERE {_BY_IMPORT} AND i.id = ? AND v.died IS NULL) m WHERE versions.id = m.id",
            (*brought, import_id),
        ),
        Statement(
            "UPDATE changes SET undone = (SELECT seq FROM spaces WHERE id = ?) "
            "WHERE space_id = ? AND seq BETWEEN ? AND ? AND import_id = ? AND undone IS NULL",
            (space.id, *brought),
        ),
        Statement(
            "UPDATE imports SET undone = (SELECT seq FROM spaces WHERE id = ?) WHERE id = ?",
            (space.id, import_id),
        ),
        Statement("SELECT seq FROM spaces WHERE id = ?", (space.id,)),
    ]  # fmt: skip
