"""The SQL of forks: copies of a space, their comparison with the original, and three-way merges by memory.

A copy has ids of its own. The table `twins` maps each memory to its counterpart, its twin. Rows are copied within the
database, so no text is embedded again.
"""

from collections.abc import Sequence

from muisti.core.store.database import Refusal, Statement, refuse, slots
from muisti.core.store.sql.bulk_replace import SAID, same
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.table import Table
from muisti.core.store.sql.tables import TABLES, copy_rows
from muisti.core.store.sql.version_rows import CURRENT

# A new id with the time of the original: the 48 bits of time and the bits that order ids of a millisecond stay.
_NEW_ID = "unhex(hex(substr(v.memory_id, 1, 8)) || printf('%02X', 128 + (random() & 63)) || hex(randomblob(7)))"
_LINKS = ("supersedes", "superseded_by", "parent_id")
_SOURCES = "derived_from"  # links too, but as JSON
_PLAIN = [name for name in SAID.split(", ") if name not in (*_LINKS, _SOURCES)]
_UUID = "lower(printf('%s-%s-%s-%s-%s', {}))".format(
    ", ".join(
        f"substr(hex(x.{{to}}), {start}, {length})" for start, length in ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))
    )
)

# Each pair of twins: `f` is the version in the space, `p` that in its target, `b` their common base.
_PAIRS = """FROM twins w LEFT JOIN versions b ON b.id = w.base
    LEFT JOIN versions f ON f.memory_id = w.memory_id AND f.space_id = w.space_id AND f.died IS NULL
    LEFT JOIN versions p ON p.memory_id = w.twin_id AND p.space_id = w.target_id AND p.died IS NULL
    WHERE w.space_id = ? AND w.target_id = ?"""


def _sources(version: str, twins: str, known: str, to: str) -> str:
    """Return `derived_from` of a version with the ids of the other space; `twins` is the condition on rows `x`."""
    other = f"SELECT {_UUID.format(to=to)} FROM twins x WHERE {twins} AND x.{known} = unhex(replace(d.value, '-', ''))"
    return (
        f"CASE WHEN {version}.{_SOURCES} = '[]' THEN '[]' ELSE (SELECT json_group_array(coalesce(({other}), d.value)) "
        f"FROM json_each({version}.{_SOURCES}) d) END"
    )


def _alike(target: str, space: str) -> str:
    """Return the condition that versions of target and space, each perhaps missing, are the same but for ids."""
    fields = " AND ".join(f"{target}.{name} IS {space}.{name}" for name in _PLAIN)
    there = _sources(space, "x.space_id = w.space_id AND x.target_id = w.target_id", "memory_id", "twin_id")
    sources = f"({target}.id IS NULL OR {target}.{_SOURCES} = {there})"
    return f"(({target}.id IS NULL) = ({space}.id IS NULL) AND {fields} AND {sources})"


_SAME_PLACE = (  # the index `versions_place` has these
    "coalesce(q.category_folded, '') = coalesce({0}.category_folded, '') "
    "AND q.place = {0}.place AND q.place IS NOT NULL"
)
_HERE = f"NOT (({same('f', 'b')}) AND (f.id IS NULL) = (b.id IS NULL))"  # the space has changed the memory
_THERE = f"NOT {_alike('p', 'b')}"  # the target has changed it
_APART = f"NOT {_alike('p', 'f')}"


_TURN = (  # a row of `turns`: the target's memory gets the state that it has in the space
    "w.twin_id, coalesce((SELECT max(version) FROM versions WHERE memory_id = w.twin_id), 0) AS version, "
    "p.id IS NOT NULL, f.id"
)
_OF_WHOLE = (  # a chunk of a document that both changed
    "coalesce(coalesce(f.kind, p.kind, b.kind) = 'chunk' AND coalesce(f.document, p.document, b.document) IS NOT NULL "
    "AND (coalesce(f.parent_id, b.parent_id) IN (SELECT mine FROM wholes) "
    "OR p.parent_id IN (SELECT theirs FROM wholes)), 0)"
)


