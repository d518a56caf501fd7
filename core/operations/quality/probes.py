"""Probes are questions with known answers. They show whether a change improves or harms the answers of a space."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from muisti.core.identity.caller import OWNER, Caller
from muisti.core.model.errors import Conflict, Forbidden, InvalidInput, NotFound
from muisti.core.model.ids import IdSource, id_bytes, id_text
from muisti.core.model.outcomes import Shift
from muisti.core.model.quality import Expectation, Probe, Run
from muisti.core.model.times import from_us
from muisti.core.model.values import LIMIT_MAX, NAME_MAX, Seq
from muisti.core.query.query import Query
from muisti.core.read.reading import find_space
from muisti.core.search.searcher import Searcher
from muisti.core.store.database import Database, Refusal, Refused, Rehearsed, Rows, Statement
from muisti.core.store.sql import memories, operations, quality, spaces, version_rows
from muisti.core.store.sql.quality import ProbeRow, RunRow
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.write.calls import Call
from muisti.core.write.screening import Screener
from muisti.core.write.validate import check_query

PROBES_MAX = 500  # in a space
RUNS_MAX = 20  # kept for a space
FORESIGHT_SECONDS = 2.0  # longest time that a dry run may block writers to predict probes
LOADS = 10  # reads that loading an index takes, approximately


class Probes:
    """Probes of all spaces. Instances are thread-safe.

    A probe belongs to a whole space. All methods raise `Forbidden` for a caller who sees only a part of it, and
    `NotFound` when there is no such space.
    """

    def __init__(self, database: Database, searcher: Searcher, ids: IdSource, screener: Screener) -> None:
        self._database = database
        self._searcher = searcher
        self._ids = ids
        self._screener = screener

    def of_shadows(self) -> "Probes":
        """Return the probes as they are found by the shadows of spaces."""
        return Probes(self._database, self._searcher.of_shadows(), self._ids, self._screener)

    def add(self, space: str, expects: Expectation, caller: Caller, now: int) -> Probe:
        """Store a probe.

        Raises:
            InvalidInput: the query is invalid, or no answer is expected.
            Conflict: the space has the maximum number of probes.
            SensitiveContent: the policy of the space refuses some of its text.
        """
        _check(caller)
        _check_expectation(expects)
        found, call = find_space(self._database, space), Call(now, caller=caller)
        for name, value in (("category", expects.category), ("key", expects.key)):
            if value is not None:
                self._screener.name(found, value, call, f"$.{name}")
        row = ProbeRow(
            self._ids.new(now),
            self._screener.text(found, expects.query, call, "$.query"),
            None if expects.memory_id is None else id_bytes(expects.memory_id),
            expects.category,
            expects.key,
            expects.k,
            now,
            caller.actor,
        )
        try:
            self._database.write([spaces.guard(found), *quality.insert_probe(found, row, PROBES_MAX)])
        except Refused as refused:
            if refused.code == Refusal.INCOMPLETE:
                raise Conflict(f"space {space!r} has {PROBES_MAX} probes; delete some first") from refused
            raise NotFound("space", space) from refused
        return _probe(row)

    def list(self, space: str, caller: Caller) -> Sequence[Probe]:
        """Return all probes, oldest first."""
        _check(caller)
        (rows,) = self._database.read([quality.probes_of(find_space(self._database, space))])
        return [_probe(ProbeRow._make(row)) for row in rows]

    def delete(self, space: str, probe_id: str, caller: Caller, now: int) -> None:
        """Delete a probe. Raises `NotFound` when there is no such probe."""
        _check(caller)
        found = find_space(self._database, space)
        count, delete = quality.delete_probe(found, id_bytes(probe_id) or b"")
        if not self._database.read([count])[0][0][0]:
            raise NotFound("probe", probe_id)
        self._database.write(
            [delete, operations.audit(now, caller.actor, "probe_deleted", space=space, target=probe_id)]
        )

    def runs(self, space: str, caller: Caller) -> Sequence[Run]:
        """Return the stored runs, newest first."""
        _check(caller)
        found = find_space(self._database, space)
        (rows,) = self._database.read([quality.runs(found)])
        return [_run(found, RunRow._make(row)) for row in rows]

    def last(self, space: str, generation: str | None) -> Run | None:
        """Return the last run with a model that asked any probe, or None."""
        found = find_space(self._database, space)
        rows = self._one(quality.runs(found))
        runs = (_run(found, RunRow._make(row)) for row in rows)
        return next((run for run in runs if run.ranks and run.generation == generation), None)

    def compared(self, space: str, before: Run, now: int) -> tuple[float, float]:
        """Return the recall of now and of an earlier run, over the probes that both ask. Nothing is stored.

        A caller can measure a change so: make it, compare, then undo it.
        """
        found = find_space(self._database, space)
        k = {one.id: one.expects.k for one in self.list(space, OWNER) if one.id in before.ranks}
        today = self.tried(found.space.name, now).ranks
        return recall_of(k, {id_: today.get(id_) for id_ in k}), recall_of(k, {id_: before.ranks[id_] for id_ in k})

    def run(self, space: str, caller: Caller, clock: Callable[[], int]) -> Run:
        """Ask all probes and store their ranks.

        Raises:
            ModelMismatch: another model embedded the space.
            NotFound: the space was erased meanwhile.
        """
        _check(caller)
        run = self.tried(space, clock())
        found = find_space(self._database, space)
        row = RunRow(clock(), run.seq.number, run.generation, run.recall, msgspec.json.encode(run.ranks).decode())
        try:
            self._database.write([spaces.guard(found), *quality.insert_run(found, row, RUNS_MAX)])
        except Refused as refused:
            raise NotFound("space", space) from refused
        return run

    def tried(self, space: str, now: int) -> Run:
        """Ask all probes without storing the ranks."""
        found = find_space(self._database, space)
        (rows,) = self._database.read([quality.probes_of(found)])
        pinned = [_probe(ProbeRow._make(row)) for row in rows]
        ranks = {one.id: self._rank(found, one.expects, now) for one in pinned}
        return Run(
            at=from_us(now),
            seq=found.seq,
            generation=found.space.generation,
            recall=recall_of({one.id: one.expects.k for one in pinned}, ranks),
            ranks=ranks,
        )

    def foreseen(
        self, space: SpaceRow, batch: Sequence[Statement], now: int, seconds: float
    ) -> tuple[Shift, ...] | None:
        """Return the probes whose rank a batch would change. `seconds` is how long the batch takes.

        Each search runs the batch, reads, and rolls it back. Return None when that would take too long.

        Raises:
            Refused: the batch would be refused.
        """
        (rows,) = self._database.read([quality.probes_of(space)])
        if not rows:
            return ()
        if seconds * (len(rows) + LOADS) > FORESIGHT_SECONDS:
            return None
        tried = Rehearsed(self._database, batch)
        there = Probes(tried, self._searcher.on(tried), self._ids, self._screener).tried(space.space.name, now).ranks
        here = self.tried(space.space.name, now).ranks
        pinned = [_probe(ProbeRow._make(row)) for row in rows]
        return tuple(
            Shift(one.id, one.expects.query, here.get(one.id), there.get(one.id))
            for one in pinned
            if here.get(one.id) != there.get(one.id)
        )

    def _rank(self, space: SpaceRow, expects: Expectation, now: int) -> int | None:
        wanted = expects.memory_id or self._at(space, expects)
        if wanted is None:
            return None
        answer = self._searcher.search(space.space.name, Query(text=expects.query, limit=LIMIT_MAX), now)
        return next((rank for rank, hit in enumerate(answer.hits, start=1) if hit.memory.id == wanted), None)

    def _at(self, space: SpaceRow, expects: Expectation) -> str | None:
        """Return the id of the memory that has the address, or None."""
        assert expects.category is not None and expects.key is not None
        rows = self._one(memories.at_address(space, expects.category, expects.key))
        return version_rows.memory(rows[0], space.space.name).id if rows else None

    def _one(self, statement: Statement) -> Rows:
        return self._database.read([statement])[0]


def recall_of(k: Mapping[str, int], ranks: Mapping[str, int | None]) -> float:
    """Return the share of probes whose answer is among the first `k`; it is 1 without probes. Keys are probe ids.

    >>> recall_of({"a": 1, "b": 10, "c": 10, "d": 10}, {"a": 2, "b": 2, "c": None, "d": 10})
    0.5
    """
    hits = [rank is not None and rank <= k[id_] for id_, rank in ranks.items()]
    return sum(hits) / len(hits) if hits else 1.0


def _check(caller: Caller) -> None:
    if not caller.sees_all:
        raise Forbidden("probes belong to a whole space, and this key sees a part of it")


def _check_expectation(expects: Expectation) -> None:
    check_query(Query(text=expects.query))
    if not 1 <= expects.k <= LIMIT_MAX:
        raise InvalidInput.at("$.k", f"{expects.k} is not between 1 and {LIMIT_MAX}")
    address = (expects.category, expects.key)
    if expects.memory_id is None and None in address:
        raise InvalidInput.at("$.memory_id", "name the expected memory by memory_id, or by category and key")
    if expects.memory_id is not None and address != (None, None):
        raise InvalidInput.at("$.memory_id", "cannot be combined with category and key")
    if expects.memory_id is not None and id_bytes(expects.memory_id) is None:
        raise InvalidInput.at("$.memory_id", "must be an id such as 0197a3c0-5f4e-7000-8000-0123456789ab")
    for name, value in zip(("category", "key"), address, strict=True):
        if value is not None and not 1 <= len(value) <= NAME_MAX:
            raise InvalidInput.at(f"$.{name}", f"must have 1 to {NAME_MAX} characters")


def _probe(row: ProbeRow) -> Probe:
    expects = Expectation(
        query=row.query,
        memory_id=None if row.memory_id is None else id_text(row.memory_id),
        category=row.category,
        key=row.key,
        k=row.k,
    )
    return Probe(id=id_text(row.id), expects=expects, made_at=from_us(row.made_at), actor=row.actor)


def _run(space: SpaceRow, row: RunRow) -> Run:
    ranks = _ranks(row.ranks)
    seq = Seq(space.space.epoch, row.seq)
    return Run(at=from_us(row.at), seq=seq, generation=row.generation, recall=row.recall, ranks=ranks)


_ranks = msgspec.json.Decoder(dict[str, int | None]).decode
