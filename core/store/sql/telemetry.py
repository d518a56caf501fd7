"""The SQL of telemetry: retrievals of memories, verdicts on them, and candidates by both."""

import json
from collections.abc import Mapping
from typing import cast

from muisti.core.model.choices import Verdict
from muisti.core.model.outcomes import Telemetry
from muisti.core.model.times import from_us
from muisti.core.model.values import IMPORTANCE, Seq
from muisti.core.store.database import Refusal, Rows, Scalar, Statement, refuse
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import COLUMNS, PLAIN, UNEXPIRED
from muisti.core.text.terms import fold

# The SQL of feedback: the verdicts of callers on memories, one for each caller and memory

VALUE: dict[Verdict | None, int] = {"useful": 1, "not_useful": -1, None: 0}


def give_verdict(space: SpaceRow, memory_id: bytes, actor: str, verdict: Verdict | None, now: int) -> list[Statement]:
    """Store a caller's verdict in place of an earlier one; refuse with `no_memory` when the memory is gone.

    Repeating a verdict changes nothing.
    """
    value = VALUE[verdict]
    said = (space.id, memory_id, actor)
    return [
        Statement(
            f"{refuse(Refusal.NO_MEMORY)} WHERE NOT EXISTS "
            "(SELECT 1 FROM versions WHERE memory_id = ? AND space_id = ? AND died IS NULL)",
            (memory_id, space.id),
        ),
        Statement(
            "UPDATE spaces SET feedback = feedback + 1 WHERE id = ? AND ? <> coalesce("
            "(SELECT verdict FROM feedback WHERE space_id = ? AND memory_id = ? AND actor = ?), 0)",
            (space.id, value, *said),
        ),
        Statement(
            "INSERT INTO feedback (space_id, memory_id, actor, verdict, number, given_at) "
            "SELECT id, ?, ?, ?, feedback, ? FROM spaces WHERE id = ? AND ? <> coalesce("
            "(SELECT verdict FROM feedback WHERE space_id = ? AND memory_id = ? AND actor = ?), 0) "
            "ON CONFLICT (space_id, memory_id, actor) DO UPDATE "
            "SET verdict = excluded.verdict, number = excluded.number, given_at = excluded.given_at",
            (memory_id, actor, value, now, space.id, value, *said),
        ),
    ]


def verdicts_after(space: SpaceRow, number: int) -> list[Statement]:
    """Select the number of verdicts of the space; then (memory id, useful, not useful) of memories with a newer one."""
    return [
        Statement("SELECT feedback FROM spaces WHERE id = ?", (space.id,)),
        Statement(
            "SELECT memory_id, sum(verdict = 1), sum(verdict = -1) FROM feedback WHERE space_id = ? AND memory_id IN "
            "(SELECT memory_id FROM feedback WHERE space_id = ? AND number > ?) GROUP BY memory_id",
            (space.id, space.id, number),
        ),
    ]


_SAID: dict[int | None, Verdict | None] = {value: verdict for verdict, value in VALUE.items()}


def add(epoch: str, retrieved: Mapping[str, tuple[int, int]]) -> Statement:
    """Add to counts, given as (count, last time) by memory id in 32 hex digits; memories that are gone are skipped.

    Texts of fixed width, and the look for counts before versions, save a quarter of the time.
    """
    rows = json.dumps([f"{id_}{count:08}{last}" for id_, (count, last) in retrieved.items()])
    memory = "unhex(substr(r.value, 1, 32))"
    return Statement(
        "INSERT INTO retrievals (space_id, memory_id, count, last_at) "
        f"SELECT s.id, {memory}, CAST(substr(r.value, 33, 8) AS INTEGER), CAST(substr(r.value, 41) AS INTEGER) "
        "FROM json_each(?) r JOIN spaces s WHERE s.epoch = ? AND "
        f"(EXISTS (SELECT 1 FROM retrievals t WHERE t.space_id = s.id AND t.memory_id = {memory}) OR "
        f"EXISTS (SELECT 1 FROM versions v WHERE v.memory_id = {memory} AND +v.space_id = s.id)) "
        "ON CONFLICT (space_id, memory_id) DO UPDATE "
        "SET count = count + excluded.count, last_at = max(last_at, excluded.last_at)",
        (rows, epoch),
    )


