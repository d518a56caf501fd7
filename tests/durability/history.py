"""History of acknowledged writes, and the states of a store that are consistent with it.

The store numbers the changes of a space, so what survives must be the history up to some number. That number is the end
of a batch, and not before the last acknowledged change. Everything else follows from it.
"""

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from muisti.core.model.errors import MuistiError
from muisti.core.model.ids import id_bytes
from muisti.core.model.outcomes import Written
from muisti.core.model.values import Memory
from muisti.core.store.database import Database, Rows, Statement
from tests.durability.crash_vfs import RecordingDisk

Change = Literal["created", "updated", "deleted"]
NEVER = 1 << 62

QUESTIONS = [
    Statement(sql)
    for sql in (
        "PRAGMA integrity_check",
        "PRAGMA foreign_key_check",
        "SELECT epoch, name, seq FROM spaces",
        "SELECT s.epoch, c.seq, c.kind, c.memory_id, c.version FROM changes c "
        "JOIN spaces s ON s.id = c.space_id ORDER BY s.id, c.seq",
        "SELECT s.epoch, v.born, v.memory_id, v.version, v.content, v.tags, v.died FROM versions v "
        "JOIN spaces s ON s.id = v.space_id ORDER BY s.id, v.born",
        "SELECT v.id FROM versions v LEFT JOIN passages p ON p.version_id = v.id "
        "LEFT JOIN embeddings e ON e.version_id = v.id "
        "GROUP BY v.id HAVING count(p.number) <> 1 OR count(e.number) <> 1",
        "SELECT key, seq FROM requests",
        "SELECT count(*) FROM changes a JOIN changes b ON b.space_id = a.space_id AND b.seq = a.seq + 1 "
        "WHERE b.committed_at < a.committed_at",
    )
]


@dataclass(frozen=True, slots=True)
class Done:
    """One change of one memory, as its client saw it. `memory` is the new version, or the one that ended."""

    seq: int
    change: Change
    memory: Memory


@dataclass(slots=True)
class Life:
    """A space from its making to its deletion. Positions are of the disk's log."""

    name: str
    made: int
    deleting: int = NEVER
    deleted: int = NEVER
    done: dict[int, Done] = field(default_factory=dict[int, Done])
    acknowledged: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])  # (position, last seq)
    keys: dict[str, int] = field(default_factory=dict[str, int])  # idempotency key -> seq

    def due(self, position: int) -> int:
        """The last seq that must have survived."""
        return max((seq for at, seq in self.acknowledged if at <= position), default=0)

    def ends_a_batch(self, seq: int) -> bool:
        return seq == 0 or any(last == seq for _, last in self.acknowledged)

    def changes_until(self, seq: int) -> list[tuple[object, ...]]:
        past = (self.done[number] for number in range(1, seq + 1))
        return [(d.seq, d.change, id_bytes(d.memory.id), d.memory.version) for d in past]

    def versions_until(self, seq: int) -> list[tuple[object, ...]]:
        rows: dict[bytes, list[object]] = {}
        closed: list[list[object]] = []
        for number in range(1, seq + 1):
            done = self.done[number]
            raw = cast(bytes, id_bytes(done.memory.id))
            if done.change != "created":
                rows[raw][-1] = number
                closed.append(rows.pop(raw))
            if done.change != "deleted":
                tags = json.dumps(list(done.memory.tags), separators=(",", ":"))
                rows[raw] = [number, raw, done.memory.version, done.memory.content, tags, None]
        return sorted((tuple(row) for row in (*closed, *rows.values())), key=lambda row: cast(int, row[0]))


@dataclass(slots=True)
class Verdict:
    """Faults of a store: acknowledged writes that are missing, and states that must not exist."""

    lost: list[str] = field(default_factory=list[str])
    corrupt: list[str] = field(default_factory=list[str])
    reached: dict[str, int] = field(default_factory=dict[str, int])  # epoch -> seq


