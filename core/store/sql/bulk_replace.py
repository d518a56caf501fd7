"""The SQL of bulk replace: many memories take the content of other versions, in a dozen statements for any number.

The table `turns` holds the plan while the batch runs. Vectors, terms and passages are copied, not computed again.
"""

from collections.abc import Iterator, Sequence

from msgspec import structs

from muisti.core.identity.caller import Caller
from muisti.core.model.choices import ChangeKind
from muisti.core.model.fields import FIELDS, columns
from muisti.core.store.database import Refusal, Statement, refuse
from muisti.core.store.sql.inserting import NewVersion, insert
from muisti.core.store.sql.spaces import STAGING, SpaceRow
from muisti.core.store.sql.tables import copy_rows, parts
from muisti.core.store.sql.version_rows import raw

# Columns that a caller stated or that are derived from those, which a copy repeats.
SAID = ", ".join(columns(field for field in FIELDS if field.repeated))
_NEW = "turns t JOIN versions n ON n.memory_id = t.memory_id AND n.version = t.version + 1 AND t.source IS NOT NULL"


def same(one: str, other: str) -> str:
    """Return the condition that two versions have the same content."""
    return " AND ".join(f"{one}.{name} IS {other}.{name}" for name in SAID.split(", "))


def back_to(space: SpaceRow, seq: int) -> Statement:
    """Plan that all memories that changed after a change get back the state that they had at that change."""
    return Statement(
        f"""INSERT INTO turns (memory_id, version, living, source)
        SELECT l.memory_id, l.version, l.died IS NULL, w.id FROM (
            SELECT memory_id FROM versions WHERE space_id = ? AND born > ?
            UNION SELECT memory_id FROM versions WHERE space_id = ? AND died > ?
        ) m
        JOIN versions l ON l.memory_id = m.memory_id AND l.space_id = ?
            AND l.version = (SELECT max(version) FROM versions WHERE memory_id = m.memory_id)
        LEFT JOIN versions w ON w.memory_id = m.memory_id AND w.space_id = ?
            AND w.born <= ? AND (w.died IS NULL OR w.died > ?)
        WHERE CASE WHEN w.id IS NULL THEN l.died IS NULL ELSE l.died IS NOT NULL OR NOT ({same("l", "w")}) END
        ORDER BY m.memory_id""",
        (space.id, seq) * 2 + (space.id, space.id, seq, seq),
    )


def end_all(space: SpaceRow, most: int) -> Statement:
    """Plan that all current memories end, at most so many."""
    return Statement(
        "INSERT INTO turns (memory_id, version, living, source) SELECT memory_id, version, 1, NULL FROM versions "
        "WHERE space_id = ? AND died IS NULL ORDER BY memory_id LIMIT ?",
        (space.id, most),
    )


def advance(space: SpaceRow, now: int) -> list[Statement]:
    """Advance the space's seq by the number of rows in `turns`; the last statement selects the new seq."""
    return [
        Statement(
            "UPDATE spaces SET seq = seq + (SELECT count(*) FROM turns), committed_at = max(committed_at, ?) "
            "WHERE id = ?",
            (now, space.id),
        ),
        Statement("SELECT seq FROM spaces WHERE id = ?", (space.id,)),
    ]


