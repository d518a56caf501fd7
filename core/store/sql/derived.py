"""The SQL of texts that are derived from memories: titles, which are written again, and what records of tasks name."""

from collections.abc import Sequence
from typing import NamedTuple, cast

from muisti.core.model.values import Memory
from muisti.core.store.database import Refusal, Row, Statement, refuse
from muisti.core.store.sql import table, version_rows
from muisti.core.store.sql.erasure_selection import Condition
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.table import Table, Wipe
from muisti.core.store.sql.version_rows import COLUMNS, IDS, LAYOUT, WIDTH, id_list
from muisti.core.text.terms import same_text_hash

# Fields of an object that are derived from its turns, with the columns that follow from them.
_COLUMNS = ("content", "content_hash", "tokens", "author", "author_folded", "structure", "checksum")
_WIPE = Wipe(text=("content", "author", "author_folded"), objects=("structure",), data=("content_hash",))
_ITEMS = Table(
    name="task_items",
    columns=("name", "argument", "error"),
    erasing="stated",
    wipes=(Wipe(text=("name", "argument", "error")),),
)
_TASKS = Table(name="tasks", columns=("asked",), erasing="stated", wipes=(Wipe(objects=("asked",)),))
_OF_TURNS = Table(name="versions", columns=_COLUMNS, erasing="deleted", wipes=(_WIPE,))


class Kept(NamedTuple):
    """A version of an object in its row. `current`: it has not ended."""

    row: int
    memory: Memory
    current: bool


def objects(space: SpaceRow, erased: Sequence[bytes]) -> Statement:
    """Select the versions of the conversations and topics that turns among `erased` belong to, by object, in order."""
    within = "SELECT 1 FROM json_each(c.structure, '$.spans') p WHERE e.turn BETWEEN p.value ->> 0 AND p.value ->> 1"
    return Statement(
        "WITH said AS MATERIALIZED (SELECT DISTINCT e.conversation, e.category_folded, e.turn FROM versions e "
        f"WHERE +e.space_id = ? AND e.memory_id IN {IDS} AND e.kind = 'exchange'), "
        "above AS MATERIALIZED (SELECT c.memory_id FROM said e CROSS JOIN versions c ON c.space_id = ? "
        "AND c.conversation = e.conversation AND c.category_folded IS e.category_folded "
        f"WHERE c.kind = 'conversation' OR c.kind = 'topic' AND EXISTS ({within})) "
        f"SELECT {COLUMNS}, v.died IS NULL FROM versions v WHERE +v.space_id = ? "
        f"AND v.memory_id IN (SELECT memory_id FROM above) AND v.memory_id NOT IN {IDS} "
        "ORDER BY v.memory_id, v.version",
        (space.id, id_list(erased), space.id, space.id, id_list(erased)),
    )


def kept(row: Row, space: SpaceRow) -> Kept:
    """Read a row of `objects`."""
    return Kept(cast(int, row[0]), version_rows.memory(row, space.space.name), bool(row[WIDTH]))


def said(space: SpaceRow, changed: Sequence[bytes]) -> Statement:
    """Select all versions of turns."""
    return Statement(
        f"SELECT {COLUMNS} FROM versions v WHERE +v.space_id = ? AND v.memory_id IN {IDS} AND v.kind = 'exchange'",
        (space.id, id_list(changed)),
    )


def refuse_turned(space: SpaceRow, conversation: Memory, number: int) -> Statement:
    """Refuse with `stale` when a turn of the conversation of an object was stored or has ended after a change."""
    return Statement(
        f"{refuse(Refusal.STALE)} WHERE EXISTS (SELECT 1 FROM versions v WHERE v.space_id = ? AND v.conversation = ? "
        "AND v.kind = 'exchange' AND (v.born > ? OR v.died > ?))",
        (space.id, conversation.conversation, number, number),
    )


