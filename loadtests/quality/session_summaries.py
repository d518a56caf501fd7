"""Summaries of sessions in place of memories: those of the sessions with the best hits, as much as the budget takes."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from loadtests.quality.turns import spoken
from muisti.core.context.choosing import Candidate
from muisti.core.context.counting import Counter
from muisti.core.context.rendering import heading
from muisti.core.discourse.summarise import Turn, summarise
from muisti.core.model.values import Memory

SHARE = 0.2  # of the tokens of a session, for its summary
REMEMBERED = 1_000  # summaries


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


def _session(memory: Memory) -> str:
    return str(memory.metadata.get("session", ""))
