"""Find hits that say little beside the best: where one memory clearly answers, the others would be filler.

A hit is shown when its score is at least a share of the best score. The share grows with the strength of the evidence:
0 below `FROM`, and `MOST` from `FULL` on. So few memories are shown for one clear answer, and more for a diffuse one.

Turns of a conversation are never filler: they answer together with turns around them, often without a word of the
question. Neither is anything where the question asks for advice. Where hardly anything can answer, nothing is shown.
The constants are fitted on the judged sets of docs/why/quality.md.
"""

from collections.abc import Sequence

from muisti.core.model.choices import APPLIES
from muisti.core.model.hits import Answered
from muisti.core.model.values import Memory
from muisti.core.query.evidence import asks_for_advice

FROM, FULL = 1.0, 1.6  # strengths
LEAST, MOST = 0.35, 0.75  # shares of the best score
HARDLY = 0.02  # probability of an answer; at most 3 in 1,000 judged questions with an answer are below


def is_hopeless(answer: Answered) -> bool:
    """Return whether an answer hardly answers its question."""
    return answer.applies is not None and answer.applies < HARDLY


def is_unsure(answer: Answered) -> bool:
    """Return whether an answer may not answer its question."""
    return answer.evidence == "none" or (answer.applies is not None and answer.applies < APPLIES)


def filler(question: str, answer: Answered, found: Sequence[tuple[Memory, float]]) -> frozenset[str]:
    """Return the ids of memories, found with a score, that are not shown even if there is room."""
    if is_hopeless(answer):
        return frozenset(memory.id for memory, _ in found)
    if answer.evidence != "strong" or answer.strategy != "hybrid" or asks_for_advice(question):
        return frozenset()
    least = share(answer.strength) * max((score for _, score in found), default=0.0)
    return frozenset(memory.id for memory, score in found if score < least and not _is_turn(memory))


def share(strength: float) -> float:
    """Return the share of the best score that a hit needs.

    >>> [round(share(strength), 3) for strength in (0.9, 1.0, 1.3, 2.0)]
    [0.0, 0.35, 0.55, 0.75]
    """
    if strength < FROM:
        return 0.0
    return LEAST + (MOST - LEAST) * min((strength - FROM) / (FULL - FROM), 1.0)


def _is_turn(memory: Memory) -> bool:
    return memory.conversation is not None or memory.turn is not None or "session" in memory.metadata
