"""Ways to choose memories for a prompt, to compare with: each takes candidates in an order and says what it keeps."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import msgspec

from loadtests.quality.turns import spoken
from muisti.core.conversations.context.choosing import Candidate
from muisti.core.conversations.context.counting import Counter
from muisti.core.conversations.context.rendering import heading
from muisti.core.conversations.context.weights import body
from muisti.core.model.context import Context
from muisti.core.model.values import Memory
from muisti.core.text.discourse.summarise import Turn, summarise

SHARE = 0.2  # of the tokens of a session, for its summary
REMEMBERED = 1_000  # summaries

Kept = Mapping[str, str]
"""The shown text of each kept memory, by its id."""


class SessionSummaries:
    """Summaries of the sessions of a conversation, written by our own summariser when they are first asked for."""

    def __init__(self, conversation: Mapping[str, Candidate], counter: Counter) -> None:
        """`conversation` has all memories in order, by id."""
        self._counter = counter
        self._sessions: dict[str, list[Candidate]] = {}
        for one in conversation.values():
            self._sessions.setdefault(_session(one.memory), []).append(one)
        self._summary = lru_cache(REMEMBERED)(self._written)

    def kept(self, candidates: Sequence[Candidate], budget: int) -> dict[str, str]:
        """Return the lines of summaries by the memories that they are made from, for candidates in order of rank.

        A session has the rank of its best hit. The last summary is as long as the room that is left.
        """
        left = budget
        kept: dict[str, str] = {}
        days: set[str] = set()
        for session in dict.fromkeys(_session(one.memory) for one in candidates):
            said = self._sessions[session]
            day = heading(said[0].memory)
            left -= 0 if day in days else self._counter.short(day)
            tokens = min(int(SHARE * sum(one.tokens for one in said)), left - 1)
            if tokens <= 0:
                break
            lines = self._summary(session, tokens)
            left -= sum(self._counter.count(f"{line}\n") for line in lines.values())
            days.add(day)
            kept |= lines
        return kept

    def _written(self, session: str, tokens: int) -> dict[str, str]:
        """Return the lines of the summary of a session within a number of tokens, by memory."""
        said = self._sessions[session]
        turns = [
            Turn(place, author, text)
            for place, one in enumerate(said)
            for author, text in spoken(one.memory.content, one.memory.metadata)
        ]
        lines: dict[str, str] = {}
        for line in summarise(turns, tokens, self._counter.count):
            id_ = said[line.number].memory.id
            lines[id_] = f"{lines[id_]}\n{line.text}" if id_ in lines else line.text
        return lines


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A question with its candidates, best first, and all memories of its conversation in order, by id.

    `context` returns the context of a budget, with the defaults.
    """

    candidates: Sequence[Candidate]
    conversation: Mapping[str, Candidate]
    summaries: SessionSummaries
    counter: Counter
    context: Callable[[int], Context]


Way = Callable[[Asked, int], Kept]


def stops(asked: Asked, budget: int) -> Kept:
    """Take memories in order of rank up to the first that does not fit."""
    return _filled(asked, asked.candidates, budget, stop=True)


def skips(asked: Asked, budget: int) -> Kept:
    """Take memories in order of rank, passing over what does not fit."""
    return _filled(asked, asked.candidates, budget)


def last_turns(asked: Asked, budget: int) -> Kept:
    """Take the newest turns of the conversation, whatever the question."""
    return _filled(asked, [*asked.conversation.values()][::-1], budget, stop=True)


def session_summaries(asked: Asked, budget: int) -> Kept:
    """Take summaries of the sessions with the best hits."""
    return asked.summaries.kept(asked.candidates, budget)


def ours(asked: Asked, budget: int) -> Kept:
    """Return what the default context of the product shows."""
    found = asked.context(budget)
    return {one.id: found.text[one.start : one.stop] for one in found.citations}


OURS = "Muisti"
WAYS: Mapping[str, Way] = {
    "rank order, stops": stops,
    "rank order, skips": skips,
    "last turns": last_turns,
    "session summaries": session_summaries,
    OURS: ours,
}


def _filled(asked: Asked, order: Sequence[Candidate], budget: int, *, stop: bool = False) -> Kept:
    """Take memories in an order, with a line for the day where it differs from that of the memory before."""
    left, day = budget, ""
    kept: dict[str, str] = {}
    for one in order:
        own = heading(one.memory)
        needed = one.tokens + (0 if own == day else asked.counter.short(own))
        if needed <= left:
            left, day = left - needed, own
            kept[one.memory.id] = body(one.memory.content)
        elif stop:
            break
    return kept


def _session(memory: Memory) -> str:
    return str(memory.metadata.get("session", ""))
