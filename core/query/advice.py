"""Evidence of questions that ask for advice: an answer to these often shares no word with them.

"Which films would you recommend?" is answered by "I dislike violence". For such a question words count half, and the
cosine X of the nearest passage counts beside what questions about other subjects reach:

    strength = (s + weak) / 2 + .15 * ((X - first) / growth - log10(N) - .5)

s is the strength of core/query/evidence.py, and `weak` the threshold of that level. Among N passages one unrelated
question in ten finds a cosine of first + growth * log10(N), since the best of more passages is nearer. So the second
bracket counts in powers of ten how much larger a space such a cosine would need.

The words that ask for advice are English. docs/why/quality.md has the measurements.
"""

import math
import re

import msgspec

WORDS = 0.5  # weight of the strength by words and meaning
NEAR = 0.15  # weight of each power of ten
MARGIN = 0.5  # powers of ten that are not counted
LONGEST = 300  # characters; a longer text is rather pasted than asked

_ADVICE = re.compile(
    r"\b(?:recommend(?:ations?)?|suggest(?:ions?)?|advice|advise|tips?|ideas?|should i|help me|looking for|would you|"
    r"(?:could|can) i|how do i|what (?:are some|would be)|what(?: are|'s| is)(?: the| a| some(?: of the)?)? "
    r"(?:best|good|great)|(?:the|a) (?:best|good) (?:way|place)s?)\b"
)


class Unrelated(msgspec.Struct, frozen=True, kw_only=True):
    """The cosine that one unrelated question in ten finds: `first` for one passage, `growth` more for tenfold."""

    first: float
    growth: float

    def cosine(self, passages: int) -> float:
        """Return the cosine that one unrelated question in ten finds among some passages.

        >>> [round(Unrelated(first=0.2, growth=0.05).cosine(passages), 2) for passages in (1, 1_000)]
        [0.2, 0.35]
        """
        return self.first + self.growth * math.log10(max(passages, 1))


class Nearest(msgspec.Struct, frozen=True):
    """The highest `cosine` of a search, and the number of `passages` that it may rank."""

    cosine: float
    passages: int


def asks_for_advice(text: str) -> bool:
    """Return whether a query asks for advice, and not for a fact.

    >>> [asks_for_advice(text) for text in ("Which films would you recommend?", "Who suggested the film?")]
    [True, False]
    """
    return len(text) <= LONGEST and _ADVICE.search(text.casefold().replace("’", "'")) is not None


def advised(strength: float, weak: float, nearest: Nearest, usual: Unrelated) -> float:
    """Return the strength for a question that asks for advice, from its `strength` as a question for a fact.

    >>> usual = Unrelated(first=0.2, growth=0.05)
    >>> [round(advised(0.5, 0.7, Nearest(cosine, 1_000), usual), 3) for cosine in (0.25, 0.375, 0.5)]
    [0.225, 0.6, 0.975]
    """
    nearer = (nearest.cosine - usual.cosine(nearest.passages)) / usual.growth
    return max(0.0, WORDS * strength + (1 - WORDS) * weak + NEAR * (nearer - MARGIN))
