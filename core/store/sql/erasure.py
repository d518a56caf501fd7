"""The SQL of erasing memories, and of checks whether anything is left of them."""

import json
from collections.abc import Callable, Mapping, Sequence

from muisti.core.identity.caller import Caller
from muisti.core.model.ids import id_text
from muisti.core.store.database import Refusal, Statement, refuse
from muisti.core.store.sql import index_rows
from muisti.core.store.sql import table as overwriting
from muisti.core.store.sql.erasure_selection import Condition
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.table import Table
from muisti.core.store.sql.tables import TABLES, of_versions, parts
from muisti.core.store.sql.version_rows import IDS, id_list

_ROWS = "(SELECT value FROM json_each(?))"
_ANY = "EXISTS (SELECT 1 FROM json_each(?) j WHERE instr(CAST(answer AS TEXT), j.value))"
_CUT = "json_remove(CAST(answer AS TEXT), '$.similar')"  # padded with blanks, so that it is written in place
_BLANK = "answer = zeroblob(length(answer))"  # the answer was overwritten
_VERSIONS = f"SELECT id FROM versions WHERE +space_id = ? AND memory_id IN {IDS}"
_UNNAMED = (
    "NOT EXISTS (SELECT 1 FROM mentions m WHERE m.entity_id = entities.id) "
    "AND NOT EXISTS (SELECT 1 FROM aliases a WHERE a.alias_id = entities.id)"
)


def of_memory(space: SpaceRow, memory_id: bytes) -> Statement:
    """Select (version row id, memory id, category, document where current) of every version of a memory."""
    return Statement(
        "SELECT id, memory_id, category, CASE WHEN died IS NULL THEN document END FROM versions "
        "WHERE memory_id = ? AND space_id = ? ORDER BY version",
        (memory_id, space.id),
    )


def was_erased(space: SpaceRow, memory_id: bytes) -> Statement:
    """Select a row when the memory was erased before."""
    return Statement(
        "SELECT 1 FROM changes WHERE space_id = ? AND kind = 'erased' AND memory_id = ? LIMIT 1", (space.id, memory_id)
    )


def since(space: SpaceRow, number: int) -> list[Statement]:
    """Select (id, change) of the memories that were erased after a change, and the row ids of their versions."""
    return [
        Statement(
            "SELECT memory_id, seq FROM changes WHERE space_id = ? AND seq > ? AND kind = 'erased' "
            "AND memory_id IS NOT NULL",
            (space.id, number),
        ),
        Statement("SELECT version_id FROM erased WHERE space_id = ? AND seq > ?", (space.id, number)),
    ]


def known(space: SpaceRow, memories: Sequence[bytes], tables: Sequence[Table] = TABLES) -> list[Statement]:
    """Select (version row id, memory id, born) of the versions of memories; then a count for each of `tables.parts`."""
    args = (space.id, id_list(memories))
    return [
        Statement(f"SELECT id, memory_id, born FROM versions WHERE id IN ({_VERSIONS}) ORDER BY id", args),
        *(
            Statement(f"SELECT count(*) FROM {table.name} WHERE {table.version} IN ({_VERSIONS})", args)
            for table in parts(tables)
        ),
    ]


def names(space: SpaceRow, memories: Sequence[bytes]) -> Statement:
    """Count the entities that these memories mention, and no other memory does."""
    where, args = _only_theirs(space, id_list(memories))
    return Statement(f"SELECT count(*) FROM entities WHERE {where}", args)


def rebuild_names() -> Statement:
    """Write the indexes of all names again. SQLite leaves copies of keys where it has balanced an index.

    Names are too short to be found by a search of free space. On a file the old pages are overwritten with zeros. A
    server takes most of them for the new indexes, and the others keep their bytes until they are used again.
    """
    return Statement("REINDEX entities")


def texts(space: SpaceRow, memories: Sequence[bytes], tables: Sequence[Table] = TABLES) -> list[Statement]:
    """Select the texts and bytes of memories that must not remain in free space."""
    wanted = [table for table in tables if table.sought]
    return [
        Statement(f"SELECT {', '.join(table.sought)} FROM {table.name} WHERE {where}", args)
        for table in wanted
        for where, args in [_theirs(table, space, memories)]
    ]


def refuse_other(space: SpaceRow, memories: Sequence[bytes], versions: Sequence[int]) -> Statement:
    """Refuse with `stale` unless exactly these are the versions of the memories."""
    return Statement(
        f"{refuse(Refusal.STALE)} WHERE (SELECT coalesce(json_group_array(id), '[]') FROM (SELECT id FROM "
        f"versions WHERE +space_id = ? AND memory_id IN {IDS} ORDER BY id)) <> json(?)",
        (space.id, id_list(memories), json.dumps(list(versions))),
    )


