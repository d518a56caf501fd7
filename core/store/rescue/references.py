"""Makes what was salvaged of a database hold together: what points to nothing goes, what can be counted is counted.

Nothing is made up. Where two rows contradict each other and one of them is a memory's, that memory is lost.
"""

import secrets
import uuid
from collections.abc import Callable, Sequence
from typing import cast

import apsw

from muisti.core.model.fields import LINKS
from muisti.core.model.spaces import SpaceSettings
from muisti.core.store.backup import renew_epochs
from muisti.core.store.sql.spaces import COUNTED, settings_text
from muisti.core.store.sql.table import Table
from muisti.core.store.sql.tables import TABLES

Lose = Callable[[bytes, int, str], None]  # the memory, which version of it, and why
Note = Callable[[str], None]

_GONE = "what it was followed by is lost, and so when it ended"


def settle(
    target: apsw.Connection,
    lose: Lose,
    note: Note,
    now: int,
    *,
    keys_lost: bool,
    tables: Sequence[Table] = TABLES,
) -> None:
    """`lose` is told of versions that do not stay, `note` of what was decided; `keys_lost`: keys may be missing."""
    _name_spaces(target, note, now)
    _check_births(target, lose)
    _check_deaths(target, lose)
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
    """Spaces whose rows are lost: their names stand in an index too, their settings nowhere."""
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
        note(f"the space {name} has the usual settings and no policy: its own are lost")


def _check_births(target: apsw.Connection, lose: Lose) -> None:
    """The change at which a version was born names it."""
    _drop(
        target,
        "SELECT v.id, v.memory_id, v.version FROM versions v JOIN changes c ON c.space_id = v.space_id "
        "AND c.seq = v.born WHERE c.memory_id <> substr(v.memory_id, 1, 16) OR c.version <> v.version",
        lose,
        "the history has another change where it should have been made",
    )


def _check_deaths(target: apsw.Connection, lose: Lose) -> None:
    """The change at which a version died is one of its memory; a later version tells when that was."""
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
    """Links to memories that are not there; nobody can tell those that were altered from those to what is lost."""
    gone = 0
    for link in LINKS:
        target.execute(
            f"UPDATE versions SET {link} = NULL WHERE {link} IS NOT NULL "
            f"AND {link} NOT IN (SELECT memory_id FROM versions)"
        )
        gone += target.changes()
    if gone:
        note(f"{gone:,} links between memories led nowhere and are gone")


def _drop_strays(target: apsw.Connection, note: Note, tables: Sequence[Table]) -> None:
    """What belongs to a row that is lost is lost with it; a space that is left without its model can have another."""
    target.execute("UPDATE spaces SET generation_id = NULL WHERE generation_id NOT IN (SELECT id FROM generations)")
    for table in tables:
        if table.salvaging == "with_memory":
            for column in table.memories:
                target.execute(f"DELETE FROM {table.name} WHERE {column} NOT IN (SELECT memory_id FROM versions)")
    counts: dict[str, int] = {}
    while strays := _strays(target):
        for table, gone in strays:
            counts[table] = counts.get(table, 0) + gone
    for table, count in sorted(counts.items()):
        note(f"{table}: {count:,} rows belonged to what is lost")


def _strays(target: apsw.Connection) -> list[tuple[str, int]]:
    """Delete the rows that belong to nothing, a table at a time; some may then be left that belonged to these."""
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
    """What rows of a table belong to: each parent, by which columns, and which are that's."""
    asked = 'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq'
    rows = cast(list[tuple[int, str, str, str]], target.execute(asked, (table,)).fetchall())
    found: dict[int, tuple[str, list[str], list[str]]] = {}
    for number, parent, mine, theirs in rows:
        _, own, others = found.setdefault(number, (parent, [], []))
        own.append(mine)
        others.append(theirs)
    return list(found.values())


def _count(target: apsw.Connection, note: Note) -> None:
    """Counters, and the last change of each space."""
    memory_count, byte_count = COUNTED
    asked = f"SELECT name, memories, {memory_count} AS here FROM spaces WHERE memories > here ORDER BY 1"
    for name, before, here in target.execute(asked).fetchall():
        note(f"the space {name} had {before:,} memories, {here:,} are here")
    target.execute(
        f"UPDATE spaces SET memories = {memory_count}, bytes = {byte_count}, seq = max(seq, "
        "(SELECT coalesce(max(c.seq), 0) FROM changes c WHERE c.space_id = spaces.id), "
        "(SELECT coalesce(max(max(v.born, coalesce(v.died, 0))), 0) FROM versions v WHERE v.space_id = spaces.id))"
    )


def _lock(target: apsw.Connection, note: Note, now: int, *, keys_lost: bool) -> None:
    """Who once needed a key still needs one, also when none could be read."""
    if not keys_lost or target.execute("SELECT 1 FROM keys LIMIT 1").fetchall():
        return
    target.execute(
        "INSERT INTO keys (id, hash, name, scopes, spaces, created_at, revoked_at) VALUES (?, ?, ?, '[]', '[]', ?, ?)",
        (secrets.token_hex(6), secrets.token_bytes(32), "lost in a repair", now, now),
    )
    note("keys may be lost: the server asks for one (`muisti keys create`)")
