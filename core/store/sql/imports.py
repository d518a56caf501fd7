"""The SQL of imports, which put lines into a staging space, then move them into the target space.

Staged memories have ids of 24 bytes, which no other memory has. Their versions are inserted at the change numbers of
the file. Moved versions get new row ids, because an index expects row ids to grow with `born`.
"""

from collections.abc import Iterator, Sequence

import msgspec

from muisti.core.model.places import place_of
from muisti.core.model.values import Memory
from muisti.core.store.database import Refusal, Scalar, Statement, refuse, slots
from muisti.core.store.sql import spaces
from muisti.core.store.sql.inserting import NewVersion, insert
from muisti.core.store.sql.spaces import AWAY, STAGING, SpaceRow
from muisti.core.store.sql.table import Table
from muisti.core.store.sql.tables import TABLES, copy_rows, named
from muisti.core.store.sql.version_rows import CURRENT, raw
from muisti.core.text.terms import fold

TOP = 1 << 53  # the seq of a staging space, above all numbers of a file
STALE_US = 3_600_000_000  # after which an import without progress counts as dead
CLEARED = 2_000  # versions deleted in one transaction


class Staged(msgspec.Struct, frozen=True):
    """An import in progress: its number, its staging space, and its target space."""

    id: int
    space: SpaceRow
    target: SpaceRow

    @property
    def mark(self) -> bytes:
        """Suffix that turns the id of a memory into the id of its staged copy."""
        return self.id.to_bytes(8, "big")

    def alias(self, memory_id: str) -> bytes:
        """Return the id of the staged copy of a memory."""
        return raw(memory_id) + self.mark


def begin(token: str, epoch: str, target: SpaceRow, actor: str, source: str | None, now: int) -> list[Statement]:
    """Make a staging space; the last two statements select its row id and the number of the import."""
    name = STAGING + token
    return [
        spaces.guard(target),
        Statement(
            "INSERT INTO spaces (name, epoch, seq, created_at, committed_at, settings) "
            "SELECT ?, ?, ?, ?, ?, settings FROM spaces WHERE id = ?",
            (name, epoch, TOP, now, now, target.id),
        ),
        Statement(
            "INSERT INTO imports (token, space_id, staging_id, source, actor, at) "
            "SELECT ?, ?, id, ?, ?, ? FROM spaces WHERE name = ?",
            (token, target.id, source, actor, now, name),
        ),
        Statement("SELECT id FROM spaces WHERE name = ?", (name,)),
        Statement("SELECT id FROM imports WHERE token = ?", (token,)),
    ]


def last_versions(target: SpaceRow, ids: Sequence[str]) -> Statement:
    """Select (memory id, is of this space, version, is not deleted, was deleted by undoing an import), one a memory."""
    return Statement(
        "SELECT v.memory_id, v.space_id = ?, v.version, v.died IS NULL, "
        "EXISTS (SELECT 1 FROM imports i WHERE i.space_id = v.space_id AND v.died > i.base AND v.died <= i.undone) "
        "FROM versions v "
        f"WHERE v.memory_id IN {slots(ids)} AND v.version = "
        "(SELECT max(n.version) FROM versions n WHERE n.memory_id = v.memory_id)",
        (target.id, *map(raw, ids)),
    )


def had_text(memory_id: str, kind: str, content_hash: bytes) -> Statement:
    """Select 1 when a version of a memory has this text, or is of another kind, as which it was imported before."""
    return Statement(
        "SELECT 1 FROM versions WHERE memory_id = ? AND (content_hash = ? OR kind <> ?) LIMIT 1",
        (raw(memory_id), content_hash, kind),
    )


def known_ids(staged: Staged, ids: Sequence[str]) -> Statement:
    """Select those ids that are staged already, each with the change of the file that has brought it first."""
    return Statement(
        f"SELECT substr(memory_id, 1, 16), min(born) FROM versions WHERE memory_id IN {slots(ids)} GROUP BY memory_id",
        tuple(map(staged.alias, ids)),
    )