def erase(
    space: SpaceRow, memories: Sequence[bytes], caller: Caller, tables: Sequence[Table] = TABLES
) -> list[Statement]:
    """Erase memories with all dependent rows, and the answers to requests that show them.

    Each is a change of its own, the last at the space's seq.
    """
    recorded = [
        Statement(
            "INSERT INTO changes (space_id, seq, kind, memory_id, version, committed_at, actor, request) "
            "SELECT id, seq - ?, 'erased', ?, NULL, committed_at, ?, ? FROM spaces WHERE id = ?",
            (offset, memory, caller.actor, caller.request, space.id),
        )
        for offset, memory in enumerate(reversed(memories))
    ]
    gone: list[Statement] = []
    for table in reversed(tables):  # while versions exist, they show which rows of other tables are theirs
        if table.name == "requests":
            gone += forget_answers(space, memories)
        elif table.erasing in ("deleted", "stated"):
            where, args = _theirs(table, space, memories)
            gone.append(Statement(f"DELETE FROM {table.name} WHERE {where}", args))
    return [
        Statement(
            "INSERT INTO erased SELECT v.space_id, s.seq, v.id, v.born FROM versions v "
            f"JOIN spaces s ON s.id = v.space_id WHERE +v.space_id = ? AND v.memory_id IN {IDS}",
            (space.id, id_list(memories)),
        ),
        *recorded,
        *gone,
    ]


def overwrite(space: SpaceRow, memories: Sequence[bytes], tables: Sequence[Table] = TABLES) -> list[Statement]:
    """Overwrite all that `erase` deletes, in the same transaction, on servers that keep deleted bytes."""
    return [
        statement
        for table in tables
        if table.wipes
        for statement in overwriting.over(table, *_theirs(table, space, memories))
    ]


def overwrite_space(space: SpaceRow, tables: Sequence[Table] = TABLES) -> list[Statement]:
    """Overwrite all that `erase_space` deletes, in the same transaction."""
    return [
        statement for table in tables if table.wipes for statement in overwriting.over(table, *_in_space(table, space))
    ]


def erase_space(space: SpaceRow, epoch: str | None, now: int) -> list[Statement]:
    """Erase a space with all its rows and answers. With an `epoch`, make an empty one with its name and settings."""
    gone = [
        Statement("DELETE FROM requests WHERE seq >= ? AND seq < ?", _answers_of(space)),
        Statement("DELETE FROM spaces WHERE id = ?", (space.id,)),
    ]
    if epoch is None:
        return gone
    return [
        Statement(
            "INSERT INTO spaces (name, epoch, created_at, committed_at, settings, policy) "
            "SELECT '', ?, ?, ?, settings, policy FROM spaces WHERE id = ?",
            (epoch, now, now, space.id),
        ),
        *gone,
        Statement("UPDATE spaces SET name = ? WHERE epoch = ?", (space.space.name, epoch)),
    ]


def left(
    space: SpaceRow, memories: Sequence[bytes], versions: Sequence[int], tables: Sequence[Table] = TABLES
) -> list[tuple[str, Statement]]:
    """Return statements that count remains of erased memories, each with the name of the place."""
    ids, rows = id_list(memories), json.dumps(list(versions))
    found: list[tuple[str, Statement]] = []
    for table in tables:
        about = of_versions(table)
        either = [*(f"{name} IN {_ROWS}" for name in about), *(f"{name} IN {IDS}" for name in table.memories)]
        if table.erasing != "stays" and either:
            args = (*(rows,) * len(about), *(ids,) * len(table.memories))
            found.append(
                (table.name, Statement(f"SELECT count(*) FROM {table.name} WHERE {' OR '.join(either)}", args))
            )
    return [
        *found,
        (
            "answers of requests",
            Statement(
                f"SELECT count(*) FROM requests WHERE seq >= ? AND seq < ? AND ({_ANY} OR {_ANY})",
                (*_answers_of(space), ids, _texts(memories)),
            ),
        ),
        ("segments", index_rows.count_erased_segments(space)),
        ("entities", Statement(f"SELECT count(*) FROM entities WHERE space_id = ? AND {_UNNAMED}", (space.id,))),
        ("imports under way", _staged(space, memories)),
    ]


