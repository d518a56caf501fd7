"""The SQL of probes and of their runs."""

from typing import NamedTuple, cast

from muisti.core.store.database import Refusal, Row, Statement, refuse
from muisti.core.store.sql.spaces import SpaceRow


class ProbeRow(NamedTuple):
    """A row of `of_space`; `made_at` in microseconds."""

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


def probe_row(row: Row) -> ProbeRow:
    return ProbeRow(*cast(tuple[bytes, str, bytes, str, str, int, int, str], row))


def run_row(row: Row) -> RunRow:
    return RunRow(*cast(tuple[int, int, str, float, str], row))


def insert(space: SpaceRow, one: ProbeRow, most: int) -> list[Statement]:
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


def of_space(space: SpaceRow) -> Statement:
    """Select all probes, oldest first."""
    return Statement(
        "SELECT id, query, memory_id, category, key, k, made_at, actor FROM probes WHERE space_id = ? ORDER BY id",
        (space.id,),
    )


def delete(space: SpaceRow, probe_id: bytes) -> list[Statement]:
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
