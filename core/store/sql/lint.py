"""The SQL of lint: memories as they stand, oldest first, with what tells whether something is wrong with them."""

from muisti.core.store.database import Scalar, Statement
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import COLUMNS, UNEXPIRED
from muisti.core.text.terms import fold

_NONE = "NOT EXISTS (SELECT 1 FROM versions o WHERE +o.space_id = v.space_id AND o.memory_id = "


def page(space: SpaceRow, category: str | None, now: int, after: tuple[int, bytes], most: int) -> Statement:
    """Living memories made after (created_at, id), of one category or all; behind the columns of each:

    how often it was retrieved, and when last; the id of an older current one of the same text; whether its parent, what
    it superseded and what superseded it are not there; the first id that it is derived from and that is not there; the
    vector of its first passage.
    """
    only, own = ("", ()) if category is None else (" AND {}.category_folded = ?", (fold(category),))
    args: tuple[Scalar, ...] = (*own, space.generation, space.id, now, *after, *own, most)
    return Statement(
        f"SELECT {COLUMNS}, r.count, r.last_at, "
        "(SELECT o.memory_id FROM versions o WHERE o.space_id = v.space_id AND o.content_hash = v.content_hash "
        "AND o.died IS NULL AND o.status <> 'superseded' "
        f"AND (o.created_at, o.memory_id) < (v.created_at, v.memory_id){only.format('o')} LIMIT 1), "
        f"v.parent_id IS NOT NULL AND {_NONE} v.parent_id AND o.died IS NULL), "
        f"v.supersedes IS NOT NULL AND {_NONE} v.supersedes), "
        f"v.superseded_by IS NOT NULL AND {_NONE} v.superseded_by), "
        "(SELECT d.value FROM json_each(v.derived_from) d "
        f"WHERE {_NONE} unhex(replace(d.value, '-', ''))) LIMIT 1), "
        "(SELECT e.vector FROM embeddings e WHERE e.version_id = v.id AND e.number = 0 AND e.generation_id = ?) "
        "FROM versions v LEFT JOIN retrievals r ON r.space_id = v.space_id AND r.memory_id = v.memory_id "
        f"WHERE v.space_id = ? AND v.died IS NULL AND {UNEXPIRED} AND (v.created_at, v.memory_id) > (?, ?)"
        f"{only.format('v')} ORDER BY v.created_at, v.memory_id LIMIT ?",
        args,
    )
