"""Conversations: sessions, conversations and topics as objects, and the exchanges that are streamed into them."""

import msgspec
from msgspec.structs import replace

from muisti.core.conversations.adopting import Adopted as Adopted
from muisti.core.conversations.adopting import Adopter
from muisti.core.conversations.following import Following, with_topics
from muisti.core.conversations.objects import Objects
from muisti.core.conversations.reading import READ_MAX, SUGGESTIONS_MAX, Reader, Suggestion, suggestions
from muisti.core.conversations.reading import Suggestions as Suggestions
from muisti.core.conversations.reading import Wanted as Wanted
from muisti.core.conversations.streaming import Stream as Stream
from muisti.core.conversations.streaming import Streamer
from muisti.core.conversations.topics import Conversation
from muisti.core.model.conversations import (
    TURN_MAX,
    Change,
    Ending,
    ExchangePage,
    Kept,
    Level,
    NewObject,
    Object,
    ObjectName,
    ObjectPage,
    Streamed,
)
from muisti.core.model.values import LIMIT_MAX, IfMatch, RequestKey, Seq
from muisti.core.query.points import AsOf
from muisti.core.views.calls import Calls


class ConversationParts(msgspec.Struct, frozen=True, kw_only=True):
    """Parts that `Conversations` binds to a caller."""

    reader: Reader
    streamer: Streamer
    objects: Objects
    adopter: Adopter
    following: Following


class Conversations:
    """Conversations as one caller reads, makes, changes and streams into them. No read counts as a retrieval."""

    __slots__ = ("_calls", "_parts")

    def __init__(self, parts: ConversationParts, calls: Calls) -> None:
        self._parts = parts
        self._calls = calls

    def add_exchanges(self, space: str, stream: Stream, *, request: RequestKey | None = None) -> Streamed:
        """Stream turns into a conversation, which is made when it is not there; see `Streamer.add`."""
        call = self._calls.new(request)
        streamed = self._parts.streamer.add(space, stream, call)
        if streamed.made:
            of = Conversation(space, streamed.conversation, streamed.category)
            streamed = with_topics(streamed, self._parts.following.turns_came(of, self._calls.new()))
        if not any(one.replayed for one in streamed.items):
            return streamed
        turns = self._parts.reader.situated(space, [one.memory for one in streamed.items], call.now)
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
        return self._parts.objects.create(space, level, new, conversation, self._calls.new(request))

    def get(self, space: str, name: ObjectName, *, as_of: AsOf | None = None) -> tuple[Object, Seq]:
        """Return an object with its sizes; see `Reader.get`."""
        return self._parts.reader.get(space, name, self._calls.caller, self._calls.clock(), as_of)

    def page(self, space: str, wanted: Wanted, *, as_of: AsOf | None = None) -> ObjectPage:
        """Return a page of sessions, conversations or topics; see `Reader.page`."""
        return self._parts.reader.page(space, wanted, self._calls.caller, self._calls.clock(), as_of)

    def exchanges(
        self,
        space: str,
        name: ObjectName,
        *,
        limit: int = 50,
        first: int = 0,
        last: int = TURN_MAX,
        cursor: str | None = None,
        as_of: AsOf | None = None,
    ) -> ExchangePage:
        """Return a page of the exchanges of a conversation; see `Reader.exchanges`."""
        caller, now = self._calls.caller, self._calls.clock()
        ask = self._parts.reader.exchanges
        return ask(space, name, caller, now, as_of, limit=limit, first=first, last=last, cursor=cursor)

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
        kept = self._parts.objects.change(space, name, change, if_match, self._calls.new(request))
        if name.level == "conversation" and change.state == "closed":
            of = Conversation(space, name.name, kept.found.memory.category)
            self._parts.following.closed(of, self._calls.new())
        return kept

    def delete(self, space: str, name: ObjectName) -> Ending:
        """End an object with all that belongs to it; see `Objects.delete`."""
        return self._parts.objects.delete(space, name, self._calls.new())

    def adopt(self, space: str) -> Adopted:
        """Give memories with `metadata.session` and `metadata.turn` their place; see `Adopter.adopt`."""
        return self._parts.adopter.adopt(space, self._calls.new())
