"""Maintenance over time: end expired memories, purge old ones, erase old versions and what else has had its time.

Each step is small, so that nobody waits for it, and returns whether more is left to do.
"""

from typing import cast

from muisti.core.identity.caller import Caller
from muisti.core.model.operations import Erasure
from muisti.core.model.outcomes import Written
from muisti.core.model.spaces import Policy
from muisti.core.model.times import DAY_US
from muisti.core.operations.erasure.eraser import Eraser
from muisti.core.query.filters import Subject
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database, Refused, Statement
from muisti.core.store.sql import (
    changes,
    inserting,
    memories,
    operations,
    retention,
    spaces,
    telemetry,
    version_rows,
)
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.write.calls import Call, Part
from muisti.core.write.derived_texts import retitled
from muisti.core.write.transactions import Transactions

# Erase history older than a space keeps: versions that were no longer current by then, and their changes

AT_ONCE = 200  # versions, and as many changes, in a step


def forget(database: Database, space: SpaceRow, before: int) -> bool:
    """Erase some versions that were no longer current at `before`, in microseconds. Return whether more are left.

    Versions that a checkpoint pins are kept, and so are versions that were current at that point or came later.
    """
    edge, pinned = database.read([retention.history_edge(space, before), retention.pinned_history(space)])
    point = cast(int, edge[0][0]) if edge else 0
    if pinned and pinned[0][0] is not None:
        point = min(point, cast(int, pinned[0][0]))
    try:
        if point > space.kept_from:
            database.write([spaces.guard(space), *retention.move_edge(space, point)])
        *_, more = database.write([spaces.guard(space), *retention.erase_history(space, AT_ONCE)])
    except Refused:  # the space was erased and created again
        return False
    return bool(more[0][0])


SECOND_US = 1_000_000


class Leases:
    """Leases of a database. Instances are thread-safe.

    A lease avoids duplicate work; it is not a lock. A process that was suspended for longer than its lease continues
    its task. So every leased task must be correct when two processes run it at the same time.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def take(self, name: str, owner: str, seconds: float) -> float:
        """Take or extend the lease of a task for some seconds.

        Return 0 when the owner has it now, else the seconds to wait before the next try.
        """
        (rows,) = self._database.read([operations.lease_state(name)])
        held, wait = cast(tuple[str, int], rows[0]) if rows else ("", 0)
        if held != owner and wait > 0:
            return wait / SECOND_US
        *_, ((now_held,),) = self._database.write(operations.take_lease(name, owner, int(seconds * SECOND_US)))
        return 0.0 if now_held == owner else seconds

    def give_back(self, name: str, owner: str, *, rest: float = 0.0) -> None:
        """End a lease that the owner still has. The task is due again in `rest` seconds."""
        self._database.write([operations.give_back_lease(name, owner, int(rest * SECOND_US))])


EXPIRED_AT_ONCE = 100  # memories in a step
EXPIRY = Caller("expiry")  # actor of these changes


def end_expired(store: Transactions, space: str, now: int) -> bool:
    """End some memories of a space that have expired at `now` (microseconds). Return whether more may be left.

    Raises:
        NotFound: there is no such space.
    """
    call = Call(now, caller=EXPIRY)

    def attempt(found: SpaceRow) -> Written:
        (rows,) = store.database.read([memories.expired(found, now, EXPIRED_AT_ONCE)])
        gone = [version_rows.memory(row, space) for row in rows]
        if not gone:
            return Written(memories=(), seq=found.seq, created=False)
        last = len(gone) - 1
        parts = retitled(store.database, found, ((one, None) for one in gone), call, len(gone))
        parts += [
            Part(one, changes.expiry(found, one, EXPIRY, last - place), position=place)
            for place, one in enumerate(gone)
        ]
        return store.write(found, parts, call, embedded=False)

    return len(store.run(space, call, attempt).memories) == EXPIRED_AT_ONCE


AT_A_TIME = 1_000  # memories in a step; every place is searched once for each
ANSWERS_AT_ONCE = 1_000
ENTRIES_AT_ONCE = 1_000


class Upkeep:
    """Maintenance of the primary database. Erased versions are at least `least_history_us` old (microseconds)."""

    def __init__(self, transactions: Transactions, eraser: Eraser, policy: Policy, least_history_us: int) -> None:
        self._transactions = transactions
        self._database = transactions.database
        self._eraser = eraser
        self._policy = policy
        self._least_history_us = least_history_us

    def with_candidates(self) -> list[str]:
        """Return the names of spaces that have candidates to review."""
        return self._names(telemetry.spaces_with_some())

    def with_expired(self, now: int) -> list[str]:
        """Return the spaces with memories that have expired but are not yet ended."""
        return self._names(retention.expired(now))

    def end_expired(self, space: str, now: int) -> bool:
        """End some expired memories of a space. Return whether more may be left."""
        return end_expired(self._transactions, space, now)

    def with_old_history(self, now: int) -> list[str]:
        """Return the spaces with versions that are older than the history they keep."""
        return self._names(retention.due(now, self._policy.history_days or 0.0, self._least_history_us))

    def forget_history(self, space: str, now: int) -> bool:
        """Erase some versions of a space that are older than its history. Return whether more are left."""
        found = find_space(self._database, space)
        days = found.space.policy.over(self._policy).history_days
        before = now - max(int(days * DAY_US), self._least_history_us) if days else 0
        more = forget(self._database, found, before)
        self._transactions.indexes.sweep()
        return more

    def with_old_memories(self, now: int) -> list[str]:
        """Return the spaces with memories that are older than their policy allows."""
        return self._names(retention.outdated(now))

    def purge_old(self, space: str, now: int, caller: Caller) -> Erasure | None:
        """Purge some memories of a space that are older than its policy allows, or return None if it has no limit.

        When `AT_A_TIME` memories were purged, more may be left.
        """
        days = find_space(self._database, space).space.policy.over(self._policy).purge_after_days
        if not days:
            return None
        old = Subject(older_than_us=now - int(days * DAY_US))
        return self._eraser.subject(space, old, {"older_than_days": days}, caller, most=AT_A_TIME)

    def forget_answers(self, now: int) -> bool:
        """Delete some expired answers of requests with an idempotency key. Return whether more are left."""
        old = inserting.old(now)
        if not self._database.read([old])[0]:
            return False
        _, more = self._database.write([inserting.forget(now, ANSWERS_AT_ONCE), old])
        return bool(more)

    def release_expired(self, now: int) -> bool:
        """Delete some entries of working memory that have expired. Return whether more are left."""
        expired = retention.expired_entries(now)
        if not self._database.read([expired])[0]:
            return False
        _, more = self._database.write([retention.sweep_entries(now, ENTRIES_AT_ONCE), expired])
        return bool(more)

    def _names(self, ask: Statement) -> list[str]:
        (rows,) = self._database.read([ask])
        return [str(name) for (name,) in rows]
