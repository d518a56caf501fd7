"""The SQL of retrievals: how often memories were given to those who asked, and when last."""

import json
from collections.abc import Mapping
from typing import cast

from core.store.database import Row, Statement
from core.store.spaces import SpaceRow
from core.times import from_us
from core.values import Seq, Telemetry

_ITS = "WHERE space_id = ? AND memory_id = ?"


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
    """One row about a memory: its retrievals, and what callers said of it."""
    return Statement(
        f"SELECT coalesce((SELECT count FROM retrievals {_ITS}), 0), (SELECT last_at FROM retrievals {_ITS}), "
        f"(SELECT count(*) FROM feedback {_ITS} AND verdict = 1), "
        f"(SELECT count(*) FROM feedback {_ITS} AND verdict = -1)",
        (space.id, memory_id) * 4,
    )


def telemetry(row: Row, memory_id: str, seq: Seq) -> Telemetry:
    """What a row of `of_memory` tells."""
    count, last, useful, not_useful = cast(tuple[int, int | None, int, int], row)
    return Telemetry(
        memory_id=memory_id,
        retrieval_count=count,
        last_retrieved_at=None if last is None else from_us(last),
        useful=useful,
        not_useful=not_useful,
        seq=seq,
    )
