"""The strength of the evidence in an answer: a number from the rankings, and `none`, `weak` or `strong` by thresholds.

    strength = u * r ** .75 * (max(C + BG) + S1 - S10) + .75 * max(X)
    S        = (A + .6 * BG + .75 * X) * (1 + .4 * m)              the absolute score of a memory, best row

Maxima are over the candidates. A row has these signals, 0 where a ranking takes no part:

- C is the share of the query's words that the row has, weighted by idf.
- A is the same share with BM25's saturation, and with words of neighbouring rows.
- BG is the share of the query's word pairs that are close in the row.
- X is the cosine.
- m is 1 when the memory is by or about a person that the query names, else less.

S1 - S10 is the lead of the best memory over the tenth, or over the last when there are fewer. r is the share of the
query's idf whose words the space knows. Each unknown word counts as the rarest possible, and so does one more, so that
short questions have less. u is the share of the known idf whose words occur in any row that the filter allows. Without
X the exponent of r is 1.

A low number says that nothing about the question is stored. It cannot say that one fact is missing among others on the
same subject. docs/why/quality.md has the derivation and measurements.
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
TRUST = 0.75  # exponent of `known` when the dense ranking takes part
RIVAL = 10  # place of the memory that the lead of the best is measured against


class Signals(msgspec.Struct, frozen=True, kw_only=True):
    """Signals of the candidate rows, one value for each row; None where a ranking took no part.

    `memories` has a number for the memory of each row. `covered` is C, `lexical` A, `pairs` BG, `cosine` X and
    `persons` m of the formula above. `known` is `known_share`. `there` is the share of the known idf whose words an
    allowed row has.
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
    """Return the share of the query's idf whose words the space knows; `mass` is the sum of their idf.

    Each of the `unknown` words, and one more, counts as a word that a single row has.

    >>> [round(known_share(mass, unknown, 100), 2) for mass, unknown in ((4.0, 0), (12.0, 0), (4.0, 1), (0.0, 3))]
    [0.49, 0.74, 0.32, 0.0]
    """
    return mass / (mass + (unknown + 1) * math.log(1 + max(rows - 0.5, 0.5) / 1.5))


def strength(signals: Signals) -> float:
    """Return the strength of the evidence, from 0 up: about 0.2 is chance, 1 a good answer. 0 without candidates.

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
    """Return whether evidence reaches the wanted level; uncalibrated evidence always does.

    >>> enough("weak", "strong"), enough("weak", "weak"), enough("uncalibrated", "strong")
    (False, True, True)
    """
    return wanted is None or evidence == "uncalibrated" or LEVELS.index(evidence) >= LEVELS.index(wanted)


def _trust(signals: Signals) -> float:
    """Return the weight of the words that were found: less for each word that is unknown or in no allowed row."""
    if signals.lexical is None:
        return 1.0
    return signals.there * (signals.known if signals.cosine is None else signals.known**TRUST)
