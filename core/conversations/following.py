"""Topics and summaries of a conversation follow its turns, or are made by a task for all conversations of a space."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from msgspec.structs import replace

from muisti.core.conversations.model import Streamed
from muisti.core.conversations.reading import Reader, Wanted
from muisti.core.conversations.summaries import Summaries
from muisti.core.conversations.topics import Conversation, Topics, spans_of
from muisti.core.model.errors import Conflict, InvalidInput, NotFound, QuotaExceeded, SensitiveContent
from muisti.core.model.tasks import Item, ItemOutcome, NewItem
from muisti.core.model.times import Clock
from muisti.core.model.values import LIMIT_MAX, Memory
from muisti.core.support.waiting import Overtaken
from muisti.core.tasks.claim import CRASHED, Claim
from muisti.core.write.calls import Call, Calls
from muisti.core.write.derived_texts import FOLLOWER

# A full space, a policy that has changed since, or sources that others delete meanwhile. The next turns try again.
_LATER = (Conflict, InvalidInput, NotFound, Overtaken, QuotaExceeded, SensitiveContent)


class Following:
    """Thread-safe."""

    def __init__(self, topics: Topics, summaries: Summaries) -> None:
        self._topics, self._summaries = topics, summaries

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


KIND = "summarise"
LISTED = "listed"  # position of a task whose items are there
_REFUSED = (Conflict, InvalidInput, QuotaExceeded, SensitiveContent)  # of one conversation; the others go on


class Summarise:
    """The kind of task that makes topics and summaries, one conversation at a time; `asked` may name a category.

    A step that is repeated finds nothing missing. So it is harmless that a conversation and its item are stored in
    different batches.
    """

    name = KIND
    crashed = CRASHED

    def __init__(self, reader: Reader, topics: Topics, summaries: Summaries, clock: Clock) -> None:
        self._reader, self._topics, self._summaries, self._clock = reader, topics, summaries, clock

    def run(self, claim: Claim) -> object:
        """List the conversations that the caller sees, and work on each. A conversation with nothing new is skipped.

        Raises:
            NotFound: the space was erased meanwhile.
        """
        if claim.task.position != LISTED:
            claim.commit(position=LISTED, adds=[*self._conversations(claim)])
        while group := claim.items(1):
            claim.commit([self._refresh(claim, item) for item in group])
        return None

    def _conversations(self, claim: Claim) -> Iterator[NewItem]:
        asked, cursor = cast(Mapping[str, str | None], claim.task.asked), None
        while True:
            claim.check()
            wanted = Wanted(
                level="conversation", category=asked.get("category"), sort="name", limit=LIMIT_MAX, cursor=cursor
            )
            page = replace(self._reader, calls=Calls(claim.caller, self._clock)).page(claim.task.space, wanted)
            yield from (NewItem(one.name, {"category": one.memory.category}) for one in page.items)
            cursor = page.next_cursor
            if cursor is None:
                return

    def _refresh(self, claim: Claim, item: Item) -> ItemOutcome:
        category = cast(Mapping[str, str | None], item.argument)["category"]
        of, call = Conversation(claim.task.space, item.name, category), Call(self._clock(), None, claim.caller)
        try:
            found = self._topics.follow(of, call)
            made = self._summaries.refresh(of, call)
        except NotFound:  # deleted meanwhile
            return ItemOutcome(item.number, "skipped")
        except _REFUSED as error:
            return ItemOutcome(item.number, "failed", error.code, str(error))
        return ItemOutcome(item.number, "done" if found or made else "skipped")
