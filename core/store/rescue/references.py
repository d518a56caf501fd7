"""Repairs references in a salvaged database: drops rows whose parents are lost, and recomputes counters.

Nothing is invented. Where two rows contradict each other and one of them is a version of a memory, it is lost.
"""

import secrets
import uuid
from collections.abc import Callable, Sequence
from typing import cast

import apsw

from muisti.core.model.fields import LINKS
from muisti.core.model.spaces import SpaceSettings
from muisti.core.store.backup import renew_epochs
from muisti.core.store.sql.spaces import COUNTED, COUNTING, settings_text
from muisti.core.store.sql.table import Table
from muisti.core.store.sql.tables import TABLES

Lose = Callable[[bytes, int, str], None]  # takes the memory's id, the version, and the reason
Note = Callable[[str], None]

_GONE = "the next version is lost, and with it the time when this one ended"


def settle(
    target: apsw.Connection,
    lose: Lose,
    note: Note,
    now: int,
    *,
    keys_lost: bool,
    tables: Sequence[Table] = TABLES,
) -> None:
    """Repair all references. `lose` is called for each lost version, `note` for each decision.

    With `keys_lost`, rows of the table of keys may be missing.
    """
    _name_spaces(target, note, now)
    _check_births(target, lose)
    _check_ends(target, lose)
    target.execute("DELETE FROM versions WHERE (space_id, id) IN (SELECT space_id, version_id FROM erased)")
    _unlink(target, note)
    _drop_strays(target, note, tables)
    _count(target, note)
    _lock(target, note, now, keys_lost=keys_lost)
    renew_epochs(target)
    for memory_id, version in target.execute(
        "SELECT memory_id, version FROM listed WHERE length(memory_id) = 16 "
        "EXCEPT SELECT memory_id, version FROM versions ORDER BY 1, 2"
    ).fetchall():
        lose(cast(bytes, memory_id), cast(int, version), "the page that it was on cannot be read")


def _name_spaces(target: apsw.Connection, note: Note, now: int) -> None:
    """Restore spaces whose rows are lost: an index may have their names, but nothing has their settings."""
    missing = target.execute(
        "SELECT m.space_id, n.name FROM (SELECT DISTINCT space_id FROM versions UNION SELECT space_id FROM changes) m "
        "LEFT JOIN named n ON n.id = m.space_id WHERE m.space_id NOT IN (SELECT id FROM spaces)"
    ).fetchall()
    for space_id, known in missing:
        name = known or f"recovered-{space_id}"
        target.execute(
            "INSERT INTO spaces (id, name, epoch, created_at, committed_at, settings) VALUES (?, ?, ?, ?, ?, ?)",
            (space_id, name, str(uuid.uuid4()), now, now, settings_text(SpaceSettings())),
        )
        note(f"the space {name} has default settings and no policy: its own are lost")


def _check_births(target: apsw.Connection, lose: Lose) -> None:
    """Drop versions that contradict the change at which they were inserted."""
    _drop(
        target,
        "SELECT v.id, v.memory_id, v.version FROM versions v JOIN changes c ON c.space_id = v.space_id "
        "AND c.seq = v.born WHERE c.memory_id <> substr(v.memory_id, 1, 16) OR c.version <> v.version",
        lose,
        "the history has another change where it should have been made",
    )


def _check_ends(target: apsw.Connection, lose: Lose) -> None:
    """End versions where their successors begin, and drop those whose end contradicts the changes."""
    target.execute(
        "UPDATE versions SET died = n.born FROM versions n WHERE n.memory_id = versions.memory_id "
        "AND n.version = versions.version + 1 AND (versions.died IS NULL OR versions.died > n.born)"
    )
    _drop(
        target,
        "SELECT v.id, v.memory_id, v.version FROM versions v JOIN changes c ON c.space_id = v.space_id "
        "AND c.seq = v.died WHERE c.memory_id <> substr(v.memory_id, 1, 16)",
        lose,
        "the history has another change where it should have ended",
    )
    _drop(
        target,
        "SELECT v.id, v.memory_id, v.version FROM versions v WHERE v.died IS NULL AND EXISTS (SELECT 1 FROM changes c "
        "WHERE c.space_id = v.space_id AND c.memory_id = v.memory_id AND c.seq > v.born)",
        lose,
        _GONE,
    )
    _drop(
        target,
        "SELECT id, memory_id, version FROM versions WHERE died <= born",
        lose,
        "it ends before it begins",
    )


