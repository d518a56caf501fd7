"""Contexts: texts for prompts, made from the memories that a caller sees."""

from collections.abc import Sequence

import msgspec

from muisti.core.context.builder import Builder
from muisti.core.context.choosing import Candidate
from muisti.core.context.counting import ENCODINGS as ENCODINGS
from muisti.core.context.counting import USUAL as USUAL
from muisti.core.context.request import Request as Request
from muisti.core.context.request import check_request
from muisti.core.context.sections import LISTED
from muisti.core.model.context import Context
from muisti.core.model.values import Memory
from muisti.core.read.telemetry import Retrievals
from muisti.core.search.asking import check_parts
from muisti.core.write.begun import Calls
from muisti.core.write.recent_results import RecentResults
from muisti.core.write.validate import check_query


class Contexts(msgspec.Struct, frozen=True, kw_only=True):
    """Contexts for one caller. Memories that are shown count as retrieved, as those of a search do."""

    calls: Calls
    builder: Builder
    retrievals: Retrievals
    recent_results: RecentResults

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
        now = self.calls.clock()
        context, memories = self.builder.context(space, request, self.calls.caller, now)
        self._note(request, context, [*memories.values()], now)
        return context

    def candidates(self, space: str, request: Request) -> Sequence[Candidate]:
        """Return what the memories of a context are chosen from, best first. They do not count as retrieved."""
        check_request(request)
        return self.builder.candidates(space, request, self.calls.caller, self.calls.clock())

    def _note(self, request: Request, context: Context, memories: Sequence[Memory], now: int) -> None:
        """Note to whom the memories were shown; those that a search found count as retrieved."""
        found = {one.id for one in context.citations if one.section not in LISTED}
        for space in context.spaces:
            epoch = space.seq.rpartition(":")[0]
            own = [memory for memory in memories if memory.space == space.name]
            self.recent_results.note(self.calls.caller.actor, epoch, own, now)
            touched = [memory.id for memory in own if memory.id in found]
            if touched and space.evidence != "none" and not request.no_touch and request.as_of is None:
                self.retrievals.note(epoch, touched, now)