def drop(staged: Staged, ids: Sequence[str]) -> list[Statement]:
    """Delete staged memories."""
    return [
        Statement(
            f"DELETE FROM versions WHERE +space_id = ? AND memory_id IN {slots(ids)}",
            (staged.space.id, *map(staged.alias, ids)),
        ),
        Statement(
            f"DELETE FROM changes WHERE space_id = ? AND memory_id IN {slots(ids)}", (staged.space.id, *map(raw, ids))
        ),
    ]


def holder(target: SpaceRow, memory: Memory) -> Statement:
    """Select the id of the current memory at the address of another."""
    assert memory.category is not None
    return Statement(
        "SELECT v.memory_id FROM versions v "
        f"WHERE v.space_id = ? AND v.category_folded = ? AND v.key = ? AND {CURRENT}",
        (target.id, fold(memory.category), memory.key),
    )


def at_place(target: SpaceRow, memory: Memory) -> Statement:
    """Select the id of the current memory at the place in the hierarchy of another, or of the superseded turn there."""
    own = "SELECT v.memory_id FROM versions v WHERE v.space_id = ? AND coalesce(v.category_folded, '') = ?"
    args = (target.id, fold(memory.category or ""))
    current = f"{own} AND v.place = ? AND {CURRENT} AND v.place IS NOT NULL"
    if memory.kind != "exchange":
        return Statement(current, (*args, place_of(memory)))
    superseded = (
        f"{own} AND v.conversation = ? AND v.kind = 'exchange' AND v.turn = ? AND v.died IS NULL "
        "AND v.status = 'superseded'"
    )
    named = (*args, place_of(memory), *args, memory.conversation, memory.turn)
    return Statement(f"{current} UNION ALL {superseded}", named)


def touch(staged: Staged, now: int) -> list[Statement]:
    """Record that the import makes progress; refuse with `no_space` when it was cleared as dead."""
    return [spaces.guard(staged.space), Statement("UPDATE imports SET at = ? WHERE id = ?", (now, staged.id))]


def stage(staged: Staged, new: NewVersion, born: int, died: int | None) -> Iterator[Statement]:
    """Insert a version into the staging space. The models of its vectors must be registered before."""
    me = staged.alias(new.memory.id)
    yield from insert(staged.space, new, TOP - born, alias=me)
    if died is not None:
        yield Statement(
            "UPDATE versions SET died = ? WHERE memory_id = ? AND version = ?", (died, me, new.memory.version)
        )


def stage_change(staged: Staged, seq: int, values: Sequence[Scalar]) -> Statement:
    """Insert a change; `values` are kind, memory id, version, committed_at, actor, request, undone."""
    return Statement(
        "INSERT INTO changes (space_id, seq, kind, memory_id, version, committed_at, actor, request, undone) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",  # a process that ended has staged it
        (staged.space.id, seq, *values),
    )


def stage_telemetry(staged: Staged, memory_id: str, count: int, last_at: int) -> Statement:
    """Record how often a staged memory was retrieved; do nothing for one that is not staged."""
    me = staged.alias(memory_id)
    return Statement(
        "INSERT INTO retrievals (space_id, memory_id, count, last_at) SELECT ?, ?, ?, ? "
        "WHERE EXISTS (SELECT 1 FROM versions WHERE memory_id = ?) "
        "ON CONFLICT (space_id, memory_id) DO UPDATE SET count = max(count, excluded.count), "
        "last_at = max(last_at, excluded.last_at)",
        (staged.space.id, me, count, last_at, me),
    )


def orphans(staged: Staged) -> Statement:
    """Select (id, parent id) of staged memories whose parent is neither staged nor in the space."""
    return Statement(
        f"SELECT substr(v.memory_id, 1, 16), v.parent_id FROM versions v WHERE {_ORPHAN} LIMIT 100",
        (staged.space.id, staged.mark, staged.target.id),
    )


def drop_orphans(staged: Staged) -> Statement:
    return Statement(
        f"DELETE FROM versions WHERE id IN (SELECT v.id FROM versions v WHERE {_ORPHAN})",
        (staged.space.id, staged.mark, staged.target.id),
    )


