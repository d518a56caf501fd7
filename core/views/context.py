"""Contexts: texts for prompts, made from the memories that a caller sees."""

from collections.abc import Sequence

import msgspec

from muisti.core.conversations.context.builder import Builder
from muisti.core.conversations.context.choosing import Candidate
from muisti.core.conversations.context.counting import ENCODINGS as ENCODINGS
from muisti.core.conversations.context.counting import USUAL as USUAL
from muisti.core.conversations.context.request import Request as Request
from muisti.core.conversations.context.request import check_request
from muisti.core.conversations.context.sections import LISTED
from muisti.core.model.context import Context
from muisti.core.model.values import Memory
from muisti.core.read.telemetry import Retrievals
from muisti.core.search.asking import check_parts
from muisti.core.views.calls import Calls
from muisti.core.write.recent_results import RecentResults
from muisti.core.write.validate import check_query


class ContextParts(msgspec.Struct, frozen=True, kw_only=True):
    """The parts that `Contexts` uses."""

    builder: Builder
    retrievals: Retrievals
    recent_results: RecentResults


class Contexts:
    """Contexts for one caller. Memories that are shown count as retrieved, as those of a search do."""

    __slots__ = ("_calls", "_parts")

    def __init__(self, parts: ContextParts, calls: Calls) -> None:
        self._parts = parts
        self._calls = calls

    def build(self, space: str, request: Request) -> Context:
        """Return a text of at most `request.token_budget` tokens, with what it rests on; see `Builder.context`.

        The caller must be allowed to read each space: this view knows memories, no grants of spaces.

        Raises:
            InvalidInput: a part of the request cannot be, such as an encoding that is not on board.
        """
        check_request(request)
        query = request.search(request.filter, 1, None)
        check_query(query)
        if request.spaces:
            check_parts(request.spaces, query)
        now = self._calls.clock()
        context, memories = self._parts.builder.context(space, request, self._calls.caller, now)
        self._note(request, context, [*memories.values()], now)
        return context

    def candidates(self, space: str, request: Request) -> Sequence[Candidate]:
        """Return what the memories of a context are chosen from, best first. They do not count as retrieved."""
        check_request(request)
        return self._parts.builder.candidates(space, request, self._calls.caller, self._calls.clock())

    def _note(self, request: Request, context: Context, memories: Sequence[Memory], now: int) -> None:
        """Note to whom the memories were shown; those that a search found count as retrieved."""
        found = {one.id for one in context.citations if one.section not in LISTED}
        for space in context.spaces:
            epoch = space.seq.rpartition(":")[0]
            own = [memory for memory in memories if memory.space == space.name]
            self._parts.recent_results.note(self._calls.caller.actor, epoch, own, now)
            touched = [memory.id for memory in own if memory.id in found]
            if touched and space.evidence != "none" and not request.no_touch and request.as_of is None:
                self._parts.retrievals.note(epoch, touched, now)
