"""The SQL of documents: by path and in lists, their chunks in order, and plans that end them.

A path is looked up in one category. The chunks of a document are the memories of kind `chunk` below it.
"""

import json
from collections.abc import Sequence

from muisti.core.documents.model import DocumentSort
from muisti.core.model.values import Memory
from muisti.core.query.points import Point
from muisti.core.store.database import Refusal, Scalar, Statement, refuse
from muisti.core.store.sql.chunks import IS_CHUNK, OVERLAP
from muisti.core.store.sql.hierarchy import Condition
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import COLUMNS, IDS, UNEXPIRED, WIDTH, id_list, lived, raw, structural
from muisti.core.text.terms import fold

_IS_DOCUMENT = f"v.kind = 'document' AND {structural('v')}"
CHARACTERS, LINES = WIDTH, WIDTH + 1  # places in a row of `chunks` of what a chunk adds to the text
SORTED = WIDTH  # place in a row of `page` of the value that it is sorted by

_ORDERS: dict[str, str] = {"path": "v.document", "indexed_at": "v.updated_at"}


def below(folder: str) -> Condition:
    """Return the condition that the path of a document begins with a text."""
    return Condition("substr(v.document, 1, length(?)) = ?", (folder, folder))


def saying(name: str, value: str) -> Condition:
    """Return the condition that the structure of a document has a value."""
    return Condition("v.structure ->> ? = ?", (f"$.{name}", value))


def at_paths(space: SpaceRow, category: str | None, paths: Sequence[str]) -> Statement:
    """Select the current documents at paths of a category."""
    return Statement(
        f"SELECT {COLUMNS} FROM versions v WHERE v.space_id = ? AND coalesce(v.category_folded, '') = ? "
        "AND v.place IN (SELECT 'document/' || value FROM json_each(?)) "
        "AND v.died IS NULL AND v.status <> 'superseded' AND v.place IS NOT NULL",
        (space.id, fold(category or ""), json.dumps(list(paths))),
    )


def by_id(space: SpaceRow, memory_id: bytes, point: Point) -> Statement:
    """Select a document by its id, as it was at a point."""
    then, numbers = lived(point)
    return Statement(
        f"SELECT {COLUMNS} FROM versions v WHERE v.memory_id = ? AND v.space_id = ? AND {_IS_DOCUMENT} AND {then}",
        (memory_id, space.id, *numbers),
    )


def by_path(space: SpaceRow, path: str, point: Point) -> Statement:
    """Select the documents of a path in all categories, as they were at a point; those without a category first."""
    where, args = _current(space, [], point)
    return Statement(
        f"SELECT {COLUMNS} FROM versions v WHERE {where} AND v.document = ? ORDER BY v.category_folded LIMIT 20",
        (*args, path),
    )


def every(space: SpaceRow, conditions: Sequence[Condition]) -> Statement:
    """Select all current documents that meet all conditions, by path."""
    where, args = _current(space, conditions, Point(None, 0))
    return Statement(f"SELECT {COLUMNS} FROM versions v WHERE {where} ORDER BY v.document", args)


def page(
    space: SpaceRow,
    conditions: Sequence[Condition],
    point: Point,
    sort: DocumentSort,
    after: tuple[Scalar, bytes] | None,
    limit: int,
) -> Statement:
    """Select a page of documents: (columns, value that they are sorted by)."""
    where, args = _current(space, conditions, point)
    by, (way, beyond) = _ORDERS[sort.lstrip("-")], ("DESC", "<") if sort.startswith("-") else ("ASC", ">")
    place = "" if after is None else f" AND ({by}, v.memory_id) {beyond} (?, ?)"
    return Statement(
        f"SELECT {COLUMNS}, {by} FROM versions v WHERE {where}{place} ORDER BY {by} {way}, v.memory_id {way} LIMIT ?",
        (*args, *(after or ()), limit),
    )


def totals(space: SpaceRow, conditions: Sequence[Condition], point: Point) -> Statement:
    """Count documents, and sum their chunks, characters and bytes."""
    where, args = _current(space, conditions, point)
    sums = ", ".join(f"coalesce(sum(v.structure ->> '$.{name}'), 0)" for name in ("chunks", "characters", "size"))
    return Statement(f"SELECT count(*), {sums} FROM versions v WHERE {where}", args)


def chunks(space: SpaceRow, document: Memory, point: Point, after: int, limit: int) -> Statement:
    """Select chunks behind a position, in order: (columns, characters, line breaks), without what overlaps."""
    then, numbers = lived(point)
    own = f"substr(v.content, 1 + {OVERLAP})"
    return Statement(
        f"SELECT {COLUMNS}, length({own}), length({own}) - length(replace({own}, char(10), '')) FROM versions v "
        f"WHERE v.space_id = ? AND v.document = ? AND {IS_CHUNK} AND v.parent_id = ? AND v.position > ? "
        f"AND {then} ORDER BY v.position LIMIT ?",
        (space.id, document.document, raw(document.id), after, *numbers, limit),
    )


def current_chunks(space: SpaceRow, document_id: bytes, after: int, limit: int) -> Statement:
    """Select (row id, columns) of the current chunks behind a position, in order, whatever path they say."""
    return Statement(
        f"SELECT {COLUMNS} FROM versions v WHERE v.parent_id = ? AND v.space_id = ? AND {IS_CHUNK} "
        "AND v.position > ? AND v.died IS NULL ORDER BY v.position LIMIT ?",
        (document_id, space.id, after, limit),
    )


