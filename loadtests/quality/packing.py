"""Ways to choose memories for a prompt, to compare with: each takes candidates in an order and says what it keeps."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from muisti.core.conversations.context.choosing import Candidate
from muisti.core.conversations.context.counting import Counter
from muisti.core.conversations.context.rendering import NOTICE, heading
from muisti.core.conversations.context.weights import body
from muisti.core.model.context import Context

Kept = Mapping[str, str]
"""The shown text of each kept memory, by its id."""


class Filled(NamedTuple):
    """Memories that a way keeps, and the tokens that it takes."""

    kept: Kept
    tokens: int


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A question with its candidates, best first, and all memories of its conversation in order, by id.

    `context` returns the context of a budget, with the defaults.
    """

    candidates: Sequence[Candidate]
    conversation: Mapping[str, Candidate]
    counter: Counter
    context: Callable[[int], Context]


Way = Callable[[Asked, int], Filled]


def stops(asked: Asked, budget: int) -> Filled:
    """Take memories in order of rank up to the first that does not fit."""
    return _filled(asked, asked.candidates, budget, stop=True)


def skips(asked: Asked, budget: int) -> Filled:
    """Take memories in order of rank, passing over what does not fit."""
    return _filled(asked, asked.candidates, budget)


def near(share: float, asked: Asked, budget: int) -> Filled:
    """Take memories as `skips`, but only those with this share of the best score."""
    best = max((one.score for one in asked.candidates), default=0.0)
    return _filled(asked, [one for one in asked.candidates if one.score >= share * best], budget)


def last_turns(asked: Asked, budget: int) -> Filled:
    """Take the newest turns of the conversation, whatever the question."""
    return _filled(asked, [*asked.conversation.values()][::-1], budget, stop=True)


def ours(asked: Asked, budget: int) -> Filled:
    """Return what the default context of the product shows."""
    found = asked.context(budget)
    return Filled({one.id: found.text[one.start : one.stop] for one in found.citations}, found.tokens)


OURS = "Muisti"
SHARES = (0.5, 0.6, 0.7)  # of the best score, from which a list takes memories
WAYS: Mapping[str, Way] = {
    "rank order, stops": stops,
    "rank order, skips": skips,
    "last turns": last_turns,
    **{f"only from {share} of the best": partial(near, share) for share in SHARES},
    OURS: ours,
}


def _filled(asked: Asked, order: Sequence[Candidate], budget: int, *, stop: bool = False) -> Filled:
    """Take memories in an order below our notice, with a line for the day where it differs from the one before."""
    left, day = budget - asked.counter.short(f"{NOTICE}\n"), ""
    kept: dict[str, str] = {}
    for one in order:
        own = heading(one.memory)
        needed = one.tokens + (0 if own == day else asked.counter.short(own))
        if needed <= left:
            left, day = left - needed, own
            kept[one.memory.id] = body(one.memory.content)
        elif stop:
            break
    return Filled(kept, budget - left)
