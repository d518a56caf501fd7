"""The SQL of undo: the last call of a caller in a space, and an import."""

import json
from collections.abc import Iterable, Sequence

from muisti.core.identity.caller import Caller
from muisti.core.model.operations import Imported
from muisti.core.store.database import Refusal, Statement, refuse, slots
from muisti.core.store.sql.changes import HOLDS, OPEN
from muisti.core.store.sql.hierarchy import held
from muisti.core.store.sql.spaces import SpaceRow

_BY_IMPORT = "b.space_id = ? AND b.seq BETWEEN ? AND ? AND b.import_id = ?"
_MEMORIES = f"m AS MATERIALIZED (SELECT DISTINCT b.memory_id AS id FROM changes b WHERE {_BY_IMPORT})"
_LIVING = (
    f"FROM (WITH {_MEMORIES} SELECT v.*, {held('SELECT id FROM m')} AS stays FROM m CROSS JOIN versions v "
    "WHERE v.memory_id = m.id AND v.died IS NULL) v"
)


def holding_changes(space: SpaceRow, seqs: Sequence[int]) -> Statement:
    """Select (id, memories) of the newest import that is not undone and made one of some changes."""
    return Statement(
        "SELECT i.id, i.memories FROM imports i JOIN changes c ON c.import_id = i.id AND c.space_id = i.space_id "
        f"WHERE i.space_id = ? AND i.undone IS NULL AND c.seq IN {slots(seqs)} ORDER BY i.id DESC LIMIT 1",
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


# The SQL that finds the last call of a caller in a space: its changes, its import, its task, or what undo leaves

AUDITED = 10_000  # newest entries of the audit log that are looked at
SESSIONS = "Console of *"  # names of keys that signing in to the console makes, which is no call of a person
_STORING = ("ingest", "import", "summarise", "purge")  # kinds of tasks that change memories
_REQUEST, _SEQ = "json_extract(t.caller, '$.request')", "json_extract(t.caller, '$.seq')"


def last_change(space: SpaceRow, caller: Caller, after: int, without: Sequence[str]) -> Statement:
    """Select (request, seq, time) of the caller's last change after a seq that no import brought and no undo took back.

    Changes of the requests `without` do not count.
    """
    only, values = ("", ()) if (own := caller.own_category) is None else (" AND v.category_folded = ?", (own,))
    return Statement(
        "SELECT c.request, c.seq, c.committed_at FROM changes c "
        "JOIN versions v ON v.memory_id = c.memory_id AND v.version = c.version "
        f"WHERE c.space_id = ? AND c.seq > ? AND {OPEN} AND c.import_id IS NULL AND c.actor = ? "
        f"AND coalesce(c.request, '') NOT IN (SELECT value FROM json_each(?)){only} ORDER BY c.seq DESC LIMIT 1",
        (space.id, after, caller.actor, json.dumps(list(without)), *values),
    )


def size(space: SpaceRow, actor: str, request: str) -> Statement:
    """Count the changes of a request of an actor that are not undone."""
    return Statement(
        "SELECT count(*) FROM changes c JOIN versions v ON v.memory_id = c.memory_id AND v.version = c.version "
        f"WHERE c.space_id = ? AND {OPEN} AND c.import_id IS NULL AND c.actor = ? AND c.request = ?",
        (space.id, actor, request),
    )


def task_of(space: SpaceRow, actor: str, request: str) -> Statement:
    """Select (id, kind, is over, done, total, seq at its start) of the task that a request of an actor began."""
    return Statement(f"{_TASK} AND {_REQUEST} = ? ORDER BY t.number DESC LIMIT 1", (space.id, actor, request))


def running(space: SpaceRow, actor: str) -> Statement:
    """Select the newest task of an actor that changes memories and is not over, as `task_of` does."""
    among = ", ".join(f"'{one}'" for one in _STORING)
    return Statement(
        f"{_TASK} AND t.state IN ('queued', 'running') AND t.kind IN ({among}) ORDER BY t.number DESC LIMIT 1",
        (space.id, actor),
    )


_TASK = (
    f"SELECT t.id, t.kind, t.state NOT IN ('queued', 'running'), t.done, t.total, coalesce({_SEQ}, 0) FROM tasks t "
    "WHERE t.space_id = ? AND t.actor = ?"
)


def imported(space: SpaceRow, actor: str) -> Statement:
    """Select (number, seq, time) of the last import of an actor that is not undone.

    The seq is that of its last change, or that at which its task began.
    """
    return Statement(
        f"SELECT i.id, coalesce({_SEQ}, i.last), i.at FROM imports i LEFT JOIN tasks t ON t.id = i.token WHERE "
        "i.space_id = ? AND i.actor = ? AND i.undone IS NULL AND i.last IS NOT NULL ORDER BY i.last DESC LIMIT 1",
        (space.id, actor),
    )


def beside(space: SpaceRow, actor: str, since: int, actions: Iterable[str]) -> Statement:
    """Select (action, target) of an actor's last call after a time, of the `actions` that undo does not take back."""
    name, among = space.space.name, ", ".join(f"'{one}'" for one in actions)
    return Statement(
        "SELECT action, target FROM (SELECT * FROM (SELECT action, target, at FROM audit "
        "WHERE id > (SELECT coalesce(max(id), 0) - ? FROM audit) AND actor = ? AND at > ? "
        f"AND action IN ({among}) AND (space = ? OR space IS NULL OR action = 'space_forked' AND target = ?) "
        "AND NOT EXISTS (SELECT 1 FROM keys k WHERE k.id = target AND k.name GLOB ?) "
        "ORDER BY at DESC, action DESC LIMIT 1) "
        "UNION ALL SELECT 'checkpoint_created', name, created_at FROM checkpoints "
        "WHERE space_id = ? AND actor = ? AND created_at > ? "
        "UNION ALL SELECT 'probe_added', NULL, made_at FROM probes WHERE space_id = ? AND actor = ? AND made_at > ? "
        "UNION ALL SELECT 'feedback_given', NULL, given_at FROM feedback "
        "WHERE space_id = ? AND actor = ? AND given_at > ?) ORDER BY at DESC LIMIT 1",
        (AUDITED, actor, since, name, name, SESSIONS, *(space.id, actor, since) * 3),
    )
