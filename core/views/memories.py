"""All operations on memories for one caller, in ten views."""

import msgspec
from msgspec.structs import replace

from muisti.core.conversations.view import Conversations, Discourse
from muisti.core.documents.symbols.reading import Code
from muisti.core.documents.view import Documents
from muisti.core.graph.view import Graph
from muisti.core.identity.caller import Caller
from muisti.core.model.times import Clock
from muisti.core.operations.spaces.forks import Timeline as Timeline
from muisti.core.tasks.claim import UNFENCED, FencedCommit
from muisti.core.views.read import Contexts, Read
from muisti.core.views.review import Review as Review
from muisti.core.views.write import Write
from muisti.core.write.calls import Calls


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
