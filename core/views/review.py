"""Judge memories: which contradict each other, are wrong, useful, or fit to be kept."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import cast

import msgspec
from msgspec import structs

from muisti.core.model.choices import (
    CHECKS,
    PROMOTE_RETRIEVALS,
    PRUNE_DAYS,
    PRUNE_RETRIEVALS,
    Check,
    Decision,
    Status,
    Verdict,
)
from muisti.core.model.errors import InvalidInput, NotFound
from muisti.core.model.ids import id_bytes
from muisti.core.model.outcomes import ConflictPage, OpenConflict, Reviewed, ReviewKind, Telemetry, Written
from muisti.core.model.quality import AT_ONCE, Limits, Report
from muisti.core.model.times import DAY_US, from_us
from muisti.core.model.values import LIMIT_MAX, Memory, Name
from muisti.core.operations.quality.lint import Linter
from muisti.core.read.reading import current, find_space, id_of, missing, read
from muisti.core.read.telemetry import Retrievals, give
from muisti.core.store.database import Database, Refused, Row, Statement, written
from muisti.core.store.sql import (
    changes,
    conflicts,
    inserting,
    memories,
    operations,
    quotas,
    spaces,
    telemetry,
    version_rows,
)
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.write.calls import Call, Calls, Part
from muisti.core.write.conflicts.alignment import align
from muisti.core.write.conflicts.differences import part
from muisti.core.write.conflicts.words import read as words_of
from muisti.core.write.prepare import again, carried, reviewed, superseded
from muisti.core.write.transactions import Transactions

REVIEWED = 500  # memories: some thousand statements, and tens of milliseconds

_Ask = Callable[[SpaceRow], Statement]


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """Judges memories as one caller. None of its reads counts as a retrieval."""

    calls: Calls
    store: Transactions
    database: Database
    retrievals: Retrievals
    linter: Linter

    def conflicts(self, space: str, *, limit: int = 50, cursor: str | None = None) -> ConflictPage:
        """Return a page of conflicts that wait for a decision, newest first.

        Raises:
            InvalidInput: the limit is out of range or the cursor is not one of ours.
        """
        if not 1 <= limit <= LIMIT_MAX:
            raise InvalidInput.at("$.limit", f"{limit} is not between 1 and {LIMIT_MAX}")
        before = None if cursor is None else _number(cursor)
        if cursor is not None and before is None:
            raise InvalidInput.at("$.cursor", f"{cursor[:80]!r} is no cursor; take next_cursor of the page before")
        found, caller, now = find_space(self.store.database, space), self.calls.caller, self.calls.clock()
        (rows,) = self.store.database.read([conflicts.waiting(found, caller.category, now, before, limit + 1)])
        items = tuple(_conflict(row, space) for row in rows[:limit])
        return ConflictPage(items=items, next_cursor=str(items[-1].id) if len(rows) > limit else None, seq=found.seq)

    def decide(self, space: str, conflict_id: str, decision: Decision) -> tuple[OpenConflict, Written]:
        """Keep both memories, let the new one supersede the existing one, or reject (delete) the new one.

        Raises:
            NotFound: there is no such open conflict.
            AddressTaken, QuotaExceeded.
        """
        decided, call = list[OpenConflict](), self.calls.new()

        def attempt(found: SpaceRow) -> Written:
            row = self._open(found, conflict_id, call)
            decided[:] = [_conflict(row, space)]
            if decision == "keep":
                return self._keep(found, decided[0], call)
            if decision == "supersede":
                return self._supersede(found, row, decided[0], call)
            return self._reject(found, decided[0], call)

        done = self.store.run(space, call, attempt)
        return decided[0], done

    def _open(self, space: SpaceRow, conflict_id: str, call: Call) -> Row:
        number = _number(conflict_id)
        (rows,) = (
            ([],)
            if number is None
            else self.store.database.read([conflicts.one(space, number, call.caller.category, call.now)])
        )
        if not rows:
            raise NotFound("conflict", conflict_id[:80], "it was decided, or one of its memories has changed")
        return rows[0]

    def _keep(self, space: SpaceRow, one: OpenConflict, call: Call) -> Written:
        entry = operations.audit(
            call.now, call.caller.actor, "conflict_kept", space=space.space.name, target=one.new.id
        )
        batch = [spaces.guard(space), *conflicts.close(space, one.id), entry]
        try:
            written(self.store.database, batch, spaces.by_name(space.space.name), dry_run=call.dry_run)
        except Refused as refused:
            raise self.store.retried(refused, space.space.name) from refused
        return self.store.nothing(space, call)

    def _supersede(self, space: SpaceRow, row: Row, one: OpenConflict, call: Call) -> Written:
        """Supersede the existing memory. A new memory without an address takes over the address of the existing one."""
        _, existing_row, new_row = conflicts.parts(row)
        old = superseded(one.existing, one.new.id, call.now)
        heir = structs.replace(
            one.new,
            version=one.new.version + 1,
            updated_at=max(from_us(call.now), one.new.updated_at),
            supersedes=one.new.supersedes or one.existing.id,
        )
        if heir.category is None and heir.key is None:
            heir = structs.replace(heir, category=one.existing.category, key=one.existing.key)
        new = again(heir, one.new, cast(int, new_row[0]), space, self.store.models)
        statements = [
            inserting.refuse_stale(one.existing),
            inserting.refuse_stale(one.new),
            inserting.end(space, one.existing, 1),
            *inserting.insert(space, carried(old, cast(int, existing_row[0])), 1),
            changes.record(space, "superseded", call.caller, old, 1),
            inserting.end(space, one.new),
            *self.store.guarded_insertion(space, new, "updated", call.caller),
            quotas.refuse_larger(space, self.store.quota, heir),
        ]
        return self.store.write(space, [Part(heir, statements)], call, embedded=new.passages is not None, numbers=2)

    def _reject(self, space: SpaceRow, one: OpenConflict, call: Call) -> Written:
        statements = [
            inserting.refuse_stale(one.existing),
            inserting.refuse_stale(one.new),
            inserting.end(space, one.new),
            changes.record(space, "deleted", call.caller, one.new),
            operations.audit(call.now, call.caller.actor, "memory_deleted", space=space.space.name, target=one.new.id),
        ]
        return self.store.write(space, [Part(one.new, statements)], call, embedded=False)

    def promote(self, space: str, retrievals: int = PROMOTE_RETRIEVALS) -> Reviewed:
        """Activate candidates that were retrieved at least `retrievals` times: some hundreds, oldest first.

        Raises:
            InvalidInput.
        """
        _check(retrievals, 0.0)
        self.retrievals.flush()
        call = self.calls.new()
        own = call.caller.category
        return self._review(
            space, lambda row: telemetry.proved(row, own, call.now, retrievals, REVIEWED), "active", call
        )

    def prune(self, space: str, retrievals: int = PRUNE_RETRIEVALS, days: float = PRUNE_DAYS) -> Reviewed:
        """Deprecate candidates older than `days` that were retrieved less often: some hundreds, oldest first.

        Guards and memories of high importance are never deprecated.

        Raises:
            InvalidInput.
        """
        _check(retrievals, days)
        self.retrievals.flush()
        call = self.calls.new()
        own, before = call.caller.category, call.now - int(days * DAY_US)
        return self._review(
            space,
            lambda row: telemetry.neglected(row, own, call.now, retrievals, before, REVIEWED),
            "deprecated",
            call,
        )

    def _review(self, name: str, ask: _Ask, status: Status, call: Call) -> Reviewed:
        before: Counter[str] = Counter()

        def attempt(space: SpaceRow) -> Written:
            rows, counts = self.store.database.read([ask(space), telemetry.by_status(space, call.caller.category)])
            before.clear()
            before.update({str(name): cast(int, number) for name, number in counts})
            if not rows:
                return self.store.nothing(space, call)
            parts = [
                self._turned(space, row, status, call, len(rows) - 1 - position) for position, row in enumerate(rows)
            ]
            return self.store.write(space, parts, call, embedded=False)

        written = self.store.run(name, call, attempt)
        number = len(written.memories)
        after = before + Counter({status: number})
        after["candidate"] -= number
        return Reviewed(written=written, before=dict(before), after=+after, more=number == REVIEWED)

    def _turned(self, space: SpaceRow, row: Row, status: Status, call: Call, offset: int) -> Part:
        before: Memory = version_rows.memory(row, space.space.name)
        after = reviewed(before, status, call.now)
        born = self.store.guarded_insertion(space, carried(after, cast(int, row[0])), "updated", call.caller, offset)
        return Part(after, [inserting.refuse_stale(before), inserting.end(space, before, offset), *born])

    def lint(
        self,
        space: str,
        *,
        checks: Sequence[Check] = CHECKS,
        limits: Limits | None = None,
        limit: int = AT_ONCE,
        cursor: str | None = None,
    ) -> Report:
        """Return what is wrong with the next memories of a space; see `Linter.lint`."""
        self.retrievals.flush()
        ask = self.linter.lint
        now = self.calls.clock()
        return ask(space, self.calls.caller, now, checks=checks, limits=limits, limit=limit, cursor=cursor)

    def telemetry(self, space: str, name: Name) -> Telemetry:
        """Read how a current memory was used; asking does not count.

        Raises:
            NotFound: there is none.
        """
        memory_id = id_of(self.database, space, name, self.calls.caller, self.calls.clock())
        raw = id_bytes(memory_id)
        if raw is None:
            raise missing(name)
        actor = self.calls.caller.actor
        found, (rows, used) = read(
            self.database, space, lambda row: [memories.living(row, raw), telemetry.of_memory(row, raw, actor)]
        )
        memory = current(rows, space, memory_id, self.calls.caller, self.calls.clock())
        return telemetry.telemetry(used, memory.id, found.seq)

    def give_feedback(self, space: str, name: Name, verdict: Verdict | None) -> Telemetry:
        """Say of a memory that it was useful, or not; see `core.read.telemetry`."""
        now = self.calls.clock()
        return give(self.database, space, name, verdict, self.calls.caller, now, dry_run=self.calls.dry_run)


def _conflict(row: Row, space: str) -> OpenConflict:
    head, existing, new = conflicts.parts(row)
    number, kind, similarity, opened_at, actor = cast(tuple[int, ReviewKind, float | None, int, str], head)
    older, newer = version_rows.memory(existing, space), version_rows.memory(new, space)
    found = align(words_of(older.content), words_of(newer.content))
    return OpenConflict(
        id=number,
        kind=kind,
        similarity=similarity,
        opened_at=from_us(opened_at),
        actor=actor,
        existing=older,
        new=newer,
        differs=part(found.only_existing, found.only_new).differences,
    )


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None


def _check(retrievals: int, days: float) -> None:
    if not 0 <= retrievals <= 1_000_000:
        raise InvalidInput.at("$.retrievals", f"{retrievals} is not between 0 and 1,000,000")
    if not 0 <= days <= 36_500:
        raise InvalidInput.at("$.days", f"{days:g} is not between 0 and 36,500")
