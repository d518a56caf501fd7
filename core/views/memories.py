"""All operations on memories for one caller, in ten views."""

import msgspec

from muisti.core.identity.caller import Caller
from muisti.core.model.times import Clock
from muisti.core.tasks.fenced_commit import UNFENCED, FencedCommit
from muisti.core.views.calls import Calls
from muisti.core.views.code import Code, CodeParts
from muisti.core.views.context import ContextParts, Contexts
from muisti.core.views.conversations import ConversationParts, Conversations
from muisti.core.views.discourse import Discourse, DiscourseParts
from muisti.core.views.documents import DocumentParts, Documents
from muisti.core.views.graph import Graph, GraphParts
from muisti.core.views.read import Read, ReadParts
from muisti.core.views.review import Review, ReviewParts
from muisti.core.views.timeline import Timeline, TimelineParts
from muisti.core.views.write import Write, WriteParts


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
