"""The SQL of undoing an import: its memories, the later changes of them, and their end."""

from collections.abc import Sequence

from muisti.core.model.operations import Imported
from muisti.core.store.database import Refusal, Statement, refuse
from muisti.core.store.sql.changes import HOLDS
from muisti.core.store.sql.conversations import held
from muisti.core.store.sql.spaces import SpaceRow

_BY_IMPORT = "b.space_id = ? AND b.seq BETWEEN ? AND ? AND b.import_id = ?"
_MEMORIES = f"m AS MATERIALIZED (SELECT DISTINCT b.memory_id AS id FROM changes b WHERE {_BY_IMPORT})"
_LIVING = (
    f"FROM (WITH {_MEMORIES} SELECT v.*, {held('SELECT id FROM m')} AS stays FROM m CROSS JOIN versions v "
    "WHERE v.memory_id = m.id AND v.died IS NULL) v"
)


def holding_changes(space: SpaceRow, seqs: Sequence[int]) -> Statement:
    """Select (id, memories) of the newest import that is not undone and made one of some changes."""
    marks = ",".join("?" * len(seqs))
    return Statement(
        "SELECT i.id, i.memories FROM imports i JOIN changes c ON c.import_id = i.id AND c.space_id = i.space_id "
        f"WHERE i.space_id = ? AND i.undone IS NULL AND c.seq IN ({marks}) ORDER BY i.id DESC LIMIT 1",
        (space.id, *seqs),
    )


def changed_since(space: SpaceRow, one: Imported) -> Statement:
    """Select (seq, kind, memory id, actor) of later changes to memories of an import that hold."""
    return Statement(
        f"WITH {_MEMORIES} SELECT DISTINCT c.seq, c.kind, c.memory_id, c.actor FROM m CROSS JOIN versions v "
        "JOIN changes c ON c.space_id = v.space_id AND c.seq IN (v.born, v.died) "
        f"WHERE v.memory_id = m.id AND c.seq > ? AND c.import_id IS NOT ? AND {HOLDS} ORDER BY 1 LIMIT 100",
        (*_of(space, one), one.first, one.id),
    )


def living(space: SpaceRow, one: Imported) -> Statement:
    """Count the memories of an import that exist, by kind: those that end."""
    return Statement(
        f"SELECT v.kind, count(*) {_LIVING} WHERE NOT v.stays GROUP BY v.kind ORDER BY 2 DESC, 1", _of(space, one)
    )


def living_ids(space: SpaceRow, one: Imported, most: int) -> Statement:
    """Select the ids of the memories that `living` counts."""
    return Statement(
        f"SELECT v.memory_id {_LIVING} WHERE NOT v.stays ORDER BY v.born LIMIT ?", (*_of(space, one), most)
    )


def staying(space: SpaceRow, one: Imported) -> Statement:
    """Select (kind, name) of the sessions and conversations of an import that hold something besides it."""
    return Statement(
        f"SELECT v.kind, coalesce(v.conversation, v.session) {_LIVING} WHERE v.stays LIMIT 100", _of(space, one)
    )


def end_all(space: SpaceRow, one: Imported, memories: int) -> list[Statement]:
    """Plan that the `memories` of an import end; refuse with `stale` when it is undone or they are others."""
    return [
        Statement(
            f"{refuse(Refusal.STALE)} WHERE EXISTS (SELECT 1 FROM imports WHERE id = ? AND undone IS NOT NULL)"
            f" OR (SELECT count(*) {_LIVING} WHERE NOT v.stays) <> ?",
            (one.id, *_of(space, one), memories),
        ),
        Statement(
            "INSERT INTO turns (memory_id, version, living, source) "
            f"SELECT v.memory_id, v.version, 1, NULL {_LIVING} WHERE NOT v.stays ORDER BY v.born",
            _of(space, one),
        ),
    ]


def mark(space: SpaceRow, one: Imported) -> list[Statement]:
    """Mark an import and its changes as undone by the last change of the space; the plan is still there."""
    return [
        Statement(
            "UPDATE changes SET undone = (SELECT seq FROM spaces WHERE id = ?) "
            "WHERE space_id = ? AND seq BETWEEN ? AND ? AND import_id = ? AND undone IS NULL",
            (space.id, *_of(space, one)),
        ),
        Statement(
            "UPDATE imports SET undone = s.seq, base = s.seq - (SELECT count(*) FROM turns) FROM spaces s "
            "WHERE imports.id = ? AND s.id = ?",
            (one.id, space.id),
        ),
    ]


def _of(space: SpaceRow, one: Imported) -> tuple[int, int, int, int]:
    return space.id, one.first, one.last, one.id
