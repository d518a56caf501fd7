"""The SQL of relations, and of what ties entities of a space. Each statement sees what one caller sees at one point."""

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from muisti.core.graph.sql.graph import BRIEF, NAME, RELATED, sketch
from muisti.core.graph.sql.graph_rows import IDS, LISTED, Shown, ids_text
from muisti.core.store.database import Scalar, Statement
from muisti.core.store.sql.spaces import SpaceRow

_ENDS = (("subject_id", "object_id"), ("object_id", "subject_id"))  # of a relation: this one, and the other
ROWS = 8_000  # mentions or relations that one level reads
# Two mentions `m` and `o` in a version `v` tie their entities. A date such as "last week" ties nobody.
TIED = "m.kind <> 'date' AND o.kind <> 'date' AND v.kind NOT IN ('entity', 'relation')"

RELATION = (
    "r.version_id, r.number, r.subject_id, r.kind, r.object_id, r.polarity, r.confidence, r.source, r.start, r.stop, "
    "CASE WHEN r.literal_start >= 0 THEN substr(v.content, r.literal_start + 1, r.literal_stop - r.literal_start) "
    "WHEN r.object_id IS NULL THEN v.structure ->> '$.literal' END, "
    "substr(v.content, r.start + 1, r.stop - r.start), v.memory_id, v.version, "
    "coalesce(v.valid_from, v.event_at, v.created_at), v.valid_to, v.author"
)


def of_entities(
    ids: Iterable[int], shown: Shown, kinds: Sequence[str] | None, *, subject: bool, target: bool, limit: int
) -> Statement:
    """Select the relations of entities as their subject, their object, or both, the latest first."""
    only, args = _of_kinds(kinds)
    listed = ids_text(ids)
    ends = [name for name, wanted in (("subject_id", subject), ("object_id", target)) if wanted]
    arm = (
        f"SELECT {RELATION} FROM {IDS} CROSS JOIN relations r ON r.{{}} = t.value "
        f"CROSS JOIN versions v ON v.id = r.version_id WHERE {shown.sql}{only}"
    )
    return Statement(
        f"{' UNION '.join(arm.format(end) for end in ends)} ORDER BY 1 DESC, 2 LIMIT ?",
        (*(listed, *shown.args, *args) * len(ends), limit),
    )


def all_relations(space: SpaceRow, shown: Shown, kinds: Sequence[str] | None, limit: int) -> Statement:
    """Select the relations of a space, the latest first."""
    only, args = _of_kinds(kinds)
    return Statement(
        f"SELECT {RELATION} FROM versions v CROSS JOIN relations r ON r.version_id = v.id "
        f"WHERE v.space_id = ? AND {shown.sql}{only} ORDER BY v.id DESC, 2 LIMIT ?",
        (space.id, *shown.args, *args, limit),
    )


def _of_kinds(kinds: Sequence[str] | None) -> tuple[str, tuple[str, ...]]:
    """Return a condition on the kind of a relation, after others, and its arguments; None for every kind."""
    return ("", ()) if kinds is None else (f" AND r.kind IN {LISTED}", (json.dumps(list(kinds)),))


class Wanted(NamedTuple):
    """Limits of a level: entities in all, those that may be merged, and those with their name and latest mentions.

    The entities of `known` come last, and count for nothing.
    """

    most: int
    named: int
    sketched: int
    known: Sequence[int]


def level(
    ids: Iterable[int], kinds: Sequence[str] | None, shown: Shown, wanted: Wanted, *, by_memory: bool
) -> Statement:
    """Select what is tied to entities: (entity, one of those given, kinds, number of versions, rows, its name).

    At most `ROWS` rows are read, the latest of each entity first. With `by_memory`, what one memory mentions is tied.
    The name of the first ones is JSON of the columns of `names` and the sketch. For further ones it only tells whether
    other names may belong to it, 0 or 1. It is null for those that are only counted.
    """
    ties, args = _ties(ids, kinds, shown, wanted, by_memory=by_memory)
    entity = "CROSS JOIN entities e ON e.id = found"
    named = -1 if wanted.named >= wanted.most else max(wanted.named - wanted.sketched, 0)
    parts = [
        (
            f"json_array({NAME}, {RELATED}, {sketch('found', shown)} || '')",  # as a text in all versions of SQLite
            entity,
            (*shown.args, BRIEF),
            wanted.sketched,
            0,
        ),
        (RELATED, entity, (), named, wanted.sketched),
        ("NULL", "", (), 0 if named < 0 else -1, max(wanted.named, wanted.sketched)),
    ]
    parts = [one for one in parts if one[3]]  # a server plans each statement again
    selects = " UNION ALL ".join(
        f"SELECT found, via, kinds, weight, number, {columns} FROM (SELECT * FROM ties LIMIT ? OFFSET ?) {joined}"
        for columns, joined, *_ in parts
    )
    last = [one for _, _, own, limit, offset in parts for one in (*own, limit, offset)]
    return Statement(f"WITH ties AS MATERIALIZED ({ties}) {selects}", (*args, *last))