_ORPHAN = """v.space_id = ? AND v.died IS NULL AND v.parent_id IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM versions p WHERE p.memory_id = CAST(v.parent_id || ? AS BLOB) AND p.died IS NULL)
    AND NOT EXISTS (SELECT 1 FROM versions p WHERE p.memory_id = v.parent_id AND p.space_id = ? AND p.died IS NULL)"""


def sizes(staged: Staged) -> list[Statement]:
    """Count the staged memories that are not deleted, and the staged versions."""
    return [
        Statement("SELECT count(*) FROM versions WHERE space_id = ? AND died IS NULL", (staged.space.id,)),
        Statement("SELECT count(*) FROM versions WHERE space_id = ?", (staged.space.id,)),
    ]


def step_end(staged: Staged, after: int, versions: int) -> Statement:
    """Select the `born` of the last of the next `versions` staged versions after `after`."""
    return Statement(
        "SELECT max(born) FROM (SELECT born FROM versions WHERE space_id = ? AND born > ? ORDER BY born LIMIT ?)",
        (staged.space.id, after, versions),
    )


def move(
    staged: Staged, span: tuple[int, int], now: int, *, as_it_was: bool, tables: Sequence[Table] = TABLES
) -> list[Statement]:
    """Move the file's changes after `span[0]`, up to `span[1]`, into the target space.

    With `as_it_was`, changes keep the times of the file.
    """
    after, upto = span
    source, target = staged.space.id, staged.target.id
    among = "space_id = ? AND born > ? AND born <= ?"
    mine = (source, after, upto)
    version = {name: f"v.{name}" for name in named("versions").columns} | {
        "id": "v.id + i.shift",
        "space_id": "i.space_id",
        "memory_id": "substr(v.memory_id, 1, 16)",
        "born": "v.born + i.base",
        "died": "CASE WHEN v.died <= ? THEN v.died + i.base END",
    }
    change = {name: f"c.{name}" for name in named("changes").columns} | {
        "space_id": "i.space_id",
        "seq": "c.seq + i.base",
        "committed_at": "c.committed_at" if as_it_was else "s.committed_at",
        "undone": "c.undone + i.base",
        "import_id": "i.id",
    }
    return [
        Statement(
            f"UPDATE imports SET base = (SELECT seq FROM spaces WHERE id = ?) - ?, shift = 1 + (SELECT seq FROM "
            f"sqlite_sequence WHERE name = 'versions') - (SELECT min(id) FROM versions WHERE {among}) WHERE id = ?",
            (target, after, *mine, staged.id),
        ),
        Statement("UPDATE imports SET first = base + 1 WHERE id = ? AND first IS NULL", (staged.id,)),
        Statement(
            "UPDATE versions SET died = m.died FROM (SELECT substr(v.memory_id, 1, 16) AS memory_id, v.version, "
            "v.died + i.base AS died FROM versions v, imports i WHERE i.id = ? AND v.space_id = ? AND v.born <= ? "
            "AND v.died > ? AND v.died <= ?) m WHERE versions.memory_id = m.memory_id "
            "AND versions.version = m.version AND versions.died IS NULL",
            (staged.id, source, after, after, upto),
        ),
        Statement(
            f"INSERT INTO versions ({', '.join(version)}) SELECT {', '.join(version.values())} "
            "FROM versions v, imports i WHERE i.id = ? AND v.space_id = ? AND v.born > ? AND v.born <= ? "
            "ORDER BY v.born",
            (upto, staged.id, *mine),
        ),
        *(
            Statement(
                f"{copy_rows(table, f'h.{table.version} + i.shift')} FROM {table.name} h, imports i "
                f"WHERE i.id = ? AND h.{table.version} IN (SELECT id FROM versions WHERE {among})",
                (staged.id, *mine),
            )
            for table in tables
            if table.moving == "with_version"
        ),
        Statement(
            "INSERT INTO retrievals (space_id, memory_id, count, last_at) "
            "SELECT i.space_id, substr(r.memory_id, 1, 16), r.count, r.last_at FROM retrievals r, imports i "
            "WHERE i.id = ? AND r.space_id = ? AND EXISTS (SELECT 1 FROM versions v WHERE v.memory_id = r.memory_id "
            "AND v.space_id = r.space_id AND v.born > ? AND v.born <= ?) "
            "ON CONFLICT (space_id, memory_id) DO UPDATE SET count = max(count, excluded.count), "
            "last_at = max(last_at, excluded.last_at)",
            (staged.id, *mine),
        ),
        Statement(
            "UPDATE spaces SET seq = seq + ?, committed_at = max(committed_at, ?, coalesce((SELECT max(committed_at) "
            "FROM changes WHERE space_id = ? AND seq <= ? AND ?), 0)) WHERE id = ?",
            (upto - after, now, source, upto, as_it_was, target),
        ),
        Statement(
            f"INSERT INTO changes ({', '.join(change)}) SELECT {', '.join(change.values())} FROM changes c, imports i, "
            "spaces s WHERE i.id = ? AND s.id = i.space_id AND c.space_id = ? AND c.seq > ? AND c.seq <= ?",
            (staged.id, *mine),
        ),
        Statement(
            "UPDATE imports SET moved = ?, at = ?, last = (SELECT seq FROM spaces WHERE id = ?) WHERE id = ?",
            (upto, now, target, staged.id),
        ),
        Statement("SELECT seq FROM spaces WHERE id = ?", (target,)),
    ]


