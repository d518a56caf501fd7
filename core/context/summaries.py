"""Which summaries of a conversation are worth their tokens beside turns and memories."""

from bisect import bisect_left
from collections.abc import Collection, Sequence

import msgspec

from muisti.core.context.choosing import Candidate
from muisti.core.model.values import Memory

OTHER = 0.5  # score of a summary that no hit touches


def ranked(summaries: Sequence[Candidate], hits: Sequence[Candidate]) -> list[Candidate]:
    """Return summaries, those first that tell of the best hits, otherwise in their order.

    A hit is within the topic whose summary is the first that reaches up to its turn. Summaries of a whole conversation
    are touched by no hit.
    """
    ends = sorted((end, one.memory.id) for one in summaries if one.memory.topic is not None for end in _end(one.memory))
    best = max((one.score for one in hits), default=0.0)
    conversations = {one.memory.conversation for one in summaries}
    touched: dict[str, float] = {}
    for hit in hits:
        turn = hit.memory.turn
        place = len(ends) if turn is None else bisect_left(ends, (turn, ""))
        if place < len(ends) and best > 0 and hit.memory.conversation in conversations:
            name = ends[place][1]
            touched[name] = max(touched.get(name, OTHER), OTHER + (1 - OTHER) * hit.score / best)
    scored = [msgspec.structs.replace(one, score=touched.get(one.memory.id, OTHER)) for one in summaries]
    return sorted(scored, key=lambda one: -one.score)


def repeated(summaries: Sequence[Candidate], shown: Collection[str]) -> frozenset[str]:
    """Return the ids of summaries that tell nothing new: all that they are made from is shown, or is such a summary."""
    known = {*shown}
    found = set[str]()
    while True:
        more = {
            one.memory.id
            for one in summaries
            if one.memory.id not in found and one.memory.derived_from and known.issuperset(one.memory.derived_from)
        }
        if not more:
            return frozenset(found)
        found |= more
        known |= more


def _end(summary: Memory) -> Sequence[int]:
    turn = summary.structure.get("up_to")
    return [turn] if isinstance(turn, int) else []
