"""The SQL of retrievals: how often memories were given to those who asked, and when last."""

import json
from collections.abc import Mapping
from typing import cast

from core.store.database import Rows, Statement
from core.store.spaces import SpaceRow
from core.times import from_us
from core.values import Seq, Telemetry


def add(epoch: str, retrieved: Mapping[str, tuple[int, int]]) -> Statement:
    """Count on: by memory id (32 hex digits) how often, and when last. What is not there any more is passed over."""
    rows = json.dumps([[id_, *found] for id_, found in retrieved.items()])
    return Statement(
        "INSERT INTO retrievals (space_id, memory_id, count, last_at) "
        "SELECT s.id, unhex(r.value ->> 0), r.value ->> 1, r.value ->> 2 FROM json_each(?) r JOIN spaces s "
        "WHERE s.epoch = ? AND EXISTS "
        "(SELECT 1 FROM versions v WHERE v.memory_id = unhex(r.value ->> 0) AND v.space_id = s.id) "
        "ON CONFLICT (space_id, memory_id) DO UPDATE "
        "SET count = count + excluded.count, last_at = max(last_at, excluded.last_at)",
        (rows, epoch),
    )


def retrieved_after(space: SpaceRow, after: int) -> Statement:
    """(memory id, when last) of what was retrieved after a time, in microseconds."""
    return Statement("SELECT memory_id, last_at FROM retrievals WHERE space_id = ? AND last_at > ?", (space.id, after))


def of_memory(space: SpaceRow, memory_id: bytes) -> Statement:
    """The retrievals of a memory; no row for none."""
    return Statement(
        "SELECT count, last_at FROM retrievals WHERE space_id = ? AND memory_id = ?", (space.id, memory_id)
    )


def telemetry(rows: Rows, memory_id: str, seq: Seq) -> Telemetry:
    """What `of_memory` tells."""
    count, last = cast(tuple[int, int | None], rows[0]) if rows else (0, None)
    return Telemetry(
        memory_id=memory_id,
        retrieval_count=count,
        last_retrieved_at=None if last is None else from_us(last),
        seq=seq,
    )
