"""List conflicts that wait for a decision, and decide them."""

from typing import cast

from msgspec import structs

from muisti.core.embedding.models import Models
from muisti.core.identity.caller import Caller
from muisti.core.model.conflicts import ConflictPage, OpenConflict
from muisti.core.model.counts import Quota
from muisti.core.model.errors import InvalidInput, NotFound
from muisti.core.model.outcomes import ReviewKind, Written
from muisti.core.model.terms import Decision
from muisti.core.model.times import from_us
from muisti.core.model.values import LIMIT_MAX
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database, Refused, Row
from muisti.core.store.sql import audit, changes, conflicts, guards, inserting, quotas, spaces, version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.trial import written
from muisti.core.write.begun import Call
from muisti.core.write.conflicts.differences import part
from muisti.core.write.conflicts.judgement import align
from muisti.core.write.conflicts.words import read as words_of
from muisti.core.write.prepare import again, carried, superseded
from muisti.core.write.refusals import Part
from muisti.core.write.transactions import Transactions


class Conflicts:
    """Open conflicts of all spaces. Instances are thread-safe. `models` embed the texts.

    Conflicts of memories that the caller does not see are hidden.
    """

    def __init__(self, database: Database, models: Models, transactions: Transactions, quota: Quota) -> None:
        """`quota` applies to spaces without a quota of their own."""
        self._database = database
        self._models = models
        self._transactions = transactions
        self._quota = quota

    def page(self, space: str, caller: Caller, now: int, *, limit: int = 50, cursor: str | None = None) -> ConflictPage:
        """Return a page of open conflicts, newest first.

        Raises:
            InvalidInput: the limit is out of range or the cursor is not one of ours.
        """
        if not 1 <= limit <= LIMIT_MAX:
            raise InvalidInput.at("$.limit", f"{limit} is not between 1 and {LIMIT_MAX}")
        before = None if cursor is None else _number(cursor)
        if cursor is not None and before is None:
            raise InvalidInput.at("$.cursor", f"{cursor[:80]!r} is no cursor; take next_cursor of the page before")
        found = find_space(self._database, space)
        (rows,) = self._database.read([conflicts.waiting(found, caller.category, now, before, limit + 1)])
        items = tuple(_conflict(row, space) for row in rows[:limit])
        return ConflictPage(items=items, next_cursor=str(items[-1].id) if len(rows) > limit else None, seq=found.seq)

    def decide(self, space: str, conflict_id: str, decision: Decision, call: Call) -> tuple[OpenConflict, Written]:
        """Keep both memories, let the new one supersede the existing one, or reject (delete) the new one.

        Raises:
            NotFound: there is no such open conflict.
            AddressTaken, QuotaExceeded.
        """
        decided: list[OpenConflict] = []

        def attempt(found: SpaceRow) -> Written:
            row = self._open(found, conflict_id, call)
            decided[:] = [_conflict(row, space)]
            if decision == "keep":
                return self._keep(found, decided[0], call)
            if decision == "supersede":
                return self._supersede(found, row, decided[0], call)
            return self._reject(found, decided[0], call)

        done = self._transactions.run(space, call, attempt)
        return decided[0], done

    def _open(self, space: SpaceRow, conflict_id: str, call: Call) -> Row:
        number = _number(conflict_id)
        (rows,) = (
            ([],)
            if number is None
            else self._database.read([conflicts.one(space, number, call.caller.category, call.now)])
        )
        if not rows:
            raise NotFound("conflict", conflict_id[:80], "it was decided, or one of its memories has changed")
        return rows[0]

    def _keep(self, space: SpaceRow, one: OpenConflict, call: Call) -> Written:
        entry = audit.note(call.now, call.caller.actor, "conflict_kept", space=space.space.name, target=one.new.id)
        batch = [spaces.guard(space), *conflicts.close(space, one.id), entry]
        try:
            written(self._database, batch, spaces.by_name(space.space.name), dry_run=call.dry_run)
        except Refused as refused:
            raise self._transactions.retried(refused, space.space.name) from refused
        return self._transactions.nothing(space, call)

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
        new = again(heir, one.new, cast(int, new_row[0]), space, self._models)
        statements = [
            guards.refuse_stale(one.existing),
            guards.refuse_stale(one.new),
            inserting.end(space, one.existing, 1),
            *inserting.insert(space, carried(old, cast(int, existing_row[0])), 1),
            changes.record(space, "superseded", call.caller, old, 1),
            inserting.end(space, one.new),
            *self._transactions.guarded_insertion(space, new, "updated", call.caller),
            quotas.refuse_larger(space, self._quota, heir),
        ]
        begun = self._transactions.begin(
            space, [Part(heir, statements)], call, created=False, embedded=new.passages is not None, numbers=2
        )
        return self._transactions.commit(begun)

    def _reject(self, space: SpaceRow, one: OpenConflict, call: Call) -> Written:
        statements = [
            guards.refuse_stale(one.existing),
            guards.refuse_stale(one.new),
            inserting.end(space, one.new),
            changes.record(space, "deleted", call.caller, one.new),
            audit.note(call.now, call.caller.actor, "memory_deleted", space=space.space.name, target=one.new.id),
        ]
        begun = self._transactions.begin(space, [Part(one.new, statements)], call, created=False, embedded=False)
        return self._transactions.commit(begun)


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
