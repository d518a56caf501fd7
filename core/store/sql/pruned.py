"""The SQL of pruning: chunks without their document, and entities of imported graphs that nothing names."""

from muisti.core.store.database import Scalar, Statement
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import COLUMNS
from muisti.core.text.terms import fold

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