def count_chunks(space: SpaceRow, ids: Sequence[bytes]) -> Statement:
    """Count the current chunks of documents."""
    return Statement(
        f"SELECT count(*) FROM versions v WHERE v.parent_id IN {IDS} AND v.space_id = ? AND {IS_CHUNK} "
        "AND v.died IS NULL",
        (id_list(ids), space.id),
    )


def plan_ends(space: SpaceRow, ids: Sequence[bytes]) -> list[Statement]:
    """Plan that documents end with all their chunks; refuse with `stale` unless all are current.

    Documents come first, so that an undo brings them back before what is below them.
    """
    ended = id_list(ids)
    return [
        Statement(
            f"{refuse(Refusal.STALE)} WHERE (SELECT count(*) FROM versions v WHERE v.memory_id IN {IDS} "
            "AND v.space_id = ? AND v.died IS NULL) <> ?",
            (ended, space.id, len(ids)),
        ),
        Statement(
            "INSERT INTO turns (memory_id, version, living, source) SELECT v.memory_id, v.version, 1, NULL "
            f"FROM versions v WHERE v.memory_id IN {IDS} AND v.space_id = ? AND v.died IS NULL ORDER BY v.document",
            (ended, space.id),
        ),
        Statement(
            "INSERT INTO turns (memory_id, version, living, source) SELECT v.memory_id, v.version, 1, NULL "
            f"FROM versions v WHERE v.parent_id IN {IDS} AND v.space_id = ? AND {IS_CHUNK} AND v.died IS NULL "
            "ORDER BY v.document, v.position",
            (ended, space.id),
        ),
    ]


def plan_end_chunks(space: SpaceRow, ended: Sequence[tuple[bytes, int]]) -> list[Statement]:
    """Plan that chunks end, given by memory id and version; refuse with `stale` unless all are current."""
    given = json.dumps([[memory.hex(), version] for memory, version in ended])
    return [
        Statement(
            "INSERT INTO turns (memory_id, version, living, source) SELECT v.memory_id, v.version, 1, NULL "
            "FROM json_each(?) e JOIN versions v ON v.memory_id = unhex(e.value ->> 0) AND v.version = e.value ->> 1 "
            "AND v.space_id = ? AND v.died IS NULL ORDER BY e.key",
            (given, space.id),
        ),
        Statement(f"{refuse(Refusal.STALE)} WHERE (SELECT count(*) FROM turns) <> ?", (len(ended),)),
    ]


def orphans(space: SpaceRow) -> Statement:
    """Count current chunks whose document is not current."""
    return Statement(
        f"SELECT count(*) FROM versions v WHERE v.space_id = ? AND {IS_CHUNK} AND v.died IS NULL AND NOT EXISTS ("
        "SELECT 1 FROM versions o WHERE o.memory_id = v.parent_id AND o.space_id = v.space_id AND o.died IS NULL)",
        (space.id,),
    )


def _current(space: SpaceRow, conditions: Sequence[Condition], point: Point) -> tuple[str, tuple[Scalar, ...]]:
    then, numbers = lived(point)
    where = [
        f"v.space_id = ? AND {_IS_DOCUMENT} AND {then.replace('v.born', '+v.born')} AND v.status <> 'superseded' "
        f"AND {UNEXPIRED}"
    ]
    where += (f"({one.sql})" for one in conditions)
    args = (space.id, *numbers, point.time, *(value for one in conditions for value in one.args))
    return " AND ".join(where), args


# The SQL of pruning: chunks without their document, and entities of imported graphs that nothing names

_CURRENT = "{0}.space_id = ? AND {0}.died IS NULL AND {0}.status <> 'superseded'"
_NAME, _KIND = "(v.metadata ->> '$.entity')", "(v.metadata ->> '$.entity_type')"
# What an importer writes of an entity itself. Statements about entities have other texts, and stay.
_ENTITY = (
    f"v.kind = 'memory' AND v.category_folded = ? AND {_NAME} IS NOT NULL AND "
    f"(v.content IN ({_NAME}, {_NAME} || ' (' || {_KIND} || ')') OR v.metadata -> '$.zapomni' IS NOT NULL)"
)


def orphaned_chunks(space: SpaceRow, category: str | None, most: int) -> Statement:
    """Select current chunks whose document or memory is not current, or that have none; `category` None for all."""
    only, own = _only(category)
    return Statement(
        f"SELECT {COLUMNS} FROM versions v WHERE {_CURRENT.format('v')} AND v.kind = 'chunk'{only} AND NOT EXISTS ("
        "SELECT 1 FROM versions o WHERE o.memory_id = v.parent_id AND o.space_id = v.space_id AND o.died IS NULL) "
        "ORDER BY v.id LIMIT ?",
        (space.id, *own, most),
    )


def orphaned_entities(space: SpaceRow, category: str | None, most: int) -> Statement:
    """Select current entities of imported graphs that are no tag of another current memory, relations included."""
    only, own = _only(category)
    entities = fold("entities")
    return Statement(
        "WITH named AS (SELECT DISTINCT t.value AS name FROM versions m, json_each(m.tags) t "
        f"WHERE {_CURRENT.format('m')} AND coalesce(m.category_folded, '') <> ?) "
        f"SELECT {COLUMNS} FROM versions v WHERE {_CURRENT.format('v')} AND {_ENTITY}{only} "
        f"AND {_NAME} NOT IN (SELECT name FROM named) ORDER BY v.id LIMIT ?",
        (space.id, entities, space.id, entities, *own, most),
    )


def _only(category: str | None) -> tuple[str, tuple[Scalar, ...]]:
    return ("", ()) if category is None else (" AND v.category_folded = ?", (fold(category),))
