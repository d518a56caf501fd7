"""The SQL that selects the memories that an erasure takes: those that are named, and all that may tell of them."""

from collections.abc import Sequence

from muisti.core.query.filters import Subject
from muisti.core.store.database import Scalar, Statement
from muisti.core.store.sql import filters
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import IDS, id_list, structural
from muisti.core.text.terms import fold

Condition = tuple[str, tuple[Scalar, ...]]


def where(subject: Subject) -> Condition:
    """Return the condition that a version `v` belongs to the subject, and its values."""
    met: list[Condition] = []
    if subject.memory is not None:
        met.append(("v.memory_id = ?", (subject.memory,)))
    if subject.author is not None:
        met.append(("v.author_folded = ?", (fold(subject.author),)))
    if subject.source is not None:
        met.append(("v.source = ?", (subject.source,)))
    if subject.older_than_us is not None:
        met.append(("v.created_at < ?", (subject.older_than_us,)))
    if subject.among is not None:
        met.append((f"v.memory_id IN {IDS}", (id_list(subject.among),)))
    if subject.filter is not None:
        met.append(filters.where(subject.filter))
    return " AND ".join(sql for sql, _ in met), tuple(arg for _, args in met for arg in args)


# Turns `x` that belong to a session, conversation or topic `v`.
_SPANS = "SELECT 1 FROM json_each({0}.structure, '$.spans') p WHERE {1}.turn BETWEEN p.value ->> 0 AND p.value ->> 1"
_IN_SPANS = f"EXISTS ({_SPANS})"
_WITHIN = (
    "CASE v.kind WHEN 'conversation' THEN x.conversation = v.conversation "
    f"WHEN 'topic' THEN x.conversation = v.conversation AND {_IN_SPANS.format('v', 'x')} "
    "ELSE x.conversation IN (SELECT c.conversation FROM versions c WHERE c.space_id = v.space_id AND c.died IS NULL "
    "AND c.kind = 'conversation' AND c.session = v.session AND c.category_folded IS v.category_folded) END"
)


def chosen(space: SpaceRow, subject: Subject) -> Condition:
    """Return the condition that a version `v` is erased with a subject.

    A session, conversation or topic belongs to nobody: a subject that meets it takes it only with its last turn.
    """
    met, args = where(subject)
    if subject.among is not None or subject.memory is not None:
        return met, args
    others = (
        f"SELECT 1 FROM versions x WHERE x.space_id = v.space_id AND x.kind = 'exchange' AND x.died IS NULL "
        f"AND x.category_folded IS v.category_folded AND {_WITHIN} "
        f"AND x.memory_id NOT IN (SELECT v.memory_id FROM versions v WHERE v.space_id = ? AND ({met}))"
    )
    return (
        f"({met}) AND (v.kind NOT IN ('session', 'conversation', 'topic') OR NOT EXISTS ({others}))",
        (*args, space.id, *args),
    )


def some(space: SpaceRow, where: str, args: Sequence[Scalar], limit: int) -> Statement:
    """Select the ids of up to `limit` memories with a version that meets `where`."""
    return Statement(
        f"SELECT DISTINCT v.memory_id FROM versions v WHERE v.space_id = ? AND ({where}) ORDER BY 1 LIMIT ?",
        (space.id, *args, limit),
    )


def plan(space: SpaceRow, where: str, args: Sequence[Scalar], limit: int) -> Statement:
    """Select (memory id, last version, number of all) of some memories with a version that meets `where`.

    The summaries that may tell of them count as well.
    """
    gone, values = with_summaries(space, where, args)
    found = f"FROM versions o WHERE +o.space_id = ? AND o.memory_id IN ({gone})"
    return Statement(
        f"SELECT o.memory_id, max(o.version), count(*) OVER () {found} GROUP BY 1 ORDER BY 1 LIMIT ?",
        (space.id, *values, limit),
    )


def relatives(space: SpaceRow, memories: Sequence[bytes]) -> Statement:
    """Select the ids of memories that name one of these as their parent, predecessor or source."""
    named = f"SELECT 1 FROM json_each(derived_from) d WHERE {_ID_OF.format('d')} IN {IDS}"
    return Statement(
        "SELECT DISTINCT memory_id FROM versions WHERE space_id = ? AND died IS NULL AND "
        f"(parent_id IN {IDS} OR supersedes IN {IDS} OR derived_from <> '[]' AND EXISTS ({named})) "
        f"AND memory_id NOT IN {IDS} LIMIT 100",
        (space.id, *(id_list(memories),) * 4),
    )


_ID_OF = "unhex(replace({0}.value, '-', ''))"
# Kinds of memories that go with what they are derived from. What somebody has said or filed stays.
_DERIVED = ("memory", "summary", "entity", "relation")


