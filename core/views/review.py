"""Review: which memories contradict each other, are wrong, useful, or fit to be kept."""

from collections.abc import Sequence

import msgspec

from muisti.core.model.conflicts import ConflictPage, OpenConflict
from muisti.core.model.counts import Telemetry
from muisti.core.model.ids import id_bytes
from muisti.core.model.lint import AT_ONCE, Limits, Report
from muisti.core.model.outcomes import Reviewed, Written
from muisti.core.model.terms import (
    CHECKS,
    PROMOTE_RETRIEVALS,
    PRUNE_DAYS,
    PRUNE_RETRIEVALS,
    Check,
    Decision,
    Verdict,
)
from muisti.core.model.values import Name
from muisti.core.quality.lint import Linter
from muisti.core.read.feedback import give
from muisti.core.read.naming import id_of, missing
from muisti.core.read.reading import current, read
from muisti.core.read.telemetry import Retrievals
from muisti.core.store.database import Database
from muisti.core.store.sql import memories, telemetry
from muisti.core.views.calls import Calls
from muisti.core.write.conflict_decisions import Conflicts
from muisti.core.write.review import Reviewer


class ReviewParts(msgspec.Struct, frozen=True, kw_only=True):
    """Parts from which a `Review` is made for a caller."""

    database: Database
    retrievals: Retrievals
    conflicts: Conflicts
    reviewer: Reviewer
    linter: Linter


class Review:
    """Judges memories as one caller. None of its reads counts as a retrieval."""

    __slots__ = ("_calls", "_parts")

    def __init__(self, parts: ReviewParts, calls: Calls) -> None:
        self._parts = parts
        self._calls = calls

    def conflicts(self, space: str, *, limit: int = 50, cursor: str | None = None) -> ConflictPage:
        """Return conflicts that wait for a decision; see `Conflicts.page`."""
        return self._parts.conflicts.page(space, self._calls.caller, self._calls.clock(), limit=limit, cursor=cursor)

    def decide(self, space: str, conflict_id: str, decision: Decision) -> tuple[OpenConflict, Written]:
        """Decide a conflict; see `Conflicts.decide`."""
        return self._parts.conflicts.decide(space, conflict_id, decision, self._calls.new())

    def promote(self, space: str, retrievals: int = PROMOTE_RETRIEVALS) -> Reviewed:
        """Make candidates active that were retrieved so often; see `Reviewer.promote`."""
        self._parts.retrievals.flush()
        return self._parts.reviewer.promote(space, retrievals, self._calls.new())

    def prune(self, space: str, retrievals: int = PRUNE_RETRIEVALS, days: float = PRUNE_DAYS) -> Reviewed:
        """Deprecate candidates that nobody asked for; see `Reviewer.prune`."""
        self._parts.retrievals.flush()
        return self._parts.reviewer.prune(space, retrievals, days, self._calls.new())

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
        self._parts.retrievals.flush()
        ask = self._parts.linter.lint
        now = self._calls.clock()
        return ask(space, self._calls.caller, now, checks=checks, limits=limits, limit=limit, cursor=cursor)

    def telemetry(self, space: str, name: Name) -> Telemetry:
        """Read how a current memory was used; asking does not count.

        Raises:
            NotFound: there is none.
        """
        memory_id = id_of(self._parts.database, space, name, self._calls.caller, self._calls.clock())
        raw = id_bytes(memory_id)
        if raw is None:
            raise missing(name)
        actor = self._calls.caller.actor
        found, (rows, used) = read(
            self._parts.database,
            space,
            lambda row: [memories.living(row, raw), telemetry.of_memory(row, raw, actor)],
        )
        memory = current(rows, space, memory_id, self._calls.caller, self._calls.clock())
        return telemetry.telemetry(used, memory.id, found.seq)

    def give_feedback(self, space: str, name: Name, verdict: Verdict | None) -> Telemetry:
        """Say of a memory that it was useful, or not; see `core.read.feedback`."""
        now = self._calls.clock()
        return give(self._parts.database, space, name, verdict, self._calls.caller, now, dry_run=self._calls.dry_run)
