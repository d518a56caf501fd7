"""The SQL of lint: current memories, oldest first, with the columns that show their faults."""

from muisti.core.store.database import Scalar, Statement
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import COLUMNS, PLAIN, UNEXPIRED
from muisti.core.text.terms import fold

_NONE = "NOT EXISTS (SELECT 1 FROM versions o WHERE +o.space_id = v.space_id AND o.memory_id = "


def page(space: SpaceRow, category: str | None, now: int, after: tuple[int, bytes], most: int) -> Statement:
    """Select memories made after (created_at, id), of one category or all, with further columns.

    These are the retrieval count and its last time, and the id of an older current memory with the same text. Three
    flags say whether the parent, the superseded and the superseding memory are missing. The last two are the first
    missing id in `derived_from` and the vector of the first passage.
    """
    only, own = ("", ()) if category is None else (" AND {}.category_folded = ?", (fold(category),))
    args: tuple[Scalar, ...] = (*own, space.generation, space.id, now, *after, *own, most)
    return Statement(
        f"SELECT {COLUMNS}, r.count, r.last_at, "
        "(SELECT o.memory_id FROM versions o WHERE o.space_id = v.space_id AND o.content_hash = v.content_hash "
        "AND o.died IS NULL AND o.status <> 'superseded' AND o.kind = v.kind AND v.conversation IS NULL "
        "AND v.document IS NULL "
        f"AND (o.created_at, o.memory_id) < (v.created_at, v.memory_id){only.format('o')} LIMIT 1), "
        f"v.parent_id IS NOT NULL AND {_NONE} v.parent_id AND o.died IS NULL), "
        f"v.supersedes IS NOT NULL AND {_NONE} v.supersedes), "
        f"v.superseded_by IS NOT NULL AND {_NONE} v.superseded_by), "
        "(SELECT d.value FROM json_each(v.derived_from) d "
        f"WHERE {_NONE} unhex(replace(d.value, '-', ''))) LIMIT 1), "
        "(SELECT e.vector FROM embeddings e WHERE e.version_id = v.id AND e.number = 0 AND e.generation_id = ?) "
        "FROM versions v LEFT JOIN retrievals r ON r.space_id = v.space_id AND r.memory_id = v.memory_id "
        f"WHERE v.space_id = ? AND v.died IS NULL AND {PLAIN} AND {UNEXPIRED} AND (v.created_at, v.memory_id) > (?, ?)"
        f"{only.format('v')} ORDER BY v.created_at, v.memory_id LIMIT ?",
        args,
    )