# A document of which a current chunk is erased is erased with all chunks, so that none shows a part of its text.
_WHOLE = (
    "wholes AS MATERIALIZED (SELECT v.parent_id AS id FROM versions v WHERE +v.space_id = {space} AND v.memory_id IN "
    "(SELECT * FROM picked) AND v.kind = 'chunk' AND v.document IS NOT NULL AND v.died IS NULL UNION "
    "SELECT v.memory_id FROM versions v WHERE +v.space_id = {space} AND v.memory_id IN (SELECT * FROM picked) "
    "AND v.kind = 'document'), "
    "named AS MATERIALIZED (SELECT * FROM picked UNION SELECT * FROM wholes UNION SELECT v.memory_id FROM versions v "
    "WHERE +v.space_id = {space} AND v.parent_id IN (SELECT * FROM wholes) AND v.kind = 'chunk' "
    "AND v.document IS NOT NULL)"
)


def with_summaries(space: SpaceRow, where: str, args: Sequence[Scalar]) -> Condition:
    """Return SQL that selects the memories with a version that meets `where`, and all that may tell of them.

    These are what is derived from them (`derived_from`), in as many steps as it takes. Topics that lose their last turn
    count as well, and the rest of a document of which a chunk is selected. An abstractive summary may name only some of
    its sources, so it counts by the turns that it is about.
    """
    kinds = " OR ".join(f"s.kind = {kind!r}" for kind in _DERIVED)
    return (
        "WITH RECURSIVE picked AS MATERIALIZED "
        f"(SELECT v.memory_id FROM versions v WHERE v.space_id = ? AND ({where})), "
        f"{_WHOLE.format(space=space.id)}, "
        f"said AS MATERIALIZED (SELECT DISTINCT e.conversation, e.category_folded, e.turn FROM versions e "
        f"WHERE +e.space_id = {space.id} AND e.memory_id IN (SELECT * FROM named) AND e.kind = 'exchange'), "
        f"sources AS MATERIALIZED (SELECT s.memory_id AS id, {_ID_OF.format('d')} AS source FROM versions s, "
        f"json_each(s.derived_from) d WHERE s.space_id = {space.id} AND s.derived_from <> '[]' AND ({kinds})), "
        f"made(id) AS (SELECT * FROM named UNION {_written(space)} UNION {_hollow(space)} "
        "UNION SELECT s.id FROM made m JOIN sources s ON s.source = m.id) SELECT id FROM made",
        (space.id, *args),
    )


def _hollow(space: SpaceRow) -> str:
    """Return SQL that selects topics with titles of their turns, of which `named` has the last."""
    turns = (
        "SELECT 1 FROM versions x WHERE x.space_id = t.space_id AND x.conversation = t.conversation "
        "AND x.kind = 'exchange' AND x.died IS NULL AND x.category_folded IS t.category_folded "
        f"AND {_IN_SPANS.format('t', 'x')} AND x.memory_id NOT IN (SELECT * FROM named)"
    )
    return (
        f"SELECT t.memory_id FROM said e CROSS JOIN versions t ON t.space_id = {space.id} "
        "AND t.conversation = e.conversation AND t.kind = 'topic' AND t.category_folded IS e.category_folded "
        f"WHERE {_IN_SPANS.format('t', 'e')} AND t.structure ->> '$.title' IS NOT 'given' "
        "AND t.version = (SELECT max(l.version) FROM versions l WHERE l.memory_id = t.memory_id) "
        f"AND NOT EXISTS ({turns})"
    )


def _written(space: SpaceRow) -> str:
    """Return SQL that selects the abstractive summaries of the conversations, sessions and topics of turns in `said`.

    A topic's summary counts when a version of the topic has held the turn, or when no version says what it has held.
    """
    within = "e.turn BETWEEN p.value ->> 0 AND p.value ->> 1"
    held = (
        f"SELECT max({within}) FROM versions t, json_each(t.structure, '$.spans') p WHERE t.space_id = {space.id} "
        "AND t.conversation = s.conversation AND t.kind = 'topic' AND t.topic = s.topic "
        "AND t.category_folded IS s.category_folded"
    )
    same = f"{{0}}.space_id = {space.id} AND {{0}}.conversation = e.conversation "
    same += "AND {0}.category_folded IS e.category_folded"
    sessions = f"SELECT c.session FROM said e CROSS JOIN versions c ON {same.format('c')} AND c.kind = 'conversation'"
    return (
        f"SELECT s.memory_id FROM said e CROSS JOIN versions s ON {same.format('s')} WHERE s.kind = 'summary' "
        "AND s.structure ->> '$.method' = 'abstractive' AND (s.turn IS NULL OR s.turn = e.turn) "
        f"AND (s.topic IS NULL OR coalesce(({held}), 1)) "
        f"UNION SELECT s.memory_id FROM versions s WHERE s.space_id = {space.id} AND s.kind = 'summary' "
        f"AND {structural('s')} AND s.structure ->> '$.method' = 'abstractive' AND s.conversation IS NULL "
        f"AND s.session IN ({sessions})"
    )


def completed(space: SpaceRow, memories: Sequence[bytes]) -> Statement:
    """Select the ids of memories and of all that may tell of them, deleted ones too; see `with_summaries`."""
    return Statement(*with_summaries(space, f"v.memory_id IN {IDS}", (id_list(memories),)))
