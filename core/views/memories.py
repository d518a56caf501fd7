"""All operations on memories for one caller, in ten views."""

from collections.abc import Sequence

import msgspec

from muisti.core.identity.caller import Caller
from muisti.core.model.comparisons import Checkpoint, Comparison, Diff, Strategy
from muisti.core.model.conflicts import ConflictPage, OpenConflict
from muisti.core.model.counts import Telemetry
from muisti.core.model.ids import id_bytes
from muisti.core.model.lint import AT_ONCE, Limits, Report
from muisti.core.model.outcomes import Cleared, Reviewed, RolledBack, Written
from muisti.core.model.spaces import Space
from muisti.core.model.terms import (
    CHECKS,
    PROMOTE_RETRIEVALS,
    PRUNE_DAYS,
    PRUNE_RETRIEVALS,
    Check,
    Decision,
    Verdict,
)
from muisti.core.model.times import Clock
from muisti.core.model.values import Name, Seq
from muisti.core.operations.quality.lint import Linter
from muisti.core.operations.spaces.checkpoints import Checkpoints
from muisti.core.operations.spaces.clearing import Clearer
from muisti.core.operations.spaces.forks import Forks
from muisti.core.read.feedback import give
from muisti.core.read.naming import id_of, missing
from muisti.core.read.reading import current, read
from muisti.core.read.telemetry import Retrievals
from muisti.core.store.database import Database
from muisti.core.store.sql import memories, telemetry
from muisti.core.tasks.fenced_commit import UNFENCED, FencedCommit
from muisti.core.views.calls import Calls
from muisti.core.views.code import Code, CodeParts
from muisti.core.views.context import ContextParts, Contexts
from muisti.core.views.conversations import ConversationParts, Conversations
from muisti.core.views.discourse import Discourse, DiscourseParts
from muisti.core.views.documents import DocumentParts, Documents
from muisti.core.views.graph import Graph, GraphParts
from muisti.core.views.read import Read, ReadParts
from muisti.core.views.write import Write, WriteParts
from muisti.core.write.conflict_decisions import Conflicts
from muisti.core.write.review import Reviewer

# Review: which memories contradict each other, are wrong, useful, or fit to be kept


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


class TimelineParts(msgspec.Struct, frozen=True, kw_only=True):
    """Parts from which a `Timeline` is made for a caller."""

    checkpoints: Checkpoints
    clearer: Clearer
    forks: Forks


class Timeline:
    """Versions whole spaces as one caller: points of their history, and copies that are merged."""

    __slots__ = ("_calls", "_parts")

    def __init__(self, parts: TimelineParts, calls: Calls) -> None:
        self._parts = parts
        self._calls = calls

    def create_checkpoint(self, space: str, name: str, note: str | None = None) -> tuple[Checkpoint, Seq]:
        """Name the present point of a space's history; see `Checkpoints.create`."""
        return self._parts.checkpoints.create(space, name, note, self._calls.caller, dry_run=self._calls.dry_run)

    def list_checkpoints(self, space: str) -> tuple[list[Checkpoint], Seq]:
        """Return the checkpoints of a space, newest first."""
        return self._parts.checkpoints.all(space, self._calls.caller)

    def delete_checkpoint(self, space: str, name: str) -> None:
        """Forget a named point; see `Checkpoints.delete`."""
        self._parts.checkpoints.delete(space, name, self._calls.caller, dry_run=self._calls.dry_run)

    def diff(
        self, space: str, since: str, until: str | None = None, *, limit: int = 50, cursor: str | None = None
    ) -> Diff:
        """Return what changed between two points of history; see `Checkpoints.diff`."""
        return self._parts.checkpoints.diff(space, since, until, self._calls.caller, limit=limit, cursor=cursor)

    def roll_back(self, space: str, to: str) -> RolledBack:
        """Restore a whole space as it was at a point; see `Checkpoints.roll_back`."""
        return self._parts.checkpoints.roll_back(space, to, self._calls.new())

    def clear(self, space: str, confirm: str) -> Cleared:
        """End all memories of a space; see `Clearer.clear`."""
        return self._parts.clearer.clear(space, confirm, self._calls.new())

    def fork(self, space: str, name: str) -> Space:
        """Copy a space; see `Forks.fork`."""
        return self._parts.forks.fork(space, name, self._calls.new())

    def compare(self, space: str, other: str, *, limit: int = 50, cursor: str | None = None) -> Comparison:
        """Return what merging another space into this one would change; see `Forks.compare`."""
        return self._parts.forks.compare(space, other, self._calls.new(), limit=limit, cursor=cursor)

    def merge(self, source: str, into: str, strategy: Strategy | None = None, *, drop: bool = False) -> Written:
        """Bring what another space has changed into this one; see `Forks.merge`."""
        return self._parts.forks.merge(source, into, strategy, self._calls.new(), drop=drop)


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """Parts that the views of all callers share."""

    clock: Clock
    read: ReadParts
    write: WriteParts
    timeline: TimelineParts
    review: ReviewParts
    context: ContextParts
    conversations: ConversationParts
    discourse: DiscourseParts
    documents: DocumentParts
    code: CodeParts
    graph: GraphParts


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
        return Read(self._parts.read, self._calls)

    @property
    def write(self) -> Write:
        """New memories, their changes and their end, and imports."""
        return Write(self._parts.write, self._calls)

    @property
    def timeline(self) -> Timeline:
        """Checkpoints, comparisons, forks and merges."""
        return Timeline(self._parts.timeline, self._calls)

    @property
    def review(self) -> Review:
        """Conflicts, promotion, lint and feedback."""
        return Review(self._parts.review, self._calls)

    @property
    def conversations(self) -> Conversations:
        """Sessions, conversations, topics and exchanges."""
        return Conversations(self._parts.conversations, self._calls)

    @property
    def discourse(self) -> Discourse:
        """Topics, summaries and working memory of conversations."""
        return Discourse(self._parts.discourse, self._calls)

    @property
    def code(self) -> Code:
        """Symbols of the source files among the documents, and what uses them."""
        return Code(self._parts.code, self._calls)

    @property
    def graph(self) -> Graph:
        """Entities that memories mention, their relations, and what people say of them."""
        return Graph(self._parts.graph, self._calls)

    @property
    def documents(self) -> Documents:
        """Documents, their chunks and their texts."""
        return Documents(self._parts.documents, self._calls)

    @property
    def context(self) -> Contexts:
        """Texts for prompts, within a number of tokens."""
        return Contexts(self._parts.context, self._calls)