def turns(space: SpaceRow, conversation: Memory, erased: Sequence[bytes]) -> list[Statement]:
    """Select the versions of the first turn that is left, the last first; then the speakers that are left, and erased.

    Speakers are folded.
    """
    own = (
        "v.space_id = ? AND v.conversation = ? AND v.kind = 'exchange' "
        "AND v.category_folded IS (SELECT c.category_folded FROM versions c WHERE c.memory_id = ? LIMIT 1)"
    )
    args = (space.id, conversation.conversation, version_rows.raw(conversation.id))
    left = f"{own} AND v.memory_id NOT IN {IDS}"
    ids = id_list(erased)
    first = f"SELECT v.memory_id FROM versions v WHERE {left} AND v.died IS NULL ORDER BY v.turn LIMIT 1"
    return [
        Statement(
            f"SELECT {COLUMNS} FROM versions v WHERE v.memory_id = ({first}) ORDER BY v.version DESC", (*args, ids)
        ),
        Statement(f"SELECT DISTINCT v.author_folded FROM versions v WHERE {left}", (*args, ids)),
        Statement(
            f"SELECT DISTINCT v.author_folded FROM versions v WHERE {own} AND v.memory_id IN {IDS}", (*args, ids)
        ),
    ]


def rewrite(row: int, memory: Memory, *, overwritten: bool) -> list[Statement]:
    """Write what a version derives from turns again, as `memory` has it; `overwritten` on servers that keep bytes."""
    values = LAYOUT.row(memory, same_text_hash(memory.content))
    names = ", ".join(f"{name} = ?" for name in _COLUMNS)
    return [
        *(table.over(_OF_TURNS, "id = ?", (row,)) if overwritten else []),
        Statement(f"UPDATE versions SET {names} WHERE id = ?", (*(values[name] for name in _COLUMNS), row)),
    ]


def blobs(space: SpaceRow, erased: Sequence[bytes]) -> Statement:
    """Count the pieces of uploaded files of erased documents."""
    where, args = _blobs(space, erased)
    return Statement(f"SELECT count(*) FROM blobs WHERE {where}", args)


def forget_tasks(space: SpaceRow, erased: Sequence[bytes], *, overwritten: bool) -> list[Statement]:
    """Delete uploaded bytes of erased documents, and what records of tasks say of these and of erased conversations.

    Items that are not finished end as cancelled. A task of which no stored file is left loses all its names, and the
    fields that it gave to its documents.
    """
    mine, args = _items(space, erased)
    items = f"SELECT task, number FROM task_items WHERE {mine}"
    kept = f"o.state <> 'failed' AND o.name <> '' AND (o.task, o.number) NOT IN ({items})"
    whole = (
        f"kind = 'ingest' AND space_id = ? AND number IN (SELECT task FROM task_items WHERE {mine}) "
        f"AND NOT EXISTS (SELECT 1 FROM task_items o WHERE o.task = tasks.number AND {kept})"
    )
    wholes = (space.id, *args, *args)
    where, bound = _blobs(space, erased)
    marked = "attempts < 0 AND task IN (SELECT number FROM tasks WHERE space_id = ?)"
    return [
        Statement(f"DELETE FROM blobs WHERE {where}", bound),
        Statement(
            "UPDATE task_items SET attempts = -1 - attempts, state = CASE WHEN state IN ('waiting', 'working') "
            f"THEN 'cancelled' ELSE state END WHERE {mine} OR task IN (SELECT number FROM tasks WHERE {whole})",
            (*args, *wholes),
        ),
        *(table.over(_TASKS, whole, wholes) if overwritten else []),
        Statement(f"UPDATE tasks SET asked = '{{}}' WHERE {whole}", wholes),
        *(table.over(_ITEMS, marked, (space.id,)) if overwritten else []),
        Statement(
            f"UPDATE task_items SET name = '', argument = NULL, error = NULL, attempts = -1 - attempts WHERE {marked}",
            (space.id,),
        ),
    ]


def _blobs(space: SpaceRow, erased: Sequence[bytes]) -> Condition:
    """Return the condition of the pieces of files that become erased documents."""
    mine, args = _items(space, erased)
    return f"(task, name) IN (SELECT task, argument ->> '$.blob' FROM task_items WHERE {mine})", args


def _items(space: SpaceRow, erased: Sequence[bytes]) -> Condition:
    """Return the condition of the items of tasks that name erased documents or conversations."""
    named = f"SELECT v.{{}} FROM versions v WHERE +v.space_id = ? AND v.memory_id IN {IDS} AND v.kind = '{{}}'"
    of = "SELECT number FROM tasks WHERE space_id = ? AND kind = '{}'"
    either = [
        f"task IN ({of.format(task)}) AND name IN ({named.format(column, kind)})"
        for task, column, kind in (("ingest", "document", "document"), ("summarise", "conversation", "conversation"))
    ]
    return f"({' OR '.join(either)})", (space.id, space.id, id_list(erased)) * 2
