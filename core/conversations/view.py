"""Conversations: sessions, conversations and topics as objects, and the exchanges that are streamed into them."""

from collections.abc import Callable, Sequence

import msgspec
from msgspec.structs import replace

from muisti.core.conversations.adopting import Adopted as Adopted
from muisti.core.conversations.adopting import Adopter
from muisti.core.conversations.following import KIND as KIND
from muisti.core.conversations.following import Following, with_topics
from muisti.core.conversations.model import (
    Change,
    Entry,
    Kept,
    NewObject,
    Streamed,
    Working,
)
from muisti.core.conversations.objects import Objects
from muisti.core.conversations.reading import READ_MAX, SUGGESTIONS_MAX, Reader, Suggestion, suggestions
from muisti.core.conversations.reading import Suggestions as Suggestions
from muisti.core.conversations.reading import Wanted as Wanted
from muisti.core.conversations.streaming import Stream as Stream
from muisti.core.conversations.streaming import Streamer
from muisti.core.conversations.summaries import Stored as Stored
from muisti.core.conversations.summaries import Summaries, Write
from muisti.core.conversations.summaries import WriteFailed as WriteFailed
from muisti.core.conversations.topics import Conversation, Topics
from muisti.core.conversations.working import WorkingMemory
from muisti.core.model.outcomes import Ending, Written
from muisti.core.model.places import Level, ObjectName
from muisti.core.model.values import LIMIT_MAX, IfMatch, Memory, RequestKey
from muisti.core.query.points import Point
from muisti.core.read.hierarchy import home
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database
from muisti.core.write.calls import Calls

# Topics, summaries and the working memory of conversations, as one caller meets them

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


class Conversations(Reader, frozen=True, kw_only=True):
    """Conversations as one caller reads, makes, changes and streams into them."""

    streamer: Streamer
    objects: Objects
    adopter: Adopter
    following: Following

    def add_exchanges(self, space: str, stream: Stream, *, request: RequestKey | None = None) -> Streamed:
        """Stream turns into a conversation, which is made when it is not there; see `Streamer.add`."""
        call = self.calls.new(request)
        streamed = self.streamer.add(space, stream, call)
        if streamed.made:
            of = Conversation(space, streamed.conversation, streamed.category)
            streamed = with_topics(streamed, self.following.turns_came(of, self.calls.new()))
        if not any(one.replayed for one in streamed.items):
            return streamed
        turns = self.situated(space, [one.memory for one in streamed.items], call.now)
        pairs = zip(streamed.items, turns, strict=True)
        items = tuple(replace(one, memory=turn, topic=one.topic or turn.topic) for one, turn in pairs)
        return replace(streamed, items=items, session=streamed.session or turns[0].session)

    def create(
        self,
        space: str,
        level: Level,
        new: NewObject,
        *,
        conversation: str | None = None,
        request: RequestKey | None = None,
    ) -> Kept:
        """Make a session, conversation or topic; see `Objects.create`."""
        return self.objects.create(space, level, new, conversation, self.calls.new(request))

    def preferences(self, space: str, name: ObjectName, first: int = 0) -> Suggestions:
        """Return preferences that users state in a conversation from a turn on, as drafts; nothing is stored.

        At most about `SUGGESTIONS_MAX` are found, and `READ_MAX` turns are read.

        Raises:
            NotFound: there is no such conversation.
        """
        found: list[Suggestion] = []
        cursor, turns = None, 0
        while True:
            page = self.exchanges(space, name, limit=LIMIT_MAX, first=first, cursor=cursor)
            for exchange in page.items:
                if len(found) >= SUGGESTIONS_MAX or turns >= READ_MAX:
                    return Suggestions(found, exchange.turn)
                found += suggestions(exchange)
                turns += 1
            cursor = page.next_cursor
            if cursor is None:
                return Suggestions(found, None)

    def change(
        self,
        space: str,
        name: ObjectName,
        change: Change,
        *,
        if_match: IfMatch = None,
        request: RequestKey | None = None,
    ) -> Kept:
        """Change an object; see `Objects.change`."""
        kept = self.objects.change(space, name, change, if_match, self.calls.new(request))
        if name.level == "conversation" and change.state == "closed":
            of = Conversation(space, name.name, kept.found.memory.category)
            self.following.closed(of, self.calls.new())
        return kept

    def delete(self, space: str, name: ObjectName) -> Ending:
        """End an object with all that belongs to it; see `Objects.delete`."""
        return self.objects.delete(space, name, self.calls.new())

    def adopt(self, space: str) -> Adopted:
        """Give memories with `metadata.session` and `metadata.turn` their place; see `Adopter.adopt`."""
        return self.adopter.adopt(space, self.calls.new())
