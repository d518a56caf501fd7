"""The SQL that selects the memories that an erasure takes: those that are named, and all that may tell of them."""

from collections.abc import Sequence

from muisti.core.query.subject import Subject
from muisti.core.store.database import Scalar, Statement
from muisti.core.store.sql import filters
from muisti.core.store.sql.id_lists import IDS, id_list
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import structural
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


def some(space: SpaceRow, where: str, args: Sequence[Scalar], limit: int) -> Statement:
    """Select the ids of up to `limit` memories with a version that meets `where`."""
    return Statement(
        f"SELECT DISTINCT v.memory_id FROM versions v WHERE v.space_id = ? AND ({where}) ORDER BY 1 LIMIT ?",
        (space.id, *args, limit),
    )


def plan(space: SpaceRow, where: str, args: Sequence[Scalar], limit: int) -> list[Statement]:
    """Count the memories with a version that meets `where`, and select (memory id, last version) of some.

    The summaries that may tell of them count as well.
    """
    gone, values = with_summaries(space, where, args)
    found = f"FROM versions o WHERE +o.space_id = ? AND o.memory_id IN ({gone})"
    given = (space.id, *values)
    return [
        Statement(f"SELECT count(DISTINCT o.memory_id) {found}", given),
        Statement(f"SELECT o.memory_id, max(o.version) {found} GROUP BY 1 ORDER BY 1 LIMIT ?", (*given, limit)),
    ]


def relatives(space: SpaceRow, memories: Sequence[bytes]) -> Statement:
    """Select the ids of memories that name one of these as their parent, or as the memory that they superseded."""
    return Statement(
        "SELECT DISTINCT memory_id FROM versions WHERE space_id = ? AND died IS NULL AND "
        f"(parent_id IN {IDS} OR supersedes IN {IDS}) AND memory_id NOT IN {IDS} LIMIT 100",
        (space.id, *(id_list(memories),) * 3),
    )


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

    Those are summaries, and the rest of a document of which a chunk is selected.

    Summaries are made from exchanges, from such summaries, and from those, so three steps reach them all. An
    abstractive summary may name only some of its sources, so it counts by the turns that it is about.
    """
    made = (
        f"SELECT s.memory_id FROM versions s, json_each(s.derived_from) d WHERE s.space_id = {space.id} "
        f"AND s.kind = 'summary' AND {structural('s')} "
        "AND unhex(replace(d.value, '-', '')) IN (SELECT * FROM {})"
    )
    steps = ", ".join(f"step{n} AS MATERIALIZED ({made.format(f'step{n - 1}')})" for n in (1, 2, 3))
    return (
        f"WITH picked AS MATERIALIZED (SELECT v.memory_id FROM versions v WHERE v.space_id = ? AND ({where})), "
        f"{_WHOLE.format(space=space.id)}, "
        f"said AS MATERIALIZED (SELECT DISTINCT e.conversation, e.category_folded, e.turn FROM versions e "
        f"WHERE +e.space_id = {space.id} AND e.memory_id IN (SELECT * FROM named) AND e.kind = 'exchange'), "
        f"step0 AS MATERIALIZED (SELECT * FROM named UNION {_written(space)}), {steps} "
        "SELECT * FROM step0 UNION SELECT * FROM step1 UNION SELECT * FROM step2 UNION SELECT * FROM step3",
        (space.id, *args),
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
