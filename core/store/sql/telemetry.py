"""The SQL of telemetry: how often and when memories were retrieved, and the verdicts on them."""

import json
from collections.abc import Mapping
from typing import cast

from muisti.core.model.outcomes import Telemetry
from muisti.core.model.terms import Verdict
from muisti.core.model.times import from_us
from muisti.core.model.values import Seq
from muisti.core.store.database import Rows, Statement
from muisti.core.store.sql.feedback import VALUE
from muisti.core.store.sql.spaces import SpaceRow

_SAID: dict[int | None, Verdict | None] = {value: verdict for verdict, value in VALUE.items()}


def add(epoch: str, retrieved: Mapping[str, tuple[int, int]]) -> Statement:
    """Add to counts, given as (count, last time) by memory id in 32 hex digits; memories that are gone are skipped."""
    rows = json.dumps([[id_, *found] for id_, found in retrieved.items()])
    return Statement(
        "INSERT INTO retrievals (space_id, memory_id, count, last_at) "
        "SELECT s.id, unhex(r.value ->> 0), r.value ->> 1, r.value ->> 2 FROM json_each(?) r JOIN spaces s "
        "WHERE s.epoch = ? AND EXISTS "
        "(SELECT 1 FROM versions v WHERE v.memory_id = unhex(r.value ->> 0) AND +v.space_id = s.id) "
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