def levels_and_meeting(
    sides: Sequence[tuple[Iterable[int], Wanted]], kinds: Sequence[str] | None, shown: Shown, *, by_memory: bool
) -> Statement:
    """Select what is tied to two sets of entities: the columns of `level`, with the place of the set before them.

    The rest of `Wanted` counts as unlimited, so the name only tells whether other names may belong to it. A further row
    has the place 2 and a tie between what was found: (one of the second set, one of the first). It is there only when
    no entity is tied to both sets.
    """
    tables: list[str] = []
    args: list[Scalar] = []
    for table, (ids, wanted) in zip(("one", "two"), sides, strict=True):
        ties, own = _ties(ids, kinds, shown, wanted, by_memory=by_memory)
        tables.append(f"{table} AS MATERIALIZED ({ties})")
        args += own
    selects = [
        f"SELECT {place}, found, via, kinds, weight, number, {RELATED} "
        f"FROM {table} CROSS JOIN entities e ON e.id = found"
        for place, table in enumerate(("one", "two"))
    ]
    arms, more = _meeting_arms("two t", "t.found", "(SELECT found FROM one)", (), kinds, shown, by_memory=by_memory)
    apart = "NOT EXISTS (SELECT 1 FROM one CROSS JOIN two ON two.found = one.found)"
    met = f"SELECT * FROM (SELECT 2, first, second, NULL, 0, 0, NULL FROM ({arms}) WHERE {apart} LIMIT 1)"
    return Statement(f"WITH {', '.join(tables)} {' UNION ALL '.join([*selects, met])}", (*args, *more))


def _ties(
    ids: Iterable[int], kinds: Sequence[str] | None, shown: Shown, wanted: Wanted, *, by_memory: bool
) -> tuple[str, list[Scalar]]:
    """Return SQL that selects (found, via, kinds, weight, number) of a level, and its arguments."""
    listed, (only, own) = ids_text(ids), _of_kinds(kinds)
    arms: list[str] = []
    args: list[Scalar] = []
    for this, other in _ENDS if kinds is None or kinds else ():
        arms.append(
            f"SELECT r.{other} AS found, t.value AS via, r.kind AS kind, r.version_id AS version FROM {IDS} "
            f"CROSS JOIN relations r ON r.{this} = t.value CROSS JOIN versions v ON v.id = r.version_id "
            f"WHERE r.object_id IS NOT NULL AND {shown.sql}{only}"
        )
        args += [listed, *shown.args, *own]
    if by_memory:
        arms.append(
            "SELECT o.entity_id AS found, t.value AS via, 'mentioned_with' AS kind, m.version_id AS version "
            f"FROM {IDS} "
            "CROSS JOIN mentions m ON m.entity_id = t.value CROSS JOIN versions v ON v.id = m.version_id "
            "CROSS JOIN mentions o ON o.version_id = m.version_id AND o.entity_id <> m.entity_id "
            f"WHERE {TIED} AND {shown.sql}"
        )
        args += [listed, *shown.args]
    ties = (
        "SELECT found, min(via) AS via, group_concat(DISTINCT kind) AS kinds, count(DISTINCT version) AS weight, "
        f"count(*) AS number FROM (SELECT * FROM ({' UNION ALL '.join(arms)}) LIMIT {ROWS}) GROUP BY found "
        f"ORDER BY found IN {LISTED}, weight DESC, found LIMIT ?"
    )
    return ties, [*args, ids_text(wanted.known), wanted.most + len(wanted.known)]


def meeting(
    ids: Iterable[int], others: Iterable[int], kinds: Sequence[str] | None, shown: Shown, *, by_memory: bool
) -> Statement:
    """Select one tie between two sets of entities: (one of the first, one of the others)."""
    given = (ids_text(ids), ids_text(others))
    arms, args = _meeting_arms(IDS, "t.value", LISTED, given, kinds, shown, by_memory=by_memory)
    return Statement(f"{arms} LIMIT 1", tuple(args))


