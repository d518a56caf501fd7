"""The kind of answer that a question asks for: in conversations, turns that have such an answer come before others.

"When did Ann call?" is answered by a turn with a time, "Where does Bob work?" by one with a place. Such a turn is found
by its words. English only. Questions for a person or a reason gain nothing from such words (docs/why/quality.md).
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Literal

import numpy as np

from muisti.core.index.collection_statistics import CollectionStatistics
from muisti.core.index.lexical import having
from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.kernels import Codes, Doubles
from muisti.core.support.regex import regex
from muisti.core.text.terms import encode_terms, tokenize
from muisti.core.text.when.patterns import MONTHS, UNITS, WEEKDAYS
from muisti.core.text.when.periods import SEASONS

Kind = Literal["time", "place"]

GAIN = 0.3  # of the score of a turn that has such an answer
LONGEST = 1_000  # characters that are read; a longer text is no question

_AUXILIARY = (
    r"(?:['’]?s|['’]re|is|are|was|were|do|does|did|will|would|has|have|had|can|could|should|shall|might|may|must)\b"
)
_ASKED: Mapping[Kind, re.Pattern[str]] = {
    "time": regex(
        rf"\bwhen\s*{_AUXILIARY}|\b(?:what|which) (?:day|date|week|month|year|time)\b|\bhow long ago\b|\bsince when\b",
        re.IGNORECASE,
    ),
    "place": regex(
        rf"\bwhere\s*{_AUXILIARY}|\b(?:what|which) (?:city|country|place|town|state|location)\b", re.IGNORECASE
    ),
}
_NO_TIMES = {"may", "march", "second", "fall"}  # more often another word
_TIMES = (
    "yesterday today tonight tomorrow ago weekend morning evening night afternoon recently soon last next now later "
    "until noon midnight christmas thanksgiving birthday holiday early late once after before"
)
_PLACES = (
    "airport apartment area arena balcony bar bathroom beach bed bedroom bookstore building cafe camp car church city "
    "clinic club coast coffee college couch country court desert door downstairs farm floor forest garden gym hallway "
    "here home hospital hotel house inside island kitchen lab lake library mall market mountain museum neighborhood "
    "office outside park place pool region restaurant river room school shop stadium state station store street studio "
    "table theater theatre there town trail upstairs village window work"
)
_WORDS: Mapping[Kind, tuple[str, ...]] = {
    "time": (
        *(word for word in (*UNITS, *WEEKDAYS, *MONTHS, *SEASONS) if word not in _NO_TIMES),
        *_TIMES.split(),
        *map(str, range(1980, 2040)),
    ),
    "place": tuple(_PLACES.split()),
}


def kind_of(question: str) -> Kind | None:
    """Return the kind of answer that a question asks for; None for no kind that is known by words.

    >>> [kind_of(text) for text in ("When did Ann call?", "Where's Bob?", "What does Ann do when it is late?")]
    ['time', 'place', None]
    """
    if len(question) > LONGEST:
        return None
    return next((kind for kind, pattern in _ASKED.items() if pattern.search(question)), None)


def gains(snapshot: Snapshot, population: CollectionStatistics, question: str, rows: RowNumbers) -> Doubles | None:
    """Return the factor of each of `rows`, ascending: more than 1 for those with an answer of the kind asked for.

    None where no kind is asked for, or most visible rows are no turns of a dialogue.
    """
    kind = kind_of(question) if population.talks(snapshot.rows) else None
    if kind is None or not len(rows):
        return None
    return np.where(having(snapshot, _codes(kind), rows), 1.0 + GAIN, 1.0)


@cache
def _codes(kind: Kind) -> Codes:
    return encode_terms(list(dict.fromkeys(term for word in _WORDS[kind] for term in tokenize(word))), 0)
