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


class KeptLine(NamedTuple):
    """A row of `listed`. `parameters` and `answer` are JSON, `made_at` is in microseconds, `hits` a number."""

    id: bytes
    made_at: int
    actor: str
    seq: int
    parameters: str
    answer: str
    hits: int


class Chosen(NamedTuple):
    """Conditions of a list of receipts, None for any: the folded category, the caller, times in microseconds."""

    category: str | None = None
    actor: str | None = None
    since: int | None = None
    until: int | None = None
    evidence: str | None = None


class KeptHit(NamedTuple):
    """A row of `hits`."""

    rank: int
    memory_id: bytes
    version: int
    score: float


def kept(row: Row) -> Kept:
    return Kept(*cast(tuple[bytes, int, str, str, int, str, str, int, str, int, str, str], row))


def kept_line(row: Row) -> KeptLine:
    return KeptLine(*cast(tuple[bytes, int, str, int, str, str, int], row))


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


def listed(space: SpaceRow, chosen: Chosen, kept_from: int, limit: int, after: bytes | None) -> Statement:
    """Select receipts of a space made at `kept_from` or later, newest first; `after` is the last id before the page."""
    conditions = {
        "r.category = ?": chosen.category,
        "r.actor = ?": chosen.actor,
        "r.made_at >= ?": kept_from if chosen.since is None else max(kept_from, chosen.since),
        "r.made_at < ?": chosen.until,
        "r.answer ->> '$.evidence' = ?": chosen.evidence,
        "r.id < ?": after,
    }
    given = {condition: value for condition, value in conditions.items() if value is not None}
    return Statement(
        "SELECT r.id, r.made_at, r.actor, r.seq, r.parameters, r.answer, "
        "(SELECT count(*) FROM receipt_hits h WHERE h.receipt_id = r.id) FROM receipts r WHERE r.space_id = ? "
        f"{''.join(f'AND {condition} ' for condition in given)}ORDER BY r.id DESC LIMIT ?",
        (space.id, *given.values(), limit),
    )


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
