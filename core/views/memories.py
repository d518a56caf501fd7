"""All operations on memories for one caller, in ten views."""

import msgspec
from msgspec.structs import replace

from muisti.core.identity.caller import Caller
from muisti.core.model.outcomes import (
    Checkpoint,
    Cleared,
    Comparison,
    Diff,
    RolledBack,
    Strategy,
    Written,
)
from muisti.core.model.spaces import Space
from muisti.core.model.times import Clock
from muisti.core.model.values import Seq
from muisti.core.spaces.checkpoints import Checkpoints, clear
from muisti.core.spaces.forks import Forks
from muisti.core.tasks.claim import UNFENCED, FencedCommit
from muisti.core.views.conversations import Conversations, Discourse
from muisti.core.views.documents import Code, Documents
from muisti.core.views.graph import Graph
from muisti.core.views.read import Contexts, Read
from muisti.core.views.review import Review as Review
from muisti.core.views.write import Write
from muisti.core.write.begun import Calls
from muisti.core.write.transactions import Transactions


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
