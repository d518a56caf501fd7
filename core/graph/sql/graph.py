"""The SQL that answers questions about the names in a space. Every statement sees what one caller sees at one point."""

import json
from collections.abc import Iterable, Sequence

from muisti.core.graph.sql.graph_rows import IDS as _IDS
from muisti.core.graph.sql.graph_rows import LISTED as _LISTED
from muisti.core.graph.sql.graph_rows import Shown
from muisti.core.graph.sql.graph_rows import ids_text as _ids
from muisti.core.store.database import Statement
from muisti.core.store.sql.spaces import SpaceRow

LATEST = 50  # mentions that tell the name and the kind of an entity
BRIEF = 8  # mentions that do, where it is only named as the end of a tie
AROUND, BEFORE = 200, 66  # characters around a mention, and before it
LONGS = 9  # longer names of a short one that are looked at
_HAS_KIND = "EXISTS (SELECT 1 FROM mentions n WHERE n.entity_id = e.id AND n.kind = ?)"
NAME = "e.id, e.code, e.norm"


def _some(table: str, where: str) -> str:
    return f"EXISTS (SELECT 1 FROM {table} o WHERE {where})"


def _entities(mine: str, theirs: str) -> str:
    """Return the condition that an entity has this text in a column; partial indexes lack the empty texts."""
    there = "" if mine == "norm" else f" AND o.{mine} <> ''"
    return _some("entities", f"o.space_id = e.space_id AND o.{mine} = e.{theirs}{there}")


_WORDS = ("first_word", "last_word", "initials")
_SPELLED = "{0}.space_id = e.space_id AND {0}.folded = e.folded AND {0}.id <> e.id"  # the same name, but for its case
RELATED = (
    f"({_some('aliases', 'o.entity_id = e.id')} OR {_some('aliases', 'o.alias_id = e.id')} "
    f"OR {_some('entities', _SPELLED.format('o'))} "
    f"OR CASE WHEN e.last_word = '' THEN {' OR '.join(_entities(word, 'norm') for word in _WORDS)} "
    f"ELSE {' OR '.join(_entities('norm', word) for word in _WORDS)} END)"
)


# Names


def called(space: str, folded: Sequence[str], codes: Sequence[str], shown: Shown) -> Statement:
    """Select the entities of a space that have some folded keys or codes: the columns of `names` and of `sketches`."""
    listed = " UNION ".join(
        f"SELECT n.id FROM spaces s CROSS JOIN entities n ON n.space_id = s.id "
        f"WHERE s.name = ? AND n.{one} IN {_LISTED}"
        for one in ("folded", "code")
    )
    return Statement(
        f"SELECT {NAME}, {RELATED}, {sketch('e.id', shown)} FROM entities e WHERE e.id IN ({listed})",
        (*shown.args, LATEST, space, json.dumps(list(folded)), space, json.dumps(list(codes))),
    )


def names(ids: Iterable[int]) -> Statement:
    """Select entities by id: (id, code, norm, whether other names may belong to it)."""
    return Statement(f"SELECT {NAME}, {RELATED} FROM {_IDS} CROSS JOIN entities e ON e.id = t.value", (_ids(ids),))


def sketches(ids: Iterable[int], shown: Shown, latest: int = LATEST) -> Statement:
    """Select (id, its latest mentions) of entities; see `_sketch`."""
    return Statement(f"SELECT t.value, {sketch('t.value', shown)} FROM {_IDS}", (*shown.args, latest, _ids(ids)))


def sketch(entity: str, shown: Shown) -> str:
    """Return the column of the latest mentions of an entity in JSON: [[kind, spelling, confidence, source, change], …].

    The spelling is null for a name that a statement of a person gives elsewhere than in its text. The arguments are
    those of `shown`, and the number of mentions.
    """
    spelling = (
        "CASE WHEN m.start >= 0 THEN substr(v.content, m.start + 1, m.stop - m.start) "
        "WHEN m.source = 'speaker' THEN iif(m.start = -2, v.structure ->> '$.replier', v.author) END"
    )
    return (
        "(SELECT json_group_array(json_array(kind, spelling, confidence, source, born)) FROM ("
        f"SELECT m.kind, {spelling} AS spelling, m.confidence, m.source, v.born FROM mentions m "
        f"CROSS JOIN versions v ON v.id = m.version_id WHERE m.entity_id = {entity} AND {shown.sql} LIMIT ?))"
    )


# What belongs together


def stated(ids: Iterable[int], shown: Shown) -> Statement:
    """Select what people state of entities: (entity, alias, apart, version, memory, its text, kind of the entity)."""
    columns = "a.entity_id, a.alias_id, a.apart, a.version_id, v.memory_id, v.content, v.structure ->> '$.kind'"
    arm = (
        f"SELECT {columns} FROM {_IDS} CROSS JOIN aliases a ON a.{{}} = t.value "
        f"CROSS JOIN versions v ON v.id = a.version_id WHERE {shown.sql}"
    )
    listed = _ids(ids)
    return Statement(
        f"{arm.format('entity_id')} UNION {arm.format('alias_id')}", (listed, *shown.args, listed, *shown.args)
    )