def take_over(staged: Staged, epoch: str, settings: str, created_at: int, kept_from: int) -> list[Statement]:
    """Give an empty target space the settings and the creation time of the file's space, and a new epoch.

    Refuse with `stale` when it is no longer empty.
    """
    return [
        Statement(
            f"{refuse(Refusal.STALE)} WHERE NOT EXISTS (SELECT 1 FROM spaces WHERE id = ? AND seq = 0)",
            (staged.target.id,),
        ),
        Statement(
            "UPDATE spaces SET epoch = ?, settings = ?, created_at = min(created_at, ?), kept_from = ? WHERE id = ?",
            (epoch, settings, created_at, kept_from, staged.target.id),
        ),
    ]


def clear(staging_id: int) -> list[Statement]:
    """Delete a batch of staged rows; the last statement selects 1 while versions are left, else 0."""
    return [
        Statement(
            "DELETE FROM versions WHERE id IN (SELECT id FROM versions WHERE space_id = ? LIMIT ?)",
            (staging_id, CLEARED),
        ),
        Statement(
            "DELETE FROM changes WHERE space_id = ? AND seq IN (SELECT seq FROM changes WHERE space_id = ? LIMIT ?)",
            (staging_id, staging_id, 2 * CLEARED),
        ),
        Statement("SELECT count(*) FROM (SELECT 1 FROM versions WHERE space_id = ? LIMIT 1)", (staging_id,)),
    ]


def end(staging_id: int, memories: int | None) -> list[Statement]:
    """Delete the staging space. Keep the import when it brought `memories`; delete it when they are None."""
    done = Statement(
        "UPDATE imports SET staging_id = NULL, shift = NULL, base = NULL, memories = ? WHERE staging_id = ?",
        (memories, staging_id),
    )
    freed = Statement(  # the next import reuses the number of one that brought nothing
        "UPDATE sqlite_sequence SET seq = seq - 1 WHERE name = 'imports' "
        "AND seq = (SELECT id FROM imports WHERE staging_id = ?)",
        (staging_id,),
    )
    nothing = Statement("DELETE FROM imports WHERE staging_id = ?", (staging_id,))
    over = [freed, nothing] if memories is None else [done]
    return [*over, Statement("DELETE FROM spaces WHERE id = ?", (staging_id,))]