def _seal(version: str) -> str:
    """Return the checksum of a copy: none where `derived_from`, which it covers, gets other ids."""
    return f"CASE WHEN {version}.{_SOURCES} = '[]' THEN {version}.checksum END"


def copy(parent: SpaceRow, name: str, now: int, tables: Sequence[Table] = TABLES) -> list[Statement]:
    """Fill the empty space `name` with all memories of its parent that are not deleted, each as version 1."""
    me = "(SELECT id FROM spaces WHERE name = ?)"
    both = f"FROM twins w JOIN versions v ON v.memory_id = w.twin_id AND v.died IS NULL AND w.space_id = {me}"
    hung = f"{both} JOIN versions n ON n.memory_id = w.memory_id"
    links = ", ".join(
        f"coalesce((SELECT x.memory_id FROM twins x WHERE x.space_id = w.space_id AND x.target_id = w.target_id "
        f"AND x.twin_id = v.{link}), v.{link})"
        for link in _LINKS
    )
    plain = ", ".join(f"v.{name}" for name in _PLAIN)
    sources = _sources("v", "x.space_id = w.space_id AND x.target_id = w.target_id", "twin_id", "memory_id")
    return [
        Statement(
            "UPDATE spaces SET (generation_id, second_generation_id, policy) = "
            "(SELECT generation_id, second_generation_id, json_remove(policy, '$.archived_us') "
            "FROM spaces WHERE id = ?) "
            "WHERE name = ?",
            (parent.id, name),
        ),
        Statement(f"INSERT INTO forks SELECT {me}, ?, 0, 1", (name, parent.id)),
        Statement(
            f"INSERT INTO twins SELECT {me}, v.space_id, {_NEW_ID}, v.memory_id, NULL FROM versions v "
            "WHERE v.space_id = ? AND v.died IS NULL",
            (name, parent.id),
        ),
        Statement(
            "INSERT INTO versions (space_id, born, memory_id, version, created_at, updated_at, checksum, "
            f"{', '.join(_PLAIN)}, {', '.join(_LINKS)}, {_SOURCES}) "
            "SELECT w.space_id, row_number() OVER (ORDER BY v.born), w.memory_id, 1, "
            f"v.created_at, v.updated_at, {_seal('v')}, {plain}, {links}, {sources} {both} ORDER BY v.born",
            (name,),
        ),
        *(
            Statement(
                f"{copy_rows(table, 'n.id')} {hung} JOIN {table.name} h ON h.{table.version} = v.id",
                (name,),
            )
            for table in tables
            if table.forking == "with_version"
        ),
        Statement(
            f"INSERT INTO changes (space_id, seq, kind, memory_id, version, committed_at) "
            f"SELECT v.space_id, v.born, 'forked', v.memory_id, 1, ? FROM versions v WHERE v.space_id = {me}",
            (now, name),
        ),
        Statement(
            "UPDATE spaces SET seq = (SELECT count(*) FROM versions v WHERE v.space_id = spaces.id) WHERE name = ?",
            (name,),
        ),
        Statement(
            "UPDATE twins SET base = (SELECT id FROM versions n WHERE n.memory_id = twins.memory_id) "
            f"WHERE space_id = {me}",
            (name,),
        ),
        Statement(
            f"UPDATE forks SET seq = (SELECT seq FROM spaces WHERE name = ?) WHERE space_id = {me}", (name, name)
        ),
    ]


def refuse_moved(space: SpaceRow) -> Statement:
    """Refuse with `stale` when the space has new changes, or was erased and made again."""
    return Statement(
        f"{refuse(Refusal.STALE)} WHERE NOT EXISTS (SELECT 1 FROM spaces WHERE id = ? AND epoch = ? AND seq = ?)",
        (space.id, space.space.epoch, space.space.seq),
    )