def longs(ids: Iterable[int], shown: Shown) -> Statement:
    """Select merge candidates of names: (name, rule, ids of other names in JSON). At most `LONGS` each.

    Candidates are longer names, and by the rule `spelling` those that differ in case alone.
    """
    listed, seen = _ids(ids), shown.mentioned("b.id")
    arms = [
        f"SELECT e.id, '{rule}', (SELECT json_group_array(id) FROM (SELECT b.id FROM entities b "
        f"WHERE {condition} AND {seen} LIMIT {LONGS})) AS found "
        f"FROM {_IDS} CROSS JOIN entities e ON e.id = t.value WHERE {which}found <> '[]'"
        for rule, condition, which in (
            *((rule, _longer(column), "e.last_word = '' AND ") for rule, column in _LONGER),
            ("spelling", _SPELLED.format("b"), ""),
        )
    ]
    return Statement(" UNION ALL ".join(arms), (*shown.args, listed) * len(arms))


_LONGER = (("acronym", "initials"), ("name_part", "first_word"), ("name_part", "last_word"))


def _longer(column: str) -> str:
    return f"b.space_id = e.space_id AND b.{column} = e.norm AND b.{column} <> ''"


def shorts(ids: Iterable[int]) -> Statement:
    """Select the names whose merge candidates include the given ones: shorter names, and those of another case."""
    arm = (
        f"SELECT a.id FROM {_IDS} CROSS JOIN entities e ON e.id = t.value CROSS JOIN entities a "
        "ON a.space_id = e.space_id AND a.norm = e.{0} WHERE e.{0} <> ''"
    )
    spelled = (
        f"SELECT a.id FROM {_IDS} CROSS JOIN entities e ON e.id = t.value CROSS JOIN entities a "
        f"ON {_SPELLED.format('a')}"
    )
    return Statement(" UNION ".join((*map(arm.format, _WORDS), spelled)), (_ids(ids),) * 4)


# Lists


def counted(
    space: SpaceRow,
    shown: Shown,
    prefix: str,
    kind: str | None,
    limit: int,
    *,
    memory: bytes | None = None,
    by_name: bool,
) -> Statement:
    """Select (id, memories that mention it, number of entities) of entities, the most mentioned first.

    With `prefix`, of those whose folded key begins with it, in small letters or in capitals. With `kind`, of those with
    a mention of this kind. With `memory`, of those that this memory mentions. Memories of the kinds `entity` and
    `relation` do not count, though what only they name is listed.
    """
    where, args = "e.space_id = ?", (space.id,)
    if prefix:
        begins = " OR ".join(["e.folded >= ? AND e.folded < ?"] * 2)
        starts = (prefix, prefix.upper())
        where, args = f"{where} AND ({begins})", (*args, *(end for one in starts for end in (one, one + "\U0010ffff")))
    if kind is not None:
        where, args = f"{where} AND {_HAS_KIND}", (*args, kind)
    if memory is not None:
        of = f"v.space_id = ? AND v.memory_id = ? AND {shown.sql}"
        named = f"SELECT o.entity_id FROM versions v CROSS JOIN mentions o ON o.version_id = v.id WHERE {of}"
        where, args = f"{where} AND e.id IN ({named})", (*args, space.id, memory, *shown.args)
    order = "lower(norm), norm" if by_name else "number DESC, norm"
    return Statement(
        "SELECT id, number, count(*) OVER () FROM (SELECT e.id, e.norm, "
        "count(DISTINCT iif(v.kind IN ('entity', 'relation'), NULL, v.id)) AS number "
        "FROM entities e CROSS JOIN mentions m ON m.entity_id = e.id CROSS JOIN versions v ON v.id = m.version_id "
        f"WHERE {where} AND {shown.sql} GROUP BY e.id) ORDER BY {order} LIMIT ?",
        (*args, *shown.args, limit),
    )


def together(groups: Sequence[Sequence[int]], shown: Shown) -> Statement:
    """Select (place, memories that mention it, first and last time) of groups of entities, by their places."""
    return Statement(
        "SELECT t.key, count(DISTINCT iif(v.kind IN ('entity', 'relation'), NULL, v.id)), "
        "min(coalesce(v.event_at, v.created_at)), max(coalesce(v.event_at, v.created_at)) "
        f"FROM {_IDS} CROSS JOIN json_each(t.value) i CROSS JOIN mentions m ON m.entity_id = i.value "
        f"CROSS JOIN versions v ON v.id = m.version_id WHERE {shown.sql} GROUP BY t.key",
        (json.dumps([list(group) for group in groups]), *shown.args),
    )


