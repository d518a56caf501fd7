"""The SQL of chunks: their places in documents, their erasure, and whether a document has all of them."""

from collections.abc import Sequence

from muisti.core.query.points import Point
from muisti.core.store.database import Refusal, Scalar, Statement, refuse
from muisti.core.store.sql.hierarchy import in_category
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import IDS, id_list, lived

IS_CHUNK = "v.kind = 'chunk' AND v.document IS NOT NULL"
OVERLAP = "coalesce(v.structure ->> '$.overlap', 0)"


def ends(space: SpaceRow, ids: Sequence[bytes], point: Point) -> Statement:
    """Select (memory id, characters up to its end, line breaks up to its end) of chunks at a point.

    The sums come from the index of lengths. Chunks that were not there at the point have no row.
    """
    then, numbers = lived(point)
    own = f"substr(b.content, 1 + {OVERLAP.replace('v.', 'b.')})"
    sums = (f"sum(length({own}))", f"sum(length({own}) - length(replace({own}, char(10), '')))")
    upto = (
        "FROM versions b WHERE b.parent_id = v.parent_id AND b.space_id = v.space_id AND b.kind = 'chunk' "
        f"AND b.document IS NOT NULL AND b.position <= v.position AND {then.replace('v.', 'b.')}"
    )
    return Statement(
        f"SELECT v.memory_id, {', '.join(f'(SELECT {one} {upto})' for one in sums)} FROM versions v "
        f"WHERE v.memory_id IN {IDS} AND +v.space_id = ? AND {IS_CHUNK} AND {then.replace('v.born', '+v.born')}",
        (*numbers, *numbers, id_list(ids), space.id, *numbers),
    )


def erasable(space: SpaceRow, category: str | None, name: str, memory_id: bytes | None) -> Statement:
    """Select the ids of documents and chunks whose last version has a path, or belongs to an id; deleted ones too.

    Without a category, those of a path are without one too, or else of the first category that has the path.
    """
    last = "v.version = (SELECT max(l.version) FROM versions l WHERE l.memory_id = v.memory_id)"
    own, args = in_category(category)
    if memory_id is not None:
        named: tuple[str, tuple[Scalar, ...]] = ("(v.memory_id = ? OR v.parent_id = ?)", (memory_id, memory_id))
        own, args = (own, args) if category is not None else ("1", ())
    else:
        named = ("v.document = ?", (name,))
        if category is None:
            own = (
                "v.category_folded IS (SELECT x.category_folded FROM versions x WHERE x.space_id = ? "
                "AND x.document = ? AND x.kind = 'document' ORDER BY x.category_folded LIMIT 1)"
            )
            args = (space.id, name)
    return Statement(
        f"SELECT DISTINCT v.memory_id FROM versions v WHERE v.space_id = ? AND {named[0]} "
        f"AND (v.kind = 'document' OR {IS_CHUNK}) AND {own} AND {last} ORDER BY 1",
        (space.id, *named[1], *args),
    )


def torn(space: SpaceRow, ids: Sequence[bytes]) -> Statement:
    """Refuse with `incomplete` when a document lacks chunks or has too many, or when chunks have no document."""
    return Statement(
        f"{refuse(Refusal.INCOMPLETE)} WHERE EXISTS (SELECT 1 FROM (SELECT unhex(value) AS id FROM json_each(?)) d "
        "LEFT JOIN versions o ON o.memory_id = d.id AND o.died IS NULL AND o.space_id = ? "
        "WHERE (SELECT count(*) FROM versions v WHERE v.parent_id = d.id AND v.space_id = ? "
        f"AND {IS_CHUNK} AND v.died IS NULL) <> coalesce(o.structure ->> '$.chunks', 0))",
        (id_list(ids), space.id, space.id),
    )


def torn_in_bulk(space: SpaceRow) -> Statement:
    """Refuse with `incomplete` when a bulk replace leaves a document with too few chunks or too many."""
    return Statement(
        f"{refuse(Refusal.INCOMPLETE)} WHERE EXISTS (SELECT 1 FROM ("
        "SELECT DISTINCT CASE WHEN n.kind = 'document' THEN n.memory_id ELSE n.parent_id END AS id FROM turns t "
        "JOIN versions n ON n.memory_id = t.memory_id AND n.version IN (t.version, t.version + 1) "
        "WHERE n.document IS NOT NULL) d "
        "LEFT JOIN versions o ON o.memory_id = d.id AND o.died IS NULL AND o.space_id = ? "
        "WHERE (SELECT count(*) FROM versions v WHERE v.parent_id = d.id AND v.space_id = ? "
        f"AND {IS_CHUNK} AND v.died IS NULL) <> coalesce(o.structure ->> '$.chunks', 0))",
        (space.id, space.id),
    )