def pair(space: SpaceRow, target: SpaceRow) -> list[Statement]:
    """Give each memory of the space without a twin one in the target.

    A twin is the memory at the same address, or at the same place in a conversation. Otherwise it is one with the same
    text, or a new one.
    """
    mine = "v.space_id = ? AND v.died IS NULL"
    alone = "NOT EXISTS (SELECT 1 FROM twins x WHERE x.space_id = ? AND x.target_id = ? AND x.memory_id = v.memory_id)"
    free = "NOT EXISTS (SELECT 1 FROM twins x WHERE x.space_id = ? AND x.target_id = ? AND x.twin_id = q.memory_id)"
    both = (space.id, target.id)
    known = "q.space_id = ? AND q.died IS NULL AND q.status <> 'superseded'"
    address = "q.category_folded = v.category_folded AND q.key = v.key"
    place = f"{_SAME_PLACE.format('v')} AND v.place IS NOT NULL"
    says = (
        "q.content_hash = v.content_hash AND q.category_folded IS v.category_folded AND q.key IS v.key "
        "AND q.document IS v.document AND q.place IS NULL AND v.place IS NULL"
    )
    return [
        Statement("INSERT INTO forks VALUES (?, ?, 0, 0) ON CONFLICT DO NOTHING", both),
        *(
            Statement(
                "INSERT OR IGNORE INTO twins SELECT ?, ?, v.memory_id, min(q.memory_id), NULL "
                f"FROM versions v JOIN versions q ON {known} AND {like} "
                f"WHERE {mine} AND {CURRENT} AND {alone} AND {free} GROUP BY v.memory_id",
                (*both, target.id, space.id, *both, *both),
            )
            for like in (address, place, says)
        ),
        Statement(
            f"INSERT INTO twins SELECT ?, ?, v.memory_id, {_NEW_ID}, NULL FROM versions v WHERE {mine} AND {alone}",
            (*both, space.id, *both),
        ),
    ]


def compared(space: SpaceRow, target: SpaceRow, *, only_conflicts: bool, beyond: bytes, limit: int) -> Statement:
    """Select (memory, twin, rows of base, space and target, changed here, changed there) of differing pairs, by id."""
    what = f"({_HERE} AND {_THERE} AND {_APART})" if only_conflicts else f"(({_HERE} OR {_THERE}) AND {_APART})"
    return Statement(
        f"SELECT w.memory_id, w.twin_id, b.id, f.id, p.id, {_HERE}, {_THERE} {_PAIRS} AND {what} "
        "AND w.memory_id > ? ORDER BY w.memory_id LIMIT ?",
        (space.id, target.id, beyond, limit),
    )


def plan(
    space: SpaceRow, target: SpaceRow, left: Sequence[bytes], ended: Sequence[bytes], *, theirs: bool
) -> Statement:
    """Plan that the target takes the changes of the space; where both changed a memory, only with `theirs`.

    Memories in `left` are skipped, and those of the target in `ended` end. A document that both changed is kept or
    taken whole, with all its chunks.
    """
    taken = _HERE if theirs else f"{_HERE} AND NOT {_THERE}"
    both = (space.id, target.id)
    whole = f"""UNION ALL SELECT {_TURN} {_PAIRS} AND {_OF_WHOLE} AND {_APART}
        UNION ALL SELECT q.memory_id, q.version, 1, NULL FROM versions q WHERE q.died IS NULL AND q.kind = 'chunk'
        AND q.document IS NOT NULL AND q.parent_id IN (SELECT theirs FROM wholes) AND NOT EXISTS
        (SELECT 1 FROM twins x WHERE x.space_id = ? AND x.target_id = ? AND x.twin_id = q.memory_id)"""
    return Statement(
        f"""WITH wholes AS MATERIALIZED (SELECT w.memory_id AS mine, w.twin_id AS theirs {_PAIRS}
            AND coalesce(f.kind, p.kind, b.kind) = 'document' AND {_HERE} AND {_THERE} AND {_APART})
        INSERT INTO turns (memory_id, version, living, source)
        SELECT {_TURN} {_PAIRS} AND {taken} AND {_APART} AND NOT {_OF_WHOLE} AND w.memory_id NOT IN {slots(left)}
        {whole if theirs else ""}
        UNION ALL SELECT q.memory_id, q.version, 1, NULL FROM versions q
        WHERE q.died IS NULL AND q.memory_id IN {slots(ended)} ORDER BY 1""",
        (*both, *both, *left, *((*both, *both) if theirs else ()), *ended),
    )


