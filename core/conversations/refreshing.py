"""Topics and summaries of all conversations of a space, as a task: those that are missing or stale are made."""

from collections.abc import Iterator, Mapping
from typing import cast

from muisti.core.conversations.reading import Reader, Wanted
from muisti.core.conversations.summaries import Summaries
from muisti.core.conversations.topics import Conversation, Topics
from muisti.core.model.errors import Conflict, InvalidInput, NotFound, QuotaExceeded, SensitiveContent
from muisti.core.model.tasks import Item, ItemOutcome, NewItem
from muisti.core.model.times import Clock
from muisti.core.model.values import LIMIT_MAX
from muisti.core.tasks.claim import CRASHED, Claim
from muisti.core.write.begun import Call

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
            page = self._reader.page(claim.task.space, wanted, claim.caller, self._clock(), None)
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