def _meeting_arms(
    source: str,
    first: str,
    others: str,
    given: Sequence[str],
    kinds: Sequence[str] | None,
    shown: Shown,
    *,
    by_memory: bool,
) -> tuple[str, list[Scalar]]:
    """Return SQL that selects (first, second) of ties from a column of a source `t` to a list, and its arguments.

    `given` are the arguments of the source and of the list.
    """
    only, own = _of_kinds(kinds)
    arms: list[str] = []
    args: list[Scalar] = []
    for this, other in _ENDS if kinds is None or kinds else ():
        arms.append(
            f"SELECT {first} AS first, r.{other} AS second FROM {source} CROSS JOIN relations r ON r.{this} = {first} "
            "CROSS JOIN versions v ON v.id = r.version_id "
            f"WHERE r.object_id IS NOT NULL AND r.{other} IN {others} AND {shown.sql}{only}"
        )
        args += [*given, *shown.args, *own]
    if by_memory:
        arms.append(
            f"SELECT {first} AS first, o.entity_id AS second FROM {source} "
            f"CROSS JOIN mentions m ON m.entity_id = {first} "
            "CROSS JOIN mentions o ON o.version_id = m.version_id CROSS JOIN versions v ON v.id = m.version_id "
            f"WHERE o.entity_id IN {others} AND {TIED} AND {shown.sql}"
        )
        args += [*given, *shown.args]
    return " UNION ALL ".join(arms), args


def between(pairs: Sequence[tuple[Sequence[int], Sequence[int]]], shown: Shown, limit: int) -> Statement:
    """Select (place, JSON of [[kind, memory in hex], …]) of ties between the members of two groups, for each pair.

    At most `limit` relations of each direction are selected, and as many memories that mention both.
    """
    ends = "json_each(p.value ->> 0) t CROSS JOIN json_each(p.value ->> 1) u"
    arms = [
        f"SELECT r.kind AS kind, v.memory_id AS memory FROM {ends} CROSS JOIN relations r ON r.{this} = t.value "
        f"AND r.{other} = u.value CROSS JOIN versions v ON v.id = r.version_id WHERE {shown.sql}"
        for this, other in _ENDS
    ]
    arms.append(
        f"SELECT 'mentioned_with' AS kind, v.memory_id AS memory FROM {ends} "
        "CROSS JOIN mentions m ON m.entity_id = t.value CROSS JOIN mentions o ON o.version_id = m.version_id "
        f"AND o.entity_id = u.value CROSS JOIN versions v ON v.id = m.version_id WHERE {TIED} AND {shown.sql}"
    )
    found = " UNION ALL ".join(f"SELECT * FROM ({arm} LIMIT ?)" for arm in arms)
    listed = json.dumps([[sorted(one), sorted(other)] for one, other in pairs])
    return Statement(
        "SELECT p.key, (SELECT json_group_array(DISTINCT json_array(kind, hex(memory))) "
        f"FROM ({found})) FROM json_each(?) p",
        ((*shown.args, limit) * 3 + (listed,)),
    )


def mentioned_with(ids: Iterable[int], shown: Shown) -> Statement:
    """Select (entity, another that a version mentions too, number of such versions) of entities."""
    return Statement(
        f"SELECT t.value, o.entity_id, count(DISTINCT m.version_id) FROM {IDS} "
        "CROSS JOIN mentions m ON m.entity_id = t.value CROSS JOIN versions v ON v.id = m.version_id "
        "CROSS JOIN mentions o ON o.version_id = m.version_id AND o.entity_id <> m.entity_id "
        f"WHERE {TIED} AND {shown.sql} GROUP BY t.value, o.entity_id",
        (ids_text(ids), *shown.args),
    )


def mentioned_together(ids: Iterable[int], shown: Shown) -> Statement:
    """Select the columns of `mentioned_with` of pairs of these entities, by their latest `ROWS` mentions."""
    return Statement(
        "WITH named AS MATERIALIZED (SELECT DISTINCT m.version_id AS version, m.entity_id AS entity "
        f"FROM {IDS} CROSS JOIN mentions m ON m.entity_id = t.value CROSS JOIN versions v ON v.id = m.version_id "
        f"WHERE m.kind <> 'date' AND v.kind NOT IN ('entity', 'relation') AND {shown.sql} "
        f"ORDER BY m.version_id DESC LIMIT {ROWS}) "
        "SELECT one.entity, two.entity, count(*) FROM named one JOIN named two "
        "ON two.version = one.version AND two.entity <> one.entity GROUP BY one.entity, two.entity",
        (ids_text(ids), *shown.args),
    )