def take(space: SpaceRow, kind: ChangeKind, caller: Caller, now: int) -> list[Statement]:
    """Run the plan, each row as a change of its own. Versions end first, so that an address may move to another."""
    born = "s.seq - (SELECT count(*) FROM turns) + t.number"
    said = ", ".join(f"w.{name}" for name in SAID.split(", "))
    return [
        Statement(
            f"UPDATE versions SET died = {born} FROM turns t, spaces s "
            "WHERE versions.memory_id = t.memory_id AND versions.died IS NULL AND s.id = ?",
            (space.id,),
        ),
        Statement(
            f"""INSERT INTO versions (space_id, memory_id, version, born, created_at, updated_at, checksum, {SAID})
            SELECT s.id, t.memory_id, t.version + 1, {born}, w.created_at, max(?, coalesce(l.updated_at, 0)),
            w.checksum - w.updated_at + max(?, coalesce(l.updated_at, 0)), {said}
            FROM turns t JOIN versions w ON w.id = t.source JOIN spaces s ON s.id = ?
            LEFT JOIN versions l ON l.memory_id = t.memory_id AND l.version = t.version ORDER BY t.number""",
            (now, now, space.id),
        ),
        *_copy_parts(),
        Statement(
            "INSERT INTO changes (space_id, seq, kind, memory_id, version, committed_at, actor, request) "
            f"SELECT s.id, {born}, ?, t.memory_id, t.version + (t.source IS NOT NULL), s.committed_at, ?, ? "
            "FROM turns t, spaces s WHERE s.id = ?",
            (kind, caller.actor, caller.request, space.id),
        ),
    ]


def tally() -> list[Statement]:
    """Count the memories that are added or restored, that change, and that end."""
    return [
        Statement("SELECT count(*) FROM turns WHERE NOT living AND source IS NOT NULL"),
        Statement("SELECT count(*) FROM turns WHERE living AND source IS NOT NULL"),
        Statement("SELECT count(*) FROM turns WHERE source IS NULL"),
    ]


def clear() -> Statement:
    return Statement("DELETE FROM turns")


def _copy_parts() -> list[Statement]:
    return [
        Statement(f"{copy_rows(table, 'n.id')} FROM {_NEW} JOIN {table.name} h ON h.{table.version} = t.source")
        for table in parts()
    ]


# The SQL that stores some versions of a bulk replace differently from their sources.
#
# They go into a temporary space inside the transaction, with ids that no memory has, and are copied from there.

HIDDEN = -1  # row id of the temporary space; SQLite counts up from 1
MARK = b"arrivals"  # suffix of an id, which keeps it apart from the id of the memory
TOP = 1 << 53


def planned() -> Statement:
    """Select (row of the version that a memory is to become, row of its current version or null), by memory."""
    return Statement(
        "SELECT t.source, v.id FROM turns t LEFT JOIN versions v ON v.memory_id = t.memory_id AND v.died IS NULL "
        "AND v.status <> 'superseded' WHERE t.source IS NOT NULL ORDER BY t.number"
    )


def refuse_others(rows: Sequence[tuple[int, int | None]]) -> Statement:
    """Refuse with `stale` when the plan copies other versions than these."""
    return Statement(
        f"{refuse(Refusal.STALE)} WHERE (SELECT count(*) FROM turns WHERE source IS NOT NULL) <> ? "
        "OR (SELECT coalesce(sum(source), 0) FROM turns) <> ?",
        (len(rows), sum(source for source, _ in rows)),
    )


def begin_arrivals(space: SpaceRow) -> list[Statement]:
    """Create the temporary space, which the batch deletes again."""
    return [
        Statement(
            "INSERT INTO spaces (id, name, epoch, seq, created_at, committed_at, settings) "
            "SELECT ?, ?, lower(hex(randomblob(16))), ?, 0, 0, settings FROM spaces WHERE id = ?",
            (HIDDEN, f"{STAGING}arrivals", TOP, space.id),
        )
    ]


def instead(space: SpaceRow, source: int, new: NewVersion, number: int) -> Iterator[Statement]:
    """Make the plan copy `new` in place of the version in row `source`; `number` counts the calls of a batch."""
    alias = raw(new.memory.id) + MARK
    yield from insert(structs.replace(space, id=HIDDEN), new, number, alias=alias)
    yield Statement(
        "UPDATE turns SET source = (SELECT id FROM versions WHERE memory_id = ? AND version = ?) WHERE source = ?",
        (alias, new.memory.version, source),
    )


def clear_arrivals() -> list[Statement]:
    """Delete the temporary space with all its versions."""
    return [
        Statement("DELETE FROM versions WHERE space_id = ?", (HIDDEN,)),
        Statement("DELETE FROM spaces WHERE id = ?", (HIDDEN,)),
    ]
