"""How much a search has found: one number from what the ranking knows, and `none`, `weak` or `strong` by thresholds.

    strength = u * r ** .75 * (max(C + BG) + S1 - S10) + .75 * max(X)
    S        = (A + .6 * BG + .75 * X) * (1 + .4 * m)              the absolute score of a memory, best row

C is the share of the query's words that a row has, weighted by idf, A the same by how much the row and what is around
it make of them, BG that of its word pairs, X the cosine, m whether the memory is by or about a person of the query;
maxima are over the candidates. S1 - S10 is how far the best memory stands out from the tenth, or from the last when
there are fewer. r is the share of the query's idf whose words the space knows: what it has never heard of counts as
the rarest of words, and so does one word more, so that a short question says less. u is the share of these whose words
stand anywhere in what the filter allows. A part that takes no part in a mode is 0, and without X there is r itself.

The number says how well the question fits what is stored: "nothing about this here". It cannot say that one fact is
missing among others on the same subject. Form and figures: docs/quality.md.
"""

import math

import msgspec
import numpy as np

from muisti.core.kernels import Doubles, Longs
from muisti.core.kernels.evidence import standing
from muisti.core.model.hits import Evidence

LEVELS: tuple[Evidence, ...] = ("none", "weak", "strong")

PAIRS = 0.6
COSINE = 0.75
PERSON = 0.4
TRUST = 0.75  # the power of `known`, where meaning takes part
RIVAL = 10  # the place of the memory from which the best has to stand out


class Thresholds(msgspec.Struct, frozen=True):
    """`weak` and `strong` begin at these strengths."""

    weak: float
    strong: float

    def level(self, strength: float) -> Evidence:
        """The level of a strength.

        >>> [Thresholds(0.5, 0.8).level(strength) for strength in (0.4, 0.5, 0.9)]
        ['none', 'weak', 'strong']
        """
        return "none" if strength < self.weak else "weak" if strength < self.strong else "strong"


class Signals(msgspec.Struct, frozen=True, kw_only=True):
    """What a ranking knows of its candidate rows, one value a row; None where a ranking took no part.

    `memories` numbers the memory of each row, `known` is `known_share`, `there` the share of what is known that stands
    in what is allowed, `persons` in [0, 1].
    """

    memories: Longs
    covered: Doubles | None = None
    lexical: Doubles | None = None
    pairs: Doubles | None = None
    cosine: Doubles | None = None
    persons: Doubles | None = None
    known: float = 1.0
    there: float = 1.0


def known_share(mass: float, unknown: float, rows: int) -> float:
    """The share of the query's idf whose words the space knows; `mass` is the sum of their idf.

    Each of the `unknown` words, and one more, counts as one that a single row has.

    >>> [round(known_share(mass, unknown, 100), 2) for mass, unknown in ((4.0, 0), (12.0, 0), (4.0, 1), (0.0, 3))]
    [0.49, 0.74, 0.32, 0.0]
    """
    return mass / (mass + (unknown + 1) * math.log(1 + max(rows - 0.5, 0.5) / 1.5))


def strength(signals: Signals) -> float:
    """How much was found, from 0 up: about 0.2 is chance, 1 a good answer. 0 without candidates.

    >>> half = np.array([0.0, 0.5])
    >>> round(strength(Signals(memories=np.array([1, 2]), covered=half, lexical=half, cosine=half)), 4)
    1.75
    """
    if not len(signals.memories):
        return 0.0
    nothing = np.zeros(len(signals.memories))
    covered, words, pairs, meaning, persons = (
        nothing if values is None else values
        for values in (signals.covered, signals.lexical, signals.pairs, signals.cosine, signals.persons)
    )
    weights = (PAIRS, COSINE, PERSON)
    most, lead, nearest = standing(signals.memories, covered, words, pairs, meaning, persons, weights, RIVAL)
    return max(0.0, _trust(signals) * (most + lead) + COSINE * nearest)


def enough(evidence: Evidence, wanted: Evidence | None) -> bool:
    """Whether an answer of this evidence may be given; what is uncalibrated is never held back.

    >>> enough("weak", "strong"), enough("weak", "weak"), enough("uncalibrated", "strong")
    (False, True, True)
    """
    return wanted is None or evidence == "uncalibrated" or LEVELS.index(evidence) >= LEVELS.index(wanted)


def _trust(signals: Signals) -> float:
    """How far the words found may be trusted: less with every word of the query that is not to be found."""
    if signals.lexical is None:
        return 1.0
    return signals.there * (signals.known if signals.cosine is None else signals.known**TRUST)
