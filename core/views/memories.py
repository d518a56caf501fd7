"""All operations on memories for one caller, in ten views."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from muisti.core.identity.caller import Caller
from muisti.core.model.ids import id_bytes
from muisti.core.model.outcomes import (
    Checkpoint,
    Cleared,
    Comparison,
    ConflictPage,
    Diff,
    OpenConflict,
    Reviewed,
    RolledBack,
    Strategy,
    Telemetry,
    Written,
)
from muisti.core.model.quality import AT_ONCE, Limits, Report
from muisti.core.model.spaces import Space
from muisti.core.model.terms import CHECKS, PROMOTE_RETRIEVALS, PRUNE_DAYS, PRUNE_RETRIEVALS, Check, Decision, Verdict
from muisti.core.model.times import Clock
from muisti.core.model.values import Name, Seq
from muisti.core.quality.lint import Linter
from muisti.core.read.reading import current, id_of, missing, read
from muisti.core.read.telemetry import Retrievals, give
from muisti.core.spaces.checkpoints import Checkpoints, clear
from muisti.core.spaces.forks import Forks
from muisti.core.store.database import Database
from muisti.core.store.sql import memories, telemetry
from muisti.core.tasks.claim import UNFENCED, FencedCommit
from muisti.core.views.code import Code
from muisti.core.views.context import Contexts
from muisti.core.views.conversations import Conversations
from muisti.core.views.discourse import Discourse
from muisti.core.views.documents import Documents
from muisti.core.views.graph import Graph
from muisti.core.views.read import Read
from muisti.core.views.write import Write
from muisti.core.write.begun import Calls
from muisti.core.write.review import Conflicts, Reviewer
from muisti.core.write.transactions import Transactions

# Review: which memories contradict each other, are wrong, useful, or fit to be kept


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """Judges memories as one caller. None of its reads counts as a retrieval."""

    calls: Calls
    database: Database
    retrievals: Retrievals
    opened: Conflicts
    reviewer: Reviewer
    linter: Linter

    def conflicts(self, space: str, *, limit: int = 50, cursor: str | None = None) -> ConflictPage:
        """Return conflicts that wait for a decision; see `Conflicts.page`."""
        return self.opened.page(space, self.calls.caller, self.calls.clock(), limit=limit, cursor=cursor)

    def decide(self, space: str, conflict_id: str, decision: Decision) -> tuple[OpenConflict, Written]:
        """Decide a conflict; see `Conflicts.decide`."""
        return self.opened.decide(space, conflict_id, decision, self.calls.new())

    def promote(self, space: str, retrievals: int = PROMOTE_RETRIEVALS) -> Reviewed:
        """Make candidates active that were retrieved so often; see `Reviewer.promote`."""
        self.retrievals.flush()
        return self.reviewer.promote(space, retrievals, self.calls.new())

    def prune(self, space: str, retrievals: int = PRUNE_RETRIEVALS, days: float = PRUNE_DAYS) -> Reviewed:
        """Deprecate candidates that nobody asked for; see `Reviewer.prune`."""
        self.retrievals.flush()
        return self.reviewer.prune(space, retrievals, days, self.calls.new())

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
        """Say of a memory that it was useful, or not; see `core.read.feedback`."""
        now = self.calls.clock()
        return give(self.database, space, name, verdict, self.calls.caller, now, dry_run=self.calls.dry_run)


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """Versions whole spaces as one caller: points of their history, and copies that are merged."""

    calls: Calls
    checkpoints: Checkpoints
    store: Transactions
    forks: Forks

    def create_checkpoint(self, space: str, name: str, note: str | None = None) -> tuple[Checkpoint, Seq]:
        """Name the present point of a space's history; see `Checkpoints.create`."""
        return self.checkpoints.create(space, name, note, self.calls.caller, dry_run=self.calls.dry_run)

    def list_checkpoints(self, space: str) -> tuple[list[Checkpoint], Seq]:
        """Return the checkpoints of a space, newest first."""
        return self.checkpoints.all(space, self.calls.caller)

    def delete_checkpoint(self, space: str, name: str) -> None:
        """Forget a named point; see `Checkpoints.delete`."""
        self.checkpoints.delete(space, name, self.calls.caller, dry_run=self.calls.dry_run)

    def diff(
        self, space: str, since: str, until: str | None = None, *, limit: int = 50, cursor: str | None = None
    ) -> Diff:
        """Return what changed between two points of history; see `Checkpoints.diff`."""
        return self.checkpoints.diff(space, since, until, self.calls.caller, limit=limit, cursor=cursor)

    def roll_back(self, space: str, to: str) -> RolledBack:
        """Restore a whole space as it was at a point; see `Checkpoints.roll_back`."""
        return self.checkpoints.roll_back(space, to, self.calls.new())

    def clear(self, space: str, confirm: str) -> Cleared:
        """End all memories of a space; see `core.spaces.checkpoints`."""
        return clear(self.store, space, confirm, self.calls.new())

    def fork(self, space: str, name: str) -> Space:
        """Copy a space; see `Forks.fork`."""
        return self.forks.fork(space, name, self.calls.new())

    def compare(self, space: str, other: str, *, limit: int = 50, cursor: str | None = None) -> Comparison:
        """Return what merging another space into this one would change; see `Forks.compare`."""
        return self.forks.compare(space, other, self.calls.new(), limit=limit, cursor=cursor)

    def merge(self, source: str, into: str, strategy: Strategy | None = None, *, drop: bool = False) -> Written:
        """Bring what another space has changed into this one; see `Forks.merge`."""
        return self.forks.merge(source, into, strategy, self.calls.new(), drop=drop)


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """A view of each kind, from which those of a caller are copied."""

    clock: Clock
    read: Read
    write: Write
    timeline: Timeline
    review: Review
    context: Contexts
    conversations: Conversations
    discourse: Discourse
    documents: Documents
    code: Code
    graph: Graph