def frequencies(groups: Sequence[Sequence[int]], shown: Shown, most: int) -> Statement:
    """Select (place, versions that mention it, at most `most`) of groups of entities, by their places."""
    return Statement(
        "SELECT t.key, (SELECT count(*) FROM (SELECT DISTINCT m.version_id FROM json_each(t.value) i "
        "CROSS JOIN mentions m ON m.entity_id = i.value CROSS JOIN versions v ON v.id = m.version_id "
        f"WHERE {shown.sql} LIMIT ?)) FROM {_IDS}",
        (*shown.args, most, json.dumps([list(group) for group in groups])),
    )


def texts(space: SpaceRow, shown: Shown) -> Statement:
    """Count the versions that are seen."""
    return Statement(f"SELECT count(*) FROM versions v WHERE v.space_id = ? AND {shown.sql}", (space.id, *shown.args))


def mentioned(ids: Iterable[int], shown: Shown, limit: int) -> Statement:
    """Select where versions mention entities, the latest first: (memory, version, time, start, stop, text, …).

    The columns after the text are confidence, source, the `AROUND` characters of the content around it, and the
    author.
    """
    return Statement(
        "SELECT v.memory_id, v.version, coalesce(v.event_at, v.created_at), m.start, m.stop, "
        "iif(m.start < 0, coalesce(iif(m.start = -2, v.structure ->> '$.replier', v.author), ''), "
        "substr(v.content, m.start + 1, m.stop - m.start)), m.confidence, m.source, "
        f"substr(v.content, max(m.start + 1 - {BEFORE}, 1), {AROUND}), v.author "
        f"FROM {_IDS} CROSS JOIN mentions m ON m.entity_id = t.value CROSS JOIN versions v ON v.id = m.version_id "
        f"WHERE {shown.sql} AND v.kind NOT IN ('entity', 'relation') ORDER BY m.version_id DESC, m.start LIMIT ?",
        (_ids(ids), *shown.args, limit),
    )


def versions_of(ids: Iterable[int]) -> Statement:
    """Select the versions that mention entities, whoever sees them and whenever they lived; the rest is filtered."""
    return Statement(
        f"SELECT DISTINCT m.version_id FROM {_IDS} CROSS JOIN mentions m ON m.entity_id = t.value", (_ids(ids),)
    )


def incidence(space: SpaceRow, shown: Shown, after: int, limit: int) -> Statement:
    """Select (version, entity) of `limit` versions after a row, in order; null for one that mentions nothing.

    Words for times tie nothing together and are left out.
    """
    return Statement(
        "SELECT v.id, m.entity_id FROM (SELECT v.id FROM versions v WHERE v.space_id = ? AND v.id > ? "
        f"AND v.kind NOT IN ('entity', 'relation') AND {shown.sql} ORDER BY v.id LIMIT ?) v "
        "LEFT JOIN mentions m ON m.version_id = v.id AND m.kind <> 'date' ORDER BY v.id",
        (space.id, after, *shown.args, limit),
    )


# Figures


def figures(space: SpaceRow, shown: Shown) -> Statement:
    """Select the numbers of entities, mentions, relations, and versions that something was read out of."""
    of = f"FROM versions v CROSS JOIN {{}} ON r.version_id = v.id WHERE v.space_id = ? AND {shown.sql}"
    args = (space.id, *shown.args)
    mentions = of.format("mentions r")
    return Statement(
        f"SELECT (SELECT count(DISTINCT r.entity_id) {mentions}), (SELECT count(*) {mentions}), "
        f"(SELECT count(*) {of.format('relations r')}), (SELECT count(DISTINCT r.version_id) {mentions})",
        args * 4,
    )


def fallbacks(space: SpaceRow, shown: Shown) -> Statement:
    """Count the versions that are seen and that something else than the chosen recogniser has read."""
    return Statement(
        "SELECT count(*) FROM versions v CROSS JOIN graph_fallbacks f ON f.version_id = v.id "
        f"WHERE v.space_id = ? AND {shown.sql}",
        (space.id, *shown.args),
    )


def alike(space: SpaceRow, shown: Shown, limit: int) -> Statement:
    """Select the columns of `names`, and the number of memories, of the most mentioned entities."""
    return Statement(
        f"SELECT {NAME}, count(DISTINCT v.id) AS number FROM entities e CROSS JOIN mentions m "
        "ON m.entity_id = e.id CROSS JOIN versions v ON v.id = m.version_id "
        f"WHERE e.space_id = ? AND {shown.sql} GROUP BY e.id ORDER BY number DESC, e.norm LIMIT ?",
        (space.id, *shown.args, limit),
    )


# Exports


def page(space: SpaceRow, shown: Shown, after: str, limit: int) -> Statement:
    """Select (id, code) of the entities that are mentioned, in the order of their codes, after one of them."""
    return Statement(
        f"SELECT e.id, e.code FROM entities e WHERE e.space_id = ? AND e.code > ? AND {shown.mentioned('e.id')} "
        "ORDER BY e.code LIMIT ?",
        (space.id, after, *shown.args, limit),
    )