class History:
    """Collects from many threads what was acknowledged, and when."""

    def __init__(self) -> None:
        self.lifecycle: dict[str, Life] = {}
        self.migrated = NEVER
        self._lock = threading.Lock()

    def made(self, name: str, epoch: str, position: int) -> None:
        with self._lock:
            self.lifecycle[epoch] = Life(name, position)

    def wrote(
        self, change: Change, written: Written, position: int, key: str | None = None, *, is_last: bool = True
    ) -> None:
        """The changes of one batch are numbered in the order of its memories, up to the answer's seq.

        Of adds that are one batch all but the last are not: a store that ends with one has half a batch.
        """
        first = written.seq.number - len(written.memories) + 1
        with self._lock:
            life = self.lifecycle[written.seq.epoch]
            for number, memory in enumerate(written.memories, start=first):
                assert number not in life.done, f"two batches got number {number}"
                life.done[number] = Done(number, change, memory)
            if is_last:
                life.acknowledged.append((position, written.seq.number))
            if key is not None:
                life.keys[key] = written.seq.number

    def after_cut(self, reached: dict[str, int]) -> "History":
        """Return the history from which the clients start after a power cut; all of it is durable."""
        after = History()
        after.migrated = 0
        for epoch, seq in reached.items():
            before = self.lifecycle[epoch]
            after.lifecycle[epoch] = Life(
                before.name,
                0,
                done={number: done for number, done in before.done.items() if number <= seq},
                acknowledged=[(0, last) for _, last in before.acknowledged if last <= seq],
                keys={key: number for key, number in before.keys.items() if number <= seq},
            )
        return after

    def judge(self, database: Database, position: int) -> Verdict:
        """Compare a store with what was acknowledged before `position`."""
        verdict = Verdict()
        try:
            (tables,) = database.read(
                [Statement("SELECT name FROM sqlite_master WHERE name IN ('spaces', 'requests')")]
            )
            if len(tables) == 2:
                self._compare(database.read(QUESTIONS), position, verdict)
            elif tables:
                verdict.corrupt.append("half a migration")
            elif self.migrated <= position:
                verdict.lost.append("the whole schema")
        except MuistiError as error:
            verdict.corrupt.append(repr(error))
        return verdict

    def _compare(self, answers: list[Rows], position: int, verdict: Verdict) -> None:
        integrity, foreign, found, changes, versions, unindexed, keys, backwards = answers
        if integrity != [("ok",)] or foreign or unindexed or backwards != [(0,)]:
            verdict.corrupt.append(
                f"{integrity[:3]}, {foreign[:3]}, not indexed {unindexed[:3]}, back in time {backwards}"
            )
        verdict.reached = {cast(str, epoch): cast(int, seq) for epoch, _, seq in found}
        self._compare_spaces(position, verdict)
        changes_of, versions_of = _grouped(changes), _grouped(versions)
        expected_keys: dict[str, str] = {}
        for epoch, seq in verdict.reached.items():
            life = self.lifecycle.get(epoch)
            if life is None or not life.ends_a_batch(seq):
                verdict.corrupt.append(f"space {epoch} at {seq}: half a batch, or one that nobody wrote")
                continue
            if seq < life.due(position):
                verdict.lost.append(f"{life.name}: {life.due(position)} was acknowledged, {seq} is there")
            if changes_of.get(epoch, []) != life.changes_until(seq):
                verdict.corrupt.append(f"{life.name}: the changes are not those that were made")
            if versions_of.get(epoch, []) != life.versions_until(seq):
                verdict.corrupt.append(f"{life.name}: the versions are not those that were written")
            expected_keys |= {key: f"{epoch}:{number}" for key, number in life.keys.items() if number <= seq}
        if dict(keys) != expected_keys:
            verdict.corrupt.append("idempotency keys and changes do not belong together")

    def _compare_spaces(self, position: int, verdict: Verdict) -> None:
        for epoch, life in self.lifecycle.items():
            if epoch not in verdict.reached and life.made <= position < life.deleting:
                verdict.lost.append(f"the space {life.name}")
            if epoch in verdict.reached and life.deleted <= position:
                verdict.lost.append(f"the deletion of the space {life.name}")


def _grouped(rows: Rows) -> dict[str, list[tuple[object, ...]]]:
    groups: dict[str, list[tuple[object, ...]]] = {}
    for epoch, *rest in rows:
        groups.setdefault(cast(str, epoch), []).append(tuple(rest))
    return groups


class NotingDatabase:
    """A `Database` that records the position of the disk's log when a write is acknowledged."""

    def __init__(self, inner: Database, disk: RecordingDisk) -> None:
        self._inner, self._disk, self._thread = inner, disk, threading.local()
        self.primary = self
        self.first: int | None = None  # position of the log when the first write of all returned

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    @property
    def acknowledged(self) -> int:
        """Position of the log when this thread's last write returned."""
        return cast(int, self._thread.position)

    def write(self, statements: Sequence[Statement]) -> list[Rows]:
        rows = self._inner.write(statements)
        self._thread.position = self._disk.position
        if self.first is None:
            self.first = self._thread.position
        return rows
