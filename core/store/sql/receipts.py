"""The SQL of receipts: the requests and answers of searches."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

from muisti.core.store.database import Row, Statement
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import COLUMNS


class Kept(NamedTuple):
    """A row of `by_id`. `parameters` and `answer` are JSON, times in microseconds."""

    id: bytes
    space_id: int
    space: str
    epoch: str
    made_at: int
    actor: str
    category: str | None
    seq: int
    generation: str | None
    reference_time: int
    parameters: str
    answer: str


class KeptHit(NamedTuple):
    """A row of `hits`."""

    rank: int
    memory_id: bytes
    version: int
    score: float


def kept(row: Row) -> Kept:
    return Kept(*cast(tuple[bytes, int, str, str, int, str, str, int, str, int, str, str], row))


def kept_hit(row: Row) -> KeptHit:
    return KeptHit(*cast(tuple[int, bytes, int, float], row))


def insert(space: SpaceRow, one: Kept, hits: Sequence[KeptHit], most: int) -> Iterator[Statement]:
    """Store a receipt, and delete all but the newest `most` of the space."""
    yield Statement(
        "INSERT INTO receipts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (one.id, space.id, one.made_at, one.actor, one.category, one.seq, one.generation, one.reference_time,
         one.parameters, one.answer),
    )  # fmt: skip
    for hit in hits:
        yield Statement("INSERT INTO receipt_hits VALUES (?, ?, ?, ?, ?)", (one.id, *hit))
    yield Statement(
        "DELETE FROM receipts WHERE space_id = ? AND id <= "
        "(SELECT id FROM receipts WHERE space_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?)",
        (space.id, space.id, most),
    )


def by_id(receipt_id: bytes) -> list[Statement]:
    """Select a receipt with its space, and its hits by rank."""
    return [
        Statement(
            "SELECT r.id, r.space_id, s.name, s.epoch, r.made_at, r.actor, r.category, r.seq, r.generation, "
            "r.reference_time, r.parameters, r.answer FROM receipts r JOIN spaces s ON s.id = r.space_id "
            "WHERE r.id = ?",
            (receipt_id,),
        ),
        Statement(
            "SELECT rank, memory_id, version, score FROM receipt_hits WHERE receipt_id = ? ORDER BY rank", (receipt_id,)
        ),
    ]


def fates(space_id: int, memory_ids: Sequence[bytes]) -> Statement:
    """Select the last version of each memory, followed by its `died`, its `born`, and the `born` of version 1."""
    marks = ",".join("?" * len(memory_ids))
    return Statement(
        f"SELECT {COLUMNS}, v.died, v.born, "
        "(SELECT min(f.born) FROM versions f WHERE f.memory_id = v.memory_id AND f.version = 1) FROM versions v "
        f"WHERE +v.space_id = ? AND v.memory_id IN ({marks}) AND v.version = "
        "(SELECT max(version) FROM versions l WHERE l.memory_id = v.memory_id)",
        (space_id, *memory_ids),
    )


def forget(before: int, most: int) -> list[Statement]:
    """Delete up to `most` receipts made before a time; the last statement counts those that are left."""
    return [
        Statement(
            "DELETE FROM receipts WHERE id IN (SELECT id FROM receipts WHERE made_at < ? LIMIT ?)", (before, most)
        ),
        Statement("SELECT count(*) FROM receipts WHERE made_at < ?", (before,)),
    ]
