"""Ways to choose memories for a prompt, to compare with: each takes candidates in an order and says what it keeps."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

import msgspec
import numpy as np
import numpy.typing as npt

from loadtests.quality.turns import spoken
from muisti.core.conversations.context.choosing import Candidate, chosen
from muisti.core.conversations.context.counting import Counter
from muisti.core.conversations.context.features import body
from muisti.core.conversations.context.rendering import heading
from muisti.core.embedding.encoder import Encoder
from muisti.core.model.values import Memory
from muisti.core.text.discourse.summarise import Turn, summarise

Floats = npt.NDArray[np.floating]

MMR = 0.7  # weight of the score against likeness to what is there
MMR_MOST = 150  # candidates
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
    """A question with its candidates, best first, and all memories of its conversation in order, by id."""

    query: str
    candidates: Sequence[Candidate]
    conversation: Mapping[str, Candidate]
    summaries: SessionSummaries
    counter: Counter
    encoder: Encoder


Way = Callable[[Asked, int], Kept]


def stops(asked: Asked, budget: int) -> Kept:
    """Take memories in order of rank up to the first that does not fit."""
    return _filled(asked, asked.candidates, budget, stop=True)


def skips(asked: Asked, budget: int) -> Kept:
    """Take memories in order of rank, passing over what does not fit."""
    return _filled(asked, asked.candidates, budget)


def neighbours(asked: Asked, budget: int) -> Kept:
    """Take memories in order of rank, each with the turn before and the turn after it."""
    return _filled(asked, _with_neighbours(asked), budget)


def mmr(asked: Asked, budget: int) -> Kept:
    """Take memories by maximal marginal relevance (Carbonell and Goldstein, 1998) over the vectors of the model."""
    found = asked.candidates[:MMR_MOST]
    if not found:
        return {}
    vectors = asked.encoder.encode([one.memory.content for one in found])
    scores = np.array([one.score for one in found]) / max(found[0].score, 1e-9)
    return _filled(asked, [found[place] for place in _mmr_order(scores, vectors)], budget)


def last_turns(asked: Asked, budget: int) -> Kept:
    """Take the newest turns of the conversation, whatever the question."""
    return _filled(asked, [*asked.conversation.values()][::-1], budget, stop=True)


def session_summaries(asked: Asked, budget: int) -> Kept:
    """Take summaries of the sessions with the best hits."""
    return asked.summaries.kept(asked.candidates, budget)


def ours(asked: Asked, budget: int) -> Kept:
    """Choose as `core.conversations.context` does."""
    found = chosen(asked.candidates, asked.query, budget, asked.counter)
    return {one.memory.id: one.text for one in found.shown}


WAYS: Mapping[str, Way] = {
    "naive, stops": stops,
    "naive, skips": skips,
    "±1 turn": neighbours,
    "MMR .7": mmr,
    "last turns": last_turns,
    "session summaries": session_summaries,
    "Muisti": ours,
}
OURS = "Muisti"


def _filled(asked: Asked, order: Sequence[Candidate], budget: int, *, stop: bool = False) -> Kept:
    left = budget
    kept: dict[str, str] = {}
    days: set[str] = set()
    for one in order:
        day = heading(one.memory)
        needed = one.tokens + (0 if day in days else asked.counter.short(day))
        if needed <= left:
            left -= needed
            days.add(day)
            kept[one.memory.id] = body(one.memory.content)
        elif stop:
            break
    return kept


def _with_neighbours(asked: Asked) -> list[Candidate]:
    order = [*asked.conversation]
    places = {id_: place for place, id_ in enumerate(order)}
    found: dict[str, Candidate] = {}
    for one in asked.candidates:
        for near in _near(order, places[one.memory.id], one.memory, asked.conversation):
            found.setdefault(near.memory.id, near)
    return [*found.values()]


def _near(order: Sequence[str], place: int, memory: Memory, every: Mapping[str, Candidate]) -> Iterator[Candidate]:
    """Yield a memory, then the memories beside it in its session."""
    for at in (place, place - 1, place + 1):
        if 0 <= at < len(order):
            near = every[order[at]]
            if near.memory.metadata.get("session") == memory.metadata.get("session"):
                yield near


def _mmr_order(scores: Floats, vectors: Floats) -> list[int]:
    likeness = np.zeros(len(scores))
    left = np.ones(len(scores), np.bool_)
    order: list[int] = []
    while left.any():
        gains = np.where(left, MMR * scores - (1 - MMR) * likeness, -np.inf)
        best = int(gains.argmax())
        order.append(best)
        left[best] = False
        likeness = np.maximum(likeness, vectors @ vectors[best])
    return order


def _session(memory: Memory) -> str:
    return str(memory.metadata.get("session", ""))