def left_of_space(space: SpaceRow, tables: Sequence[Table] = TABLES) -> list[tuple[str, Statement]]:
    """Return statements that count remains of an erased space, by its row id and epoch, each with its place."""
    found: list[tuple[str, Statement]] = []
    for table in tables:
        count = f"SELECT count(*) FROM {table.name} WHERE"
        if table.space:
            found.append((table.name, Statement(f"{count} {table.space} = ?", (space.id,))))
        elif table.version:
            found.append((table.name, Statement(f"{count} {table.version} NOT IN (SELECT id FROM versions)")))
    return [
        *found,
        (
            "answers of requests",
            Statement("SELECT count(*) FROM requests WHERE seq >= ? AND seq < ?", _answers_of(space)),
        ),
    ]


def _theirs(table: Table, space: SpaceRow, memories: Sequence[bytes]) -> Condition:
    """Return the condition of the rows of memories whose versions still exist."""
    ids = id_list(memories)
    if table.erasing == "stated":
        return STATED[table.name](space, ids)
    about = of_versions(table)
    either = [*(f"{name} IN ({_VERSIONS})" for name in about), *(f"{name} IN {IDS}" for name in table.memories)]
    args = (*(space.id, ids) * len(about), *(ids,) * len(table.memories))
    own = f"+{table.space} = ? AND " if table.space else ""
    return f"{own}({' OR '.join(either)})", (*((space.id,) if own else ()), *args)


def _in_space(table: Table, space: SpaceRow) -> Condition:
    if table.space:
        return f"{table.space} = ?", (space.id,)
    if table.version:
        return f"{table.version} IN (SELECT id FROM versions WHERE space_id = ?)", (space.id,)
    assert table.name == "requests", f"nothing tells which rows of {table.name} are of a space"
    return "seq >= ? AND seq < ?", _answers_of(space)


def _only_theirs(space: SpaceRow, ids: str) -> Condition:
    """Return the condition of the entities that these memories mention, and no other memory does."""
    mine = f"SELECT m.{{0}} FROM {{1}} m WHERE m.version_id IN ({_VERSIONS})"
    named = " UNION ".join(mine.format(*one) for one in _NAMING)
    others = " AND ".join(
        f"NOT EXISTS (SELECT 1 FROM {table} m WHERE m.{column} = entities.id AND m.version_id NOT IN ({_VERSIONS}))"
        for column, table in _NAMING
    )
    return f"space_id = ? AND id IN ({named}) AND {others}", (space.id, *(space.id, ids) * 2 * len(_NAMING))


_NAMING = (("entity_id", "mentions"), ("alias_id", "aliases"))
# Conditions on the rows of memories, by their ids in JSON, for tables that are erased by statements of their own.
STATED: Mapping[str, Callable[[SpaceRow, str], Condition]] = {
    "entities": _only_theirs,
    "receipts": lambda space, ids: (
        f"id IN (SELECT receipt_id FROM receipt_hits WHERE memory_id IN {IDS})",
        (ids,),
    ),
    "requests": lambda space, ids: (f"seq >= ? AND seq < ? AND {_ANY}", (*_answers_of(space), ids)),
    "segments": lambda space, ids: (
        "space_id = ? AND format NOT IN (?, ?)",  # unreadable here
        (space.id, index_rows.FORMAT, index_rows.SECOND),
    ),
}


def _staged(space: SpaceRow, memories: Sequence[bytes]) -> Statement:
    return Statement(
        "SELECT count(*) FROM versions WHERE space_id IN (SELECT staging_id FROM imports WHERE space_id = ?) "
        f"AND substr(memory_id, 1, 16) IN {IDS}",
        (space.id, id_list(memories)),
    )


def forget_answers(space: SpaceRow, memories: Sequence[bytes]) -> list[Statement]:
    """Empty the answers that consist of these memories, and cut them out of answers that list them as similar."""
    return [
        Statement(
            f"UPDATE requests SET body_hash = x'', answer = x'' WHERE seq >= ? AND seq < ? AND ({_ANY} OR {_BLANK})",
            (*_answers_of(space), id_list(memories)),
        ),
        Statement(
            f"UPDATE requests SET answer = CAST({_CUT} || "
            f"printf('%*s', length(answer) - octet_length({_CUT}), '') AS BLOB) "
            f"WHERE seq >= ? AND seq < ? AND {_ANY}",
            (*_answers_of(space), _texts(memories)),
        ),
    ]


def _answers_of(space: SpaceRow) -> tuple[str, str]:
    """Return the bounds of the column `seq` of all answers of a space: from the first, below the second."""
    return f"{space.space.epoch}:", f"{space.space.epoch};"


def _texts(memories: Sequence[bytes]) -> str:
    return json.dumps([id_text(memory) for memory in memories])
