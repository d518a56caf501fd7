"""The probability that a memory answers a question, and the cut by it.

    applies  = answers * closeness
    answers  = 1 / (1 + exp(-(w0 + w . x)))                 that anything here answers the question
    closeness = (score / best) ** steep * words              of one hit, 1 for the best

`x` are the signs of `Signs`, and `w` the `WEIGHTS`, none of which has the wrong sign. A question is more likely
answered when a passage is nearer than unrelated questions find any. So it is when one row has more of its words and
word pairs. Words weigh by the language, not by the space, where "summarize" may be rare. A question about a person whom
no memory names is hardly ever answered.

A dialogue spreads an answer over several turns, and so does a large space. A fact on its own seldom has a second one
beside it. So turns have an exponent below 1, and in a small space, with few `passages`, a hit must be nearer to the
best:

    steep = 1 + 1.5 * short * (3 - log10(passages)) / 1.5          between 1 and 2.5; .7 for turns
    words = ((C + .15) / (C of the best + .15)) ** ((steep - 1) / 2)         at most 1

`short` is 1 where passages have at most 60 words on average, and 0 from 120 on. C is the share of the question's words
that the hit has, weighted by idf. A question that asks for advice is answered by several, so `steep` is 1 for it.

Among few statements of at most 20 words, two more things count. What the best lacks of the question lowers the
probability (`core.query.lacking`), and for a question that asks for advice `near` counts `ADVISED` more. `python -m
loadtests.quality.applies` fits the weights and draws what the cut costs; docs/why/quality.md has the measurements.
"""

import math
from collections.abc import Iterator, Mapping
from operator import mul

import msgspec
from msgspec.structs import astuple

from muisti.core.model.choices import APPLIES
from muisti.core.model.hits import Thresholds
from muisti.core.support.regex import regex

FIRST = 10  # hits whose signs count

CONSTANT = -1.239
WEIGHTS: Mapping[str, float] = {  # in the order of `Signs`
    "near": 0.703,
    "telling": 2.744,
    "pairs": 6.735,
    "stranger": -2.658,
    "word": -6.314,
    "name": -8.5,  # the fit gives -5.04; means of ten sets are the same, and fewer near misses show
}

STEEPEST = 2.5  # exponent among at most `FEW` passages
FEW, MANY = 1.5, 3.0  # powers of ten of passages
SHORT = 60.0  # words of a passage, on average; twice as long ones are no facts on their own
ADVISED = 2.0  # powers of ten that a statement is nearer to a question for advice than it looks; chosen on PrefEval
STATEMENT = 20.0  # words of a statement that answers as a whole, on average; passages of twice as many are none
WORDLESS = 0.15  # share of words that counts for a hit without any
STEEP, BORDER = 4.0, 0.3  # of the probability by thresholds alone; one unrelated question in twenty reaches the border


def least(asked: bool | float) -> float | None:
    """Return the cut that a caller asks for: the usual one for True, None for False.

    >>> least(True), least(False), least(0.8)
    (0.5, None, 0.8)
    """
    return float(asked) if not isinstance(asked, bool) else APPLIES if asked else None


class Signs(msgspec.Struct, frozen=True, kw_only=True):
    """Signs that a question is answered, from its first hits.

    `near` is the distance of the highest cosine to that which one unrelated question in ten finds, in powers of ten of
    passages. `telling` is the largest share of the question's words that a row has, by their weight in the language.
    `pairs` is that of its word pairs. `stranger` is 1 for a question about a person whom no memory names. `word` and
    `name` are the weights of what the best statement lacks of the question. `covered` is the largest share of the
    question's idf that a row has, unknown words included, and no sign.
    """

    near: float
    telling: float
    pairs: float
    stranger: float
    word: float = 0.0
    name: float = 0.0
    covered: float = 0.0


def answers(signs: Signs) -> float:
    """Return the probability that a question is answered.

    >>> usual = Signs(near=4.0, telling=0.8, pairs=0.2, stranger=0.0)
    >>> answers(usual) > 0.5 > answers(msgspec.structs.replace(usual, near=-1.0, telling=0.3, pairs=0.0))
    True
    """
    return _logistic(CONSTANT + sum(map(mul, WEIGHTS.values(), astuple(signs))))


def answers_by(strength: float, thresholds: Thresholds) -> float:
    """Return the probability from the strength of evidence alone, for modes and models without signs.

    >>> [round(answers_by(strength, Thresholds(0.4, 1.4)), 2) for strength in (0.4, 0.7, 1.4)]
    [0.23, 0.5, 0.94]
    """
    return _logistic(STEEP * ((strength - thresholds.weak) / (thresholds.strong - thresholds.weak) - BORDER))


def _logistic(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-min(max(value, -50.0), 50.0)))


def steepness(passages: int, length: float) -> float:
    """Return the exponent of closeness among some passages of an average length in words.

    >>> [steepness(passages, length) for passages, length in ((30, 20.0), (30, 200.0), (1_000, 20.0))]
    [2.5, 1.0, 1.0]
    """
    return 1.0 + (STEEPEST - 1.0) * _share(2.0 - length / SHORT) * _small(passages)


def stating(passages: int, length: float) -> float:
    """Return how much passages are statements, each of which answers as a whole: 0 to 1.

    >>> [stating(passages, length) for passages, length in ((30, 10.0), (30, 30.0), (1_000, 10.0))]
    [1.0, 0.5, 0.0]
    """
    return _share(2.0 - length / STATEMENT) * _small(passages)


def _small(passages: int) -> float:
    return _share((MANY - math.log10(max(passages, 1))) / (MANY - FEW))


def _share(value: float) -> float:
    return min(max(value, 0.0), 1.0)


# Names of persons as subjects or owners: "did Ann", "Ann's". At the beginning of a question any word has a capital.

_ASKED = r"(?:did|does|do|is|was|are|were|has|have|had|will|would|can|could|should|might|may)"
_SUBJECT = regex(rf"\b{_ASKED}\s+([A-Z][a-z][\w-]+)(?=[\s?,.'’]|$)")
_CAPITAL = regex(r"[A-Z]")
_OWNER = regex(r"\b([A-Z][\w-]{1,60})['’]s\b")


def subjects(text: str) -> Iterator[str]:
    """Yield the names that a question in English has as subjects or owners.

    >>> [*subjects("When did Ann meet Bob's sister in Turku?")]
    ['Ann', 'Bob']
    """
    if _CAPITAL.search(text, 1):
        yield from (found[1] for found in _SUBJECT.finditer(text))
    if "'s" in text or "’s" in text:
        yield from (found[1] for found in _OWNER.finditer(text))
