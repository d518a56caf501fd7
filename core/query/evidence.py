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
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from muisti.core.kernels import Doubles, Longs
from muisti.core.kernels.blend import standing
from muisti.core.model.errors import InvalidInput
from muisti.core.model.hits import Evidence, Thresholds
from muisti.core.support.regex import regex

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
    covered, words, pairs, meaning, persons = [
        nothing if values is None else values
        for values in (signals.covered, signals.lexical, signals.pairs, signals.cosine, signals.persons)
    ]
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


# Evidence of questions that ask for advice: an answer to these often shares no word with them.
#
# "Which films would you recommend?" is answered by "I dislike violence". For such a question words count half, and the
# cosine X of the nearest passage counts beside what questions about other subjects reach:
#
#     strength = (s + weak) / 2 + .15 * ((X - first) / growth - log10(N) - .5)
#
# s is the strength above, and `weak` the threshold of that level. Among N passages one unrelated question in ten finds
# a cosine of first + growth * log10(N), since the best of more passages is nearer. So the second bracket counts in
# powers of ten how much larger a space such a cosine would need.
#
# The words that ask for advice are English. docs/why/quality.md has the measurements.

WORDS = 0.5  # weight of the strength by words and meaning
NEAR = 0.15  # weight of each power of ten
MARGIN = 0.5  # powers of ten that are not counted
LONGEST = 300  # characters; a longer text is rather pasted than asked

_ADVICE = regex(
    r"\b(?:recommend(?:ations?)?|suggest(?:ions?)?|advice|advise|tips?|ideas?|should i|help me|looking for|would you|"
    r"(?:could|can) i|how do i|what (?:are some|would be)|what(?: are|'s| is)(?: the| a| some(?: of the)?)? "
    r"(?:best|good|great)|(?:the|a) (?:best|good) (?:way|place)s?)\b"
)

_ADVISING = (
    *("recommend", "suggest", "advice", "advise", "tip", "idea", "should i", "help me", "looking for", "would you"),
    *("can i", "could i", "how do i", "what are some", "what would be", "best", "good", "great"),
)  # of which what _ADVICE finds has one


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
    if len(text) > LONGEST:
        return False
    asked = text.casefold().replace("’", "'")
    return any(map(asked.__contains__, _ADVISING)) and _ADVICE.search(asked) is not None


def advised(strength: float, weak: float, nearest: Nearest, usual: Unrelated) -> float:
    """Return the strength for a question that asks for advice, from its `strength` as a question for a fact.

    >>> usual = Unrelated(first=0.2, growth=0.05)
    >>> [round(advised(0.5, 0.7, Nearest(cosine, 1_000), usual), 3) for cosine in (0.25, 0.375, 0.5)]
    [0.225, 0.6, 0.975]
    """
    nearer = (nearest.cosine - usual.cosine(nearest.passages)) / usual.growth
    return max(0.0, WORDS * strength + (1 - WORDS) * weak + NEAR * (nearer - MARGIN))


# Thresholds from which the strength of evidence counts as weak or strong, by model and by space, from a JSON file.
#
# An entry may also have the cosines that unrelated questions find. Questions that ask for advice are judged by them
# so, or without them as all others.
#
# The file of a model, `evidence.json` in its folder, has one entry. The file that the setting `calibration` names may
# have more, and entries for single spaces. An entry is for the model that it was fitted with and for no other.

FILE = "evidence.json"

RankedMode = Literal["hybrid", "semantic", "keyword"]

KEYWORD = Thresholds(weak=0.21, strong=0.36)
"""Thresholds of keyword search, which has no model."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """Thresholds by mode, fitted with the model whose hash is `generation`, for one space or for all."""

    generation: str | None
    space: str | None = None
    modes: Mapping[RankedMode, Thresholds] = msgspec.field(default_factory=dict[RankedMode, Thresholds])
    unrelated: Unrelated | msgspec.UnsetType = msgspec.UNSET


class Calibration:
    """All loaded thresholds. Those of a space take precedence over those of its model."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        entries = list(entries)
        self._modes = {(entry.generation, entry.space): entry.modes for entry in entries}
        self._unrelated = {(entry.generation, entry.space): entry.unrelated for entry in entries if entry.unrelated}

    def level(self, strength: float, mode: str, generation: str | None, space: str) -> Evidence:
        """Return the evidence of an answer; `uncalibrated` when there are no thresholds for the model.

        Modes that do not rank by text (`metadata`, `recent`) have strong evidence when they find anything, else none.
        """
        if mode not in ("hybrid", "semantic", "keyword"):
            return "strong" if strength > 0 else "none"
        if strength <= 0:
            return "none"
        known = self.thresholds(mode, generation, space)
        return "uncalibrated" if known is None else known.level(strength)

    def thresholds(self, mode: str, generation: str | None, space: str) -> Thresholds | None:
        """Return the thresholds of a mode; None for modes that do not rank by text, and for unknown models."""
        if mode not in ("hybrid", "semantic", "keyword"):
            return None
        known = self._modes.get((generation, space), {}).get(mode) or self._modes.get((generation, None), {}).get(mode)
        return KEYWORD if known is None and mode == "keyword" else known

    def unrelated(self, generation: str | None, space: str) -> Unrelated | None:
        """Return the cosines that unrelated questions find; None for models that they were not fitted with."""
        return self._unrelated.get((generation, space)) or self._unrelated.get((generation, None))


def read(path: Path) -> list[Entry]:
    """Return the entries of a file.

    Raises:
        InvalidInput: the file cannot be read, or is no calibration.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[Entry])
    except (OSError, msgspec.MsgspecError) as error:
        raise InvalidInput.at("$.calibration", f"{path}: {error}") from error


def write(path: Path, entry: Entry) -> None:
    """Add an entry to a file, in place of the one for the same model and space.

    Raises:
        InvalidInput: the file exists and is no calibration.
        OSError: the file cannot be written.
    """
    others = read(path) if path.exists() else []
    kept = [other for other in others if (other.generation, other.space) != (entry.generation, entry.space)]
    path.write_bytes(msgspec.json.format(msgspec.json.encode([*kept, entry])) + b"\n")
