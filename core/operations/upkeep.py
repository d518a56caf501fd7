"""Maintenance over time: end expired memories, purge old ones, erase old versions and what else has had its time.

Each step is small, so that nobody waits for it, and returns whether more is left to do.
"""

from muisti.core.identity.caller import Caller
from muisti.core.model.erasures import Erasure
from muisti.core.model.spaces import Policy
from muisti.core.model.times import DAY_US
from muisti.core.operations.erasure import sql as retention
from muisti.core.operations.erasure.eraser import Eraser
from muisti.core.operations.erasure.retention import forget
from muisti.core.query.subject import Subject
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database, Statement
from muisti.core.store.sql import candidates, requests, working
from muisti.core.write.expiry import Expirer

AT_A_TIME = 1_000  # memories in a step; every place is searched once for each
ANSWERS_AT_ONCE = 1_000
ENTRIES_AT_ONCE = 1_000


class Upkeep:
    """Maintenance of the primary database. Erased versions are at least `least_history_us` old (microseconds)."""

    def __init__(
        self, database: Database, expirer: Expirer, eraser: Eraser, policy: Policy, least_history_us: int
    ) -> None:
        self._database = database
        self._expirer = expirer
        self._eraser = eraser
        self._policy = policy
        self._least_history_us = least_history_us

    def with_candidates(self) -> list[str]:
        """Return the names of spaces that have candidates to review."""
        return self._names(candidates.spaces_with_some())

    def with_expired(self, now: int) -> list[str]:
        """Return the spaces with memories that have expired but are not yet ended."""
        return self._names(retention.expired(now))

    def end_expired(self, space: str, now: int) -> bool:
        """End some expired memories of a space. Return whether more may be left."""
        return self._expirer.step(space, now)

    def with_old_history(self, now: int) -> list[str]:
        """Return the spaces with versions that are older than the history they keep."""
        return self._names(retention.due(now, self._policy.history_days or 0.0, self._least_history_us))

    def forget_history(self, space: str, now: int) -> bool:
        """Erase some versions of a space that are older than its history. Return whether more are left."""
        found = find_space(self._database, space)
        days = found.space.policy.over(self._policy).history_days
        before = now - max(int(days * DAY_US), self._least_history_us) if days else 0
        return forget(self._database, found, before)

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
        old = requests.old(now)
        if not self._database.read([old])[0]:
            return False
        _, more = self._database.write([requests.forget(now, ANSWERS_AT_ONCE), old])
        return bool(more)

    def release_expired(self, now: int) -> bool:
        """Delete some entries of working memory that have expired. Return whether more are left."""
        expired = working.expired(now)
        if not self._database.read([expired])[0]:
            return False
        _, more = self._database.write([working.sweep(now, ENTRIES_AT_ONCE), expired])
        return bool(more)

    def _names(self, ask: Statement) -> list[str]:
        (rows,) = self._database.read([ask])
        return [str(name) for (name,) in rows]