def _drop(target: apsw.Connection, asked: str, lose: Lose, why: str) -> None:
    for row_id, memory_id, version in target.execute(asked).fetchall():
        target.execute("DELETE FROM versions WHERE id = ?", (row_id,))
        lose(cast(bytes, memory_id), cast(int, version), why)


def _unlink(target: apsw.Connection, note: Note) -> None:
    """Clear links to memories that are missing; a damaged link looks like a link to a lost memory."""
    gone = 0
    for link in LINKS:
        target.execute(
            f"UPDATE versions SET {link} = NULL WHERE {link} IS NOT NULL "
            f"AND {link} NOT IN (SELECT memory_id FROM versions)"
        )
        gone += target.changes()
    if gone:
        note(f"{gone:,} links to missing memories were cleared")


def _drop_strays(target: apsw.Connection, note: Note, tables: Sequence[Table]) -> None:
    """Delete rows whose parents are lost. A space whose model is lost becomes free to use another."""
    for column in ("generation_id", "second_generation_id"):
        target.execute(f"UPDATE spaces SET {column} = NULL WHERE {column} NOT IN (SELECT id FROM generations)")
    for table in tables:
        if table.salvaging == "with_memory":
            for column in table.memories:
                target.execute(f"DELETE FROM {table.name} WHERE {column} NOT IN (SELECT memory_id FROM versions)")
    counts: dict[str, int] = {}
    while strays := _strays(target):
        for table, gone in strays:
            counts[table] = counts.get(table, 0) + gone
    for table, count in sorted(counts.items()):
        note(f"{table}: {count:,} rows referred to lost rows")


def _strays(target: apsw.Connection) -> list[tuple[str, int]]:
    """Delete rows without a parent, and count them by table. Rows that refer to these may remain for another call."""
    found: list[tuple[str, int]] = []
    tables = target.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall()
    for (table,) in tables:
        for parent, own, others in _parents(target, str(table)):
            matching = " AND ".join(f"c.{mine} = p.{theirs}" for mine, theirs in zip(own, others, strict=True))
            present = " AND ".join(f"c.{mine} IS NOT NULL" for mine in own)
            target.execute(
                f"DELETE FROM {table} AS c WHERE {present} AND NOT EXISTS (SELECT 1 FROM {parent} p WHERE {matching})"
            )
            if gone := target.changes():
                found.append((str(table), gone))
    return found


def _parents(target: apsw.Connection, table: str) -> list[tuple[str, list[str], list[str]]]:
    """Return the foreign keys of a table: parent, the table's columns, and the parent's columns."""
    asked = 'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq'
    rows = cast(list[tuple[int, str, str, str]], target.execute(asked, (table,)).fetchall())
    found: dict[int, tuple[str, list[str], list[str]]] = {}
    for number, parent, mine, theirs in rows:
        _, own, others = found.setdefault(number, (parent, [], []))
        own.append(mine)
        others.append(theirs)
    return list(found.values())


def _count(target: apsw.Connection, note: Note) -> None:
    """Recompute the counters of each space, and its seq."""
    asked = f"SELECT name, memories, {COUNTED['memories']} AS here FROM spaces WHERE memories > here ORDER BY 1"
    for name, before, here in target.execute(asked).fetchall():
        note(f"the space {name} had {before:,} memories, {here:,} are here")
    target.execute(
        f"UPDATE spaces SET {COUNTING}, seq = max(seq, "
        "(SELECT coalesce(max(c.seq), 0) FROM changes c WHERE c.space_id = spaces.id), "
        "(SELECT coalesce(max(max(v.born, coalesce(v.died, 0))), 0) FROM versions v WHERE v.space_id = spaces.id))"
    )


def _lock(target: apsw.Connection, note: Note, now: int, *, keys_lost: bool) -> None:
    """Add a revoked key when none could be read, so that a server that needed keys still asks for one."""
    if not keys_lost or target.execute("SELECT 1 FROM keys LIMIT 1").fetchall():
        return
    target.execute(
        "INSERT INTO keys (id, hash, name, scopes, spaces, created_at, revoked_at) VALUES (?, ?, ?, '[]', '[]', ?, ?)",
        (secrets.token_hex(6), secrets.token_bytes(32), "lost in a repair", now, now),
    )
    note("keys may be lost: the server now requires one (`muisti keys create`)")