def dead(now: int) -> Statement:
    """Select (staging space, last moved change or 0) of imports that nobody goes on with.

    Those are imports without progress for `STALE_US`, and those of a task that has ended.
    """
    task = f"EXISTS (SELECT 1 FROM tasks t WHERE s.name = '{STAGING}' || t.id AND t.ended_at IS {{}})"
    return Statement(
        "SELECT s.id, coalesce(i.moved, 0) FROM spaces s LEFT JOIN imports i ON i.staging_id = s.id "
        f"WHERE s.name LIKE '{STAGING}%' AND s.name NOT LIKE '{AWAY}%' AND ({task.format('NOT NULL')} OR "
        f"(coalesce(i.at, 0) < ? AND NOT {task.format('NULL')}))",
        (now - STALE_US,),
    )


def of_token(token: str) -> Statement:
    """Select (staging space, last moved change) of the unfinished import with a token."""
    return Statement("SELECT staging_id, moved FROM imports WHERE token = ? AND staging_id IS NOT NULL", (token,))


def left_behind(token: str) -> Statement:
    """Select (number, staging space) of the import with a token whose process has ended before it moved anything."""
    return Statement(
        "SELECT id, staging_id FROM imports WHERE token = ? AND staging_id IS NOT NULL AND moved = 0", (token,)
    )


def keep(token: str, now: int) -> list[Statement]:
    """Let an import that was left behind count as one in progress, and give an ended one of the token another token."""
    return [
        Statement("UPDATE imports SET at = ? WHERE token = ? AND staging_id IS NOT NULL", (now, token)),
        Statement("UPDATE imports SET token = token || ' ' || id WHERE token = ? AND staging_id IS NULL", (token,)),
    ]


def staged_between(staged: Staged, first: int, last: int) -> Statement:
    """Select (change of the file, staged memory id, passages) of the versions staged for a span of changes."""
    return Statement(
        "SELECT born, memory_id, (SELECT count(*) FROM passages p WHERE p.version_id = v.id) FROM versions v "
        "WHERE space_id = ? AND born BETWEEN ? AND ?",
        (staged.space.id, first, last),
    )


def drop_changes(staged: Staged, born: Sequence[int]) -> list[Statement]:
    """Delete what is staged for these changes of the file."""
    mine = (staged.space.id, *born)
    return [
        Statement(f"DELETE FROM versions WHERE space_id = ? AND born IN {slots(born)}", mine),
        Statement(f"DELETE FROM changes WHERE space_id = ? AND seq IN {slots(born)}", mine),
    ]


def drop_after(space_id: int, last: int) -> list[Statement]:
    """Delete what is staged of the file's changes after `last`."""
    return [
        Statement("DELETE FROM versions WHERE space_id = ? AND born > ?", (space_id, last)),
        Statement("DELETE FROM changes WHERE space_id = ? AND seq > ?", (space_id, last)),
    ]


def of_space(space: SpaceRow) -> Statement:
    """Select (staging space, last moved change) of unfinished imports into a space."""
    return Statement("SELECT staging_id, moved FROM imports WHERE space_id = ? AND staging_id IS NOT NULL", (space.id,))


def holding(space: SpaceRow, where: str, args: Sequence[Scalar]) -> Statement:
    """Select (staging space, last moved change) of unfinished imports that staged a version `v` which meets `where`."""
    return Statement(
        "SELECT staging_id, moved FROM imports i WHERE space_id = ? AND EXISTS "
        f"(SELECT 1 FROM versions v WHERE v.space_id = i.staging_id AND ({where}))",
        (space.id, *args),
    )


def disown(staging_id: int) -> Statement:
    """Give a staging space another epoch, so that its import is refused from now on."""
    return Statement("UPDATE spaces SET epoch = lower(hex(randomblob(16))) WHERE id = ?", (staging_id,))


def known(space: SpaceRow) -> Statement:
    """Select (id, source, actor, at, memories, first, last, undone) of the imports of a space, newest first."""
    return Statement(
        "SELECT id, source, actor, at, memories, first, last, undone FROM imports "
        "WHERE space_id = ? AND last IS NOT NULL ORDER BY id DESC LIMIT 100",
        (space.id,),
    )
