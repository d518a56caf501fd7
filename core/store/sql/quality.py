"""The SQL of quality: probes and their runs, receipts of searches, and lint."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from muisti.core.store.database import Refusal, Scalar, Statement, refuse, slots
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import COLUMNS, PLAIN, UNEXPIRED
from muisti.core.text.terms import fold


class ProbeRow(NamedTuple):
    """A row of `probes_of`; `made_at` in microseconds."""

    id: bytes
    query: str
    memory_id: bytes | None
    category: str | None
    key: str | None
    k: int
    made_at: int
    actor: str


class RunRow(NamedTuple):
    """A row of `runs`. `at` in microseconds, `ranks` JSON."""

    at: int
    seq: int
    generation: str | None
    recall: float
    ranks: str


def insert_probe(space: SpaceRow, one: ProbeRow, most: int) -> list[Statement]:
    """Add a probe; refuse with `incomplete` when the space has `most` probes."""
    return [
        Statement(
            f"{refuse(Refusal.INCOMPLETE)} WHERE (SELECT count(*) FROM probes WHERE space_id = ?) >= ?",
            (space.id, most),
        ),
        Statement(
            "INSERT INTO probes (space_id, id, query, memory_id, category, key, k, made_at, actor) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (space.id, *one),
        ),
    ]


def probes_of(space: SpaceRow) -> Statement:
    """Select all probes, oldest first."""
    return Statement(
        "SELECT id, query, memory_id, category, key, k, made_at, actor FROM probes WHERE space_id = ? ORDER BY id",
        (space.id,),
    )


def delete_probe(space: SpaceRow, probe_id: bytes) -> list[Statement]:
    """Delete a probe; the first statement counts the probes with that id."""
    return [
        Statement("SELECT count(*) FROM probes WHERE space_id = ? AND id = ?", (space.id, probe_id)),
        Statement("DELETE FROM probes WHERE space_id = ? AND id = ?", (space.id, probe_id)),
    ]


def insert_run(space: SpaceRow, one: RunRow, most: int) -> list[Statement]:
    """Add a run, and delete all but the newest `most`."""
    return [
        Statement(
            "INSERT INTO probe_runs (space_id, at, seq, generation, recall, ranks) VALUES (?, ?, ?, ?, ?, ?)",
            (space.id, *one),
        ),
        Statement(
            "DELETE FROM probe_runs WHERE space_id = ? AND id <= "
            "(SELECT id FROM probe_runs WHERE space_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?)",
            (space.id, space.id, most),
        ),
    ]


def runs(space: SpaceRow) -> Statement:
    """Select the stored runs, newest first."""
    return Statement(
        "SELECT at, seq, generation, recall, ranks FROM probe_runs WHERE space_id = ? ORDER BY id DESC", (space.id,)
    )


# The SQL of lint: current memories, oldest first, with the columns that show their faults

_NONE = "NOT EXISTS (SELECT 1 FROM versions o WHERE +o.space_id = v.space_id AND o.memory_id = "


def lint_page(space: SpaceRow, category: str | None, now: int, after: tuple[int, bytes], most: int) -> Statement:
    """Select memories made after (created_at, id), of one category or all, with further columns.

    These are the retrieval count and its last time, and the id of an older current memory with the same text. Three
    flags say whether the parent, the superseded and the superseding memory are missing. The last two are the first
    missing id in `derived_from` and the vector of the first passage.
    """
    only, own = ("", ()) if category is None else (" AND {}.category_folded = ?", (fold(category),))
    args: tuple[Scalar, ...] = (*own, space.generation, space.id, now, *after, *own, most)
    return Statement(
        f"SELECT {COLUMNS}, r.count, r.last_at, "
        "(SELECT o.memory_id FROM versions o WHERE o.space_id = v.space_id AND o.content_hash = v.content_hash "
        "AND o.died IS NULL AND o.status <> 'superseded' AND o.kind = v.kind AND v.conversation IS NULL "
        "AND v.document IS NULL "
        f"AND (o.created_at, o.memory_id) < (v.created_at, v.memory_id){only.format('o')} LIMIT 1), "
        f"v.parent_id IS NOT NULL AND {_NONE} v.parent_id AND o.died IS NULL), "
        f"v.supersedes IS NOT NULL AND {_NONE} v.supersedes), "
        f"v.superseded_by IS NOT NULL AND {_NONE} v.superseded_by), "
        "(SELECT d.value FROM json_each(v.derived_from) d "
        f"WHERE {_NONE} unhex(replace(d.value, '-', ''))) LIMIT 1), "
        "(SELECT e.vector FROM embeddings e WHERE e.version_id = v.id AND e.number = 0 AND e.generation_id = ?) "
        "FROM versions v LEFT JOIN retrievals r ON r.space_id = v.space_id AND r.memory_id = v.memory_id "
        f"WHERE v.space_id = ? AND v.died IS NULL AND {PLAIN} AND {UNEXPIRED} AND (v.created_at, v.memory_id) > (?, ?)"
        f"{only.format('v')} ORDER BY v.created_at, v.memory_id LIMIT ?",
        args,
    )


# The SQL of receipts: the requests and answers of searches


class Kept(NamedTuple):
    """A row of `receipt_by_id`. `parameters` and `answer` are JSON, times in microseconds."""

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
    """A row of `receipts_listed`. `parameters` and `answer` are JSON, `made_at` is in microseconds, `hits` a number."""

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


def insert_receipt(space: SpaceRow, one: Kept, hits: Sequence[KeptHit], most: int) -> Iterator[Statement]:
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


def receipt_by_id(receipt_id: bytes) -> list[Statement]:
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


def receipts_listed(space: SpaceRow, chosen: Chosen, kept_from: int, limit: int, after: bytes | None) -> Statement:
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
    return Statement(
        f"SELECT {COLUMNS}, v.died, v.born, "
        "(SELECT min(f.born) FROM versions f WHERE f.memory_id = v.memory_id AND f.version = 1) FROM versions v "
        f"WHERE +v.space_id = ? AND v.memory_id IN {slots(memory_ids)} AND v.version = "
        "(SELECT max(version) FROM versions l WHERE l.memory_id = v.memory_id)",
        (space_id, *memory_ids),
    )


def forget_receipts(before: int, most: int) -> list[Statement]:
    """Delete up to `most` receipts made before a time; the last statement counts those that are left."""
    return [
        Statement(
            "DELETE FROM receipts WHERE id IN (SELECT id FROM receipts WHERE made_at < ? LIMIT ?)", (before, most)
        ),
        Statement("SELECT count(*) FROM receipts WHERE made_at < ?", (before,)),
    ]
