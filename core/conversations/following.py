"""Topics and summaries of a conversation follow its turns. What they cannot store never fails the turns."""

from collections.abc import Sequence

from msgspec.structs import replace

from muisti.core.conversations.summaries import Summaries
from muisti.core.conversations.topics import Conversation, Topics, spans_of
from muisti.core.model.conversations import Streamed
from muisti.core.model.errors import Conflict, InvalidInput, NotFound, QuotaExceeded, SensitiveContent
from muisti.core.model.values import Memory
from muisti.core.support.waiting import Overtaken
from muisti.core.write.begun import Call
from muisti.core.write.titles import FOLLOWER

# A full space, a policy that has changed since, or sources that others delete meanwhile. The next turns try again.
_LATER = (Conflict, InvalidInput, NotFound, Overtaken, QuotaExceeded, SensitiveContent)


class Following:
    """Thread-safe."""

    def __init__(self, topics: Topics, summaries: Summaries) -> None:
        self._topics = topics
        self._summaries = summaries

    def turns_came(self, conversation: Conversation, call: Call) -> tuple[Memory, ...]:
        """Return the topics that are final by new turns, stored and summarised."""
        call = _found_out(call)
        try:
            found = self._topics.follow(conversation, call)
            if found:
                self._summaries.topics_came(conversation, found, call)
            return found
        except _LATER:
            return ()

    def closed(self, conversation: Conversation, call: Call) -> None:
        """Give all turns of a closed conversation a topic, and summarise it."""
        call = _found_out(call)
        try:
            self._topics.finish(conversation, call)
            self._summaries.refresh(conversation, call)
        except _LATER:
            return


def _found_out(call: Call) -> Call:
    """Return the call with another actor; an undo of the request still takes back what followed from it."""
    return replace(call, caller=replace(call.caller, actor=FOLLOWER))


def with_topics(streamed: Streamed, found: Sequence[Memory]) -> Streamed:
    """Return a request's answer with the names of new topics at the turns that they cover."""
    if not found:
        return streamed
    spans = [(first, last, topic.topic) for topic in found for first, last in spans_of(topic)]
    items = tuple(
        replace(
            one, topic=next((name for first, last, name in spans if first <= (one.memory.turn or 0) <= last), one.topic)
        )
        for one in streamed.items
    )
    return replace(streamed, items=items)