def settle(space: SpaceRow, target: SpaceRow) -> list[Statement]:
    """Point links of merged versions to twins in the target, and make the space's versions the new common base."""
    twin = "(SELECT x.twin_id FROM twins x WHERE x.space_id = ? AND x.target_id = ? AND x.memory_id = versions.{link})"
    links = ", ".join(f"{link} = coalesce({twin.format(link=link)}, {link})" for link in _LINKS)
    sources = _sources("versions", "x.space_id = ? AND x.target_id = ?", "memory_id", "twin_id")
    both = (space.id, target.id)
    return [
        Statement(
            f"UPDATE versions SET {links}, {_SOURCES} = {sources}, checksum = {_seal('versions')} "
            "WHERE id IN (SELECT n.id FROM turns t JOIN versions n "
            "ON n.memory_id = t.memory_id AND n.version = t.version + 1 AND t.source IS NOT NULL)",
            both * (len(_LINKS) + 1),
        ),
        Statement(
            "UPDATE twins SET base = (SELECT f.id FROM versions f WHERE f.memory_id = twins.memory_id "
            "AND f.space_id = twins.space_id AND f.died IS NULL) WHERE space_id = ? AND target_id = ?",
            both,
        ),
        Statement(
            "UPDATE forks SET seq = (SELECT seq FROM spaces WHERE id = ?) WHERE space_id = ? AND target_id = ?",
            (space.id, *both),
        ),
    ]


def reopen(target: SpaceRow, memory_ids: Sequence[bytes]) -> Statement:
    """Give twins of a target, whose merge was undone, an earlier common base, so that they can be merged again.

    It is the newest version of the space that is as in the target; otherwise the one before the merged version.
    """
    chosen = f"w.target_id = ? AND w.twin_id IN {slots(memory_ids)}"
    alike = f"SELECT f.id FROM versions f WHERE f.memory_id = w.memory_id AND {_alike('p', 'f')} ORDER BY f.id DESC"
    past = "SELECT f.id FROM versions f WHERE f.memory_id = w.memory_id AND f.died IS NOT NULL ORDER BY f.id DESC"
    return Statement(
        f"UPDATE twins SET base = b.base FROM (SELECT w.space_id, w.memory_id, CASE WHEN p.id IS NOT NULL "
        f"THEN coalesce(({alike} LIMIT 1), ({past} LIMIT 1)) END AS base FROM twins w "
        "LEFT JOIN versions p ON p.memory_id = w.twin_id AND p.space_id = w.target_id AND p.died IS NULL "
        f"WHERE {chosen}) b WHERE twins.target_id = ? AND twins.space_id = b.space_id "
        "AND twins.memory_id = b.memory_id",
        (target.id, *memory_ids, target.id),
    )


def clash(target: SpaceRow) -> Statement:
    """Select (memory of the target, memory of the space) that would share an address or a place after the plan."""
    shared = """SELECT q.memory_id, n.memory_id FROM turns t JOIN versions n ON n.id = t.source
            AND n.status <> 'superseded'
        JOIN versions q ON q.space_id = ? AND {}
            AND q.died IS NULL AND q.status <> 'superseded' AND q.memory_id <> t.memory_id
        WHERE NOT EXISTS (SELECT 1 FROM turns o WHERE o.memory_id = q.memory_id)"""
    address = shared.format("q.category_folded = n.category_folded AND q.key = n.key AND n.key IS NOT NULL")
    place = shared.format(f"{_SAME_PLACE.format('n')} AND n.place IS NOT NULL")
    return Statement(f"{address} UNION {place} ORDER BY 2", (target.id, target.id))