class Memories:
    """Ten views of one caller. Instances are synchronous and thread-safe; callers own the threads.

    Every method of a view raises `NotFound` when there is no space of that name. Invalid values raise `InvalidInput`, a
    database that does not answer `StoreUnavailable`. Memories that the caller may not see are hidden.
    """

    __slots__ = ("_calls", "_parts")

    def __init__(self, parts: Parts, caller: Caller, *, dry_run: bool = False, fenced: FencedCommit = UNFENCED) -> None:
        """With `dry_run`, each write returns its `plan` and is rolled back. `fenced` is for one write of a task."""
        self._parts = parts
        self._calls = Calls(caller, parts.clock, dry_run, fenced)

    @property
    def read(self) -> Read:
        """Memories by name, in lists, by search and of the past, and figures of a space."""
        return replace(self._parts.read, calls=self._calls)

    @property
    def write(self) -> Write:
        """New memories, their changes and their end, and imports."""
        return replace(self._parts.write, calls=self._calls)

    @property
    def timeline(self) -> Timeline:
        """Checkpoints, comparisons, forks and merges."""
        return replace(self._parts.timeline, calls=self._calls)

    @property
    def review(self) -> Review:
        """Conflicts, promotion, lint and feedback."""
        return replace(self._parts.review, calls=self._calls)

    @property
    def conversations(self) -> Conversations:
        """Sessions, conversations, topics and exchanges."""
        return replace(self._parts.conversations, calls=self._calls)

    @property
    def discourse(self) -> Discourse:
        """Topics, summaries and working memory of conversations."""
        return replace(self._parts.discourse, calls=self._calls)

    @property
    def code(self) -> Code:
        """Symbols of the source files among the documents, and what uses them."""
        return replace(self._parts.code, calls=self._calls)

    @property
    def graph(self) -> Graph:
        """Entities that memories mention, their relations, and what people say of them."""
        return replace(self._parts.graph, calls=self._calls)

    @property
    def documents(self) -> Documents:
        """Documents, their chunks and their texts."""
        return replace(self._parts.documents, calls=self._calls)

    @property
    def context(self) -> Contexts:
        """Texts for prompts, within a number of tokens."""
        return replace(self._parts.context, calls=self._calls)
