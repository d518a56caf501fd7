"""The memories of all spaces, as one caller reads, writes, versions and reviews them."""

import msgspec

from muisti.core.identity.caller import Caller
from muisti.core.model.times import Clock
from muisti.core.views.calls import Calls
from muisti.core.views.conversations import ConversationParts, Conversations
from muisti.core.views.read import Read, ReadParts
from muisti.core.views.review import Review, ReviewParts
from muisti.core.views.timeline import Timeline, TimelineParts
from muisti.core.views.write import Write, WriteParts


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """What the views of all callers share."""

    clock: Clock
    read: ReadParts
    write: WriteParts
    timeline: TimelineParts
    review: ReviewParts
    conversations: ConversationParts


class Memories:
    """Five views of one caller. Synchronous and thread-safe; callers own the threads.

    Every method of a view raises `NotFound` when there is no space of that name. Bad values raise `InvalidInput`, a
    database that does not answer `StoreUnavailable`. Memories that the caller may not see are not there.
    """

    __slots__ = ("conversations", "read", "review", "timeline", "write")

    def __init__(self, parts: Parts, caller: Caller, *, dry_run: bool = False) -> None:
        """`dry_run`: each write returns its `plan`, and nothing of it stays."""
        calls = Calls(caller, parts.clock, dry_run)
        self.read = Read(parts.read, calls)
        self.write = Write(parts.write, calls)
        self.timeline = Timeline(parts.timeline, calls)
        self.review = Review(parts.review, calls)
        self.conversations = Conversations(parts.conversations, calls)