def retrieved_after(space: SpaceRow, after: int) -> Statement:
    """Select (memory id, last time) of memories retrieved after a time, in microseconds."""
    return Statement("SELECT memory_id, last_at FROM retrievals WHERE space_id = ? AND last_at > ?", (space.id, after))


def of_memory(space: SpaceRow, memory_id: bytes, actor: str) -> Statement:
    """Select retrieval count and time of a memory, its useful and not useful verdicts, and the actor's, in one row."""
    mine = "space_id = ? AND memory_id = ?"
    return Statement(
        f"SELECT (SELECT count FROM retrievals WHERE {mine}), (SELECT last_at FROM retrievals WHERE {mine}), "
        f"(SELECT count(*) FROM feedback WHERE {mine} AND verdict = 1), "
        f"(SELECT count(*) FROM feedback WHERE {mine} AND verdict = -1), "
        f"(SELECT verdict FROM feedback WHERE {mine} AND actor = ?)",
        (*(space.id, memory_id) * 5, actor),
    )


def telemetry(rows: Rows, memory_id: str, seq: Seq) -> Telemetry:
    """Read the row of `of_memory`."""
    count, last, useful, not_useful, own = cast(tuple[int | None, int | None, int, int, int | None], rows[0])
    return Telemetry(
        memory_id=memory_id,
        retrieval_count=count or 0,
        last_retrieved_at=None if last is None else from_us(last),
        useful=useful,
        not_useful=not_useful,
        feedback=_SAID.get(own),
        seq=seq,
    )


# The SQL of candidates: those retrieved often enough to promote, and those never asked for

_FROM = (
    "FROM versions v LEFT JOIN retrievals r ON r.space_id = v.space_id AND r.memory_id = v.memory_id "
    f"WHERE v.space_id = ? AND v.died IS NULL AND v.status = 'candidate' AND {UNEXPIRED}"
)


def proved(space: SpaceRow, category: str | None, now: int, retrievals: int, most: int) -> Statement:
    """Select candidates retrieved at least `retrievals` times, oldest first; `category` None for all."""
    return _chosen(space, category, now, "coalesce(r.count, 0) >= ?", (retrievals,), most)


def neglected(space: SpaceRow, category: str | None, now: int, retrievals: int, before: int, most: int) -> Statement:
    """Select candidates made before a time and retrieved less often, oldest first; no guards and nothing important."""
    where = "coalesce(r.count, 0) < ? AND v.created_at < ? AND v.type <> 'guard' AND v.importance < ?"
    return _chosen(space, category, now, where, (retrievals, before, IMPORTANCE.index("high")), most)


def by_status(space: SpaceRow, category: str | None) -> Statement:
    """Count (status, memories) of memories that are not deleted."""
    only, args = _only(category)
    return Statement(
        "SELECT v.status, count(*) FROM versions v "
        f"WHERE v.space_id = ? AND v.died IS NULL AND {PLAIN}{only} GROUP BY v.status",
        (space.id, *args),
    )


def spaces_with_some() -> Statement:
    """Select the names of the spaces that have candidates."""
    return Statement(
        "SELECT s.name FROM spaces s WHERE EXISTS (SELECT 1 FROM versions v "
        "WHERE v.space_id = s.id AND v.died IS NULL AND v.status = 'candidate') ORDER BY s.name"
    )


def _chosen(
    space: SpaceRow, category: str | None, now: int, where: str, args: tuple[Scalar, ...], most: int
) -> Statement:
    only, own = _only(category)
    return Statement(
        f"SELECT {COLUMNS} {_FROM} AND {where}{only} ORDER BY v.created_at, v.memory_id LIMIT ?",
        (space.id, now, *args, *own, most),
    )


def _only(category: str | None) -> tuple[str, tuple[Scalar, ...]]:
    return ("", ()) if category is None else (" AND v.category_folded = ?", (fold(category),))
