"""Topics, summaries and the working memory of conversations, as one caller meets them."""

from collections.abc import Callable, Sequence

import msgspec

from muisti.core.conversations.refreshing import KIND as KIND
from muisti.core.conversations.summaries import Stored as Stored
from muisti.core.conversations.summaries import Summaries, Write
from muisti.core.conversations.summaries import WriteFailed as WriteFailed
from muisti.core.conversations.topics import Conversation, Topics
from muisti.core.conversations.working import WorkingMemory
from muisti.core.model.conversations import Entry, ObjectName, Working
from muisti.core.model.outcomes import Written
from muisti.core.model.values import Memory, RequestKey
from muisti.core.query.points import Point
from muisti.core.read.hierarchy import home
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database
from muisti.core.write.begun import Calls

Count = Callable[[str], int]


class Discourse(msgspec.Struct, frozen=True, kw_only=True):
    """Topics, summaries and working memory for one caller.

    A conversation is looked up in the category of the caller, or in `category` for callers of all categories.
    """

    calls: Calls
    database: Database
    topics: Topics
    summariser: Summaries
    holder: WorkingMemory

    def find_topics(self, space: str, conversation: str, category: str | None = None) -> tuple[Memory, ...]:
        """Store topics for all turns that have none; see `Topics.finish`."""
        return self.topics.finish(self._of(space, conversation, category), self.calls.new())

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
        return self.topics.split(of, topic, turn, title, self.calls.new(request))

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
        return self.topics.merge(self._of(space, conversation, category), topics, self.calls.new(request))

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
        return self.topics.move(self._of(space, conversation, category), topic, turn, self.calls.new(request))

    def summaries(self, space: str, conversation: str, category: str | None = None) -> list[Stored]:
        """Return the stored summaries of a conversation; see `Summaries.of_conversation`."""
        return self.summariser.of_conversation(self._of(space, conversation, category), self.calls.new())

    def summarise(
        self, space: str, conversation: str, *, category: str | None = None, write: Write | None = None
    ) -> list[Memory]:
        """Make the summaries of a conversation that are missing or stale; see `Summaries.refresh`."""
        return self.summariser.refresh(self._of(space, conversation, category), self.calls.new(), write)

    def summarise_exchange(self, space: str, conversation: str, turn: int, category: str | None = None) -> Memory:
        """Return the summary of an exchange; see `Summaries.exchange`."""
        return self.summariser.exchange(self._of(space, conversation, category), turn, self.calls.new())

    def summarise_session(
        self, space: str, session: str, *, category: str | None = None, write: Write | None = None
    ) -> Memory | None:
        """Return the summary of a session; see `Summaries.session`."""
        at = self._home(space, ObjectName(level="session", name=session, category=category))
        return self.summariser.session(space, session, at, self.calls.new(), write)

    def keep(
        self, space: str, conversation: str, entry: Entry, count: Count, budget: int, category: str | None = None
    ) -> Entry:
        """Keep something in the working memory; see `WorkingMemory.keep`."""
        of = self._of(space, conversation, category)
        return self.holder.keep(of, entry, count, budget, self.calls.new())

    def release(self, space: str, conversation: str, key: str, category: str | None = None) -> None:
        """Release what the working memory has at a key; see `WorkingMemory.release`."""
        self.holder.release(self._of(space, conversation, category), key, self.calls.new())

    def working(
        self, space: str, conversation: str, encoding: str, count: Count, budget: int, category: str | None = None
    ) -> Working:
        """Return the working memory of a conversation; see `WorkingMemory.show`."""
        of = self._of(space, conversation, category)
        return self.holder.show(of, encoding, count, budget, self.calls.new())

    def _of(self, space: str, conversation: str, category: str | None) -> Conversation:
        at = self._home(space, ObjectName(level="conversation", name=conversation, category=category))
        return Conversation(space, conversation, at)

    def _home(self, space: str, name: ObjectName) -> str | None:
        """Return the category in which an object is; see `home`."""
        database = self.database
        point = Point(None, self.calls.clock())
        return home(database, find_space(database, space), name, self.calls.caller, point).category
