"""Topics, summaries and the working memory of conversations, as one caller meets them."""

from collections.abc import Callable, Sequence

import msgspec

from muisti.core.conversations.following import KIND as KIND
from muisti.core.conversations.summaries import Stored as Stored
from muisti.core.conversations.summaries import Summaries, Write
from muisti.core.conversations.summaries import WriteFailed as WriteFailed
from muisti.core.conversations.topics import Conversation, Topics
from muisti.core.conversations.working import WorkingMemory
from muisti.core.model.conversations import ObjectName
from muisti.core.model.outcomes import Written
from muisti.core.model.values import Memory, RequestKey
from muisti.core.model.working import Entry, Working
from muisti.core.query.points import Point
from muisti.core.read.hierarchy import home
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database
from muisti.core.views.calls import Calls

Count = Callable[[str], int]


class DiscourseParts(msgspec.Struct, frozen=True, kw_only=True):
    """The parts that `Discourse` uses."""

    database: Database
    topics: Topics
    summaries: Summaries
    working: WorkingMemory


class Discourse:
    """Topics, summaries and working memory for one caller.

    A conversation is looked up in the category of the caller, or in `category` for callers of all categories.
    """

    __slots__ = ("_calls", "_parts")

    def __init__(self, parts: DiscourseParts, calls: Calls) -> None:
        self._parts = parts
        self._calls = calls

    def find_topics(self, space: str, conversation: str, category: str | None = None) -> tuple[Memory, ...]:
        """Store topics for all turns that have none; see `Topics.finish`."""
        return self._parts.topics.finish(self._of(space, conversation, category), self._calls.new())

    def split_topic(
        self,
        space: str,
        conversation: str,
        topic: str,
        turn: int,
        *,
        title: str | None = None,
        category: str | None = None,
        request: RequestKey | None = None,
    ) -> Written:
        """Split a topic before a turn; see `Topics.split`."""
        of = self._of(space, conversation, category)
        return self._parts.topics.split(of, topic, turn, title, self._calls.new(request))

    def merge_topics(
        self,
        space: str,
        conversation: str,
        topics: Sequence[str],
        *,
        category: str | None = None,
        request: RequestKey | None = None,
    ) -> Written:
        """Merge topics into the first of them; see `Topics.merge`."""
        return self._parts.topics.merge(self._of(space, conversation, category), topics, self._calls.new(request))

    def move_topic(
        self,
        space: str,
        conversation: str,
        topic: str,
        turn: int,
        *,
        category: str | None = None,
        request: RequestKey | None = None,
    ) -> Written:
        """Let a topic begin at a turn; see `Topics.move`."""
        return self._parts.topics.move(self._of(space, conversation, category), topic, turn, self._calls.new(request))

    def summaries(self, space: str, conversation: str, category: str | None = None) -> list[Stored]:
        """Return the stored summaries of a conversation; see `Summaries.of_conversation`."""
        return self._parts.summaries.of_conversation(self._of(space, conversation, category), self._calls.new())

    def summarise(
        self, space: str, conversation: str, *, category: str | None = None, write: Write | None = None
    ) -> list[Memory]:
        """Make the summaries of a conversation that are missing or stale; see `Summaries.refresh`."""
        return self._parts.summaries.refresh(self._of(space, conversation, category), self._calls.new(), write)

    def summarise_exchange(self, space: str, conversation: str, turn: int, category: str | None = None) -> Memory:
        """Return the summary of an exchange; see `Summaries.exchange`."""
        return self._parts.summaries.exchange(self._of(space, conversation, category), turn, self._calls.new())

    def summarise_session(
        self, space: str, session: str, *, category: str | None = None, write: Write | None = None
    ) -> Memory | None:
        """Return the summary of a session; see `Summaries.session`."""
        at = self._home(space, ObjectName(level="session", name=session, category=category))
        return self._parts.summaries.session(space, session, at, self._calls.new(), write)

    def keep(
        self, space: str, conversation: str, entry: Entry, count: Count, budget: int, category: str | None = None
    ) -> Entry:
        """Keep something in the working memory; see `WorkingMemory.keep`."""
        of = self._of(space, conversation, category)
        return self._parts.working.keep(of, entry, count, budget, self._calls.new())

    def release(self, space: str, conversation: str, key: str, category: str | None = None) -> None:
        """Release what the working memory has at a key; see `WorkingMemory.release`."""
        self._parts.working.release(self._of(space, conversation, category), key, self._calls.new())

    def working(
        self, space: str, conversation: str, encoding: str, count: Count, budget: int, category: str | None = None
    ) -> Working:
        """Return the working memory of a conversation; see `WorkingMemory.show`."""
        of = self._of(space, conversation, category)
        return self._parts.working.show(of, encoding, count, budget, self._calls.new())

    def _of(self, space: str, conversation: str, category: str | None) -> Conversation:
        at = self._home(space, ObjectName(level="conversation", name=conversation, category=category))
        return Conversation(space, conversation, at)

    def _home(self, space: str, name: ObjectName) -> str | None:
        """Return the category in which an object is; see `home`."""
        database = self._parts.database
        point = Point(None, self._calls.clock())
        return home(database, find_space(database, space), name, self._calls.caller, point).category
