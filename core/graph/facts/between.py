"""Facts, and those between two names: a small model judges the words between and around the names.

It is a logistic regression on hashed features.
The kinds of the two names say which relation it may be. The weights are those of `weights/MODEL.md`.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from math import exp, log, sqrt
from pathlib import Path
from typing import NamedTuple, Protocol
from zlib import crc32

import numpy as np
import numpy.typing as npt

from muisti.core.graph.facts.lexicon import Word, listed
from muisti.core.model.choices import RelationKind
from muisti.core.support.memo import memoised

AUTHOR = -1  # as a subject or an object: who wrote the text
ADDRESSEE = -2  # the other side of a dialogue of two


class Named(Protocol):
    """A mention of an entity in a text, in characters. A kind is a word such as `person` or `place`.

    `confidence` is between 0 and 1.
    """

    @property
    def start(self) -> int: ...
    @property
    def stop(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def confidence(self) -> float: ...


class Fact(NamedTuple):
    """A relation that a text states.

    `subject` and `object` are indexes of mentions, `AUTHOR` or `ADDRESSEE`. A fact has an object or a literal: the
    start and stop of words in the text. `polarity` is False when the text denies the relation, as "no longer" does.
    `start` and `stop` enclose the words that state the fact. All places are in characters.
    """

    subject: int
    kind: RelationKind
    object: int | None
    literal: tuple[int, int] | None
    polarity: bool
    confidence: float
    start: int
    stop: int


def association(both: int, one: int, other: int, texts: int) -> float:
    """Return the normalised pointwise mutual information of two entities, from 0 to 1, damped when they are rare.

    `both` counts the texts that mention both, `one` and `other` those that mention each, `texts` all. 0 means that they
    meet no more often than by chance, 1 that they always meet. Two entities that meet once say little, so the value is
    multiplied by both / (both + 1).

    >>> association(10, 10, 10, 1000) > association(1, 1, 1, 1000) > association(1, 50, 50, 1000)
    True
    >>> association(0, 3, 4, 1000)
    0.0

    Raises:
        ValueError: the counts contradict each other.
    """
    if not 0 <= both <= min(one, other) <= max(one, other) <= texts:
        raise ValueError(f"{both} of {one} and {other} among {texts} texts is impossible")
    if both == 0 or both == texts:
        return 0.0
    information = log(both * texts / (one * other)) / -log(both / texts)
    return max(0.0, information) * both / (both + 1)


WEIGHTS = Path(__file__).with_name("weights") / "relations.npz"
BUCKETS = 1 << 17
KINDS: dict[tuple[str, str], RelationKind] = {
    ("person", "organisation"): "works_at",
    ("person", "place"): "lives_in",
    ("place", "place"): "located_in",
    ("organisation", "place"): "based_in",
    ("person", "person"): "killed",
}
"""The relation that a name of one kind may have to a name of another."""

_REACH = 40  # words between two names of a pair
_NEAR = 8  # names after a name that pairs are made with
_SIDE = 3  # words of each side
_NUMBER = {kind: number for number, kind in enumerate(KINDS.values())}
_STEMS = tuple(listed("kill assas shot murder live born native slay slain"))


class Span(NamedTuple):
    """A name in a sentence: the number of its mention, its kind, its first word and the place after its last."""

    number: int
    kind: str
    first: int
    last: int


class Pair(NamedTuple):
    """Two names that a relation may tie, and the buckets of their features."""

    subject: int
    kind: RelationKind
    object: int
    features: list[int]


class Judge:
    """The trained weights. `sure` has for each kind the confidence that a relation needs by default."""

    def __init__(self, weights: npt.NDArray[np.int8], scale: float, sure: Mapping[RelationKind, float]) -> None:
        self._weights: list[int] = weights.tolist()
        self._scale, self.sure = scale, sure

    def probability(self, features: Sequence[int]) -> float:
        """Return how probable it is that the relation of a pair is stated."""
        weights = self._weights
        logit = self._scale * sum([weights[one] for one in features])
        return 1 / (1 + exp(-max(-30.0, min(30.0, logit))))


def confidence(probability: float, ends: Sequence[Named]) -> float:
    """Return how sure a relation is, whose probability counts for names that are certain."""
    return probability * sqrt(ends[0].confidence * ends[1].confidence)


@cache
def shipped() -> Judge:
    """Return the weights that ship with Muisti."""
    with np.load(WEIGHTS) as held:
        sure = dict(zip(KINDS.values(), held["sure"].tolist(), strict=True))
        return Judge(held["weights"], float(held["scale"]), sure)


def pairs(sentence: Sequence[Word], spans: Sequence[Span]) -> Iterator[Pair]:
    """Yield the pairs of names near each other that a relation may tie, in both orders. `spans` are in order."""
    lines = "\n" + "\n".join(word.text for word in sentence)
    stems = [_code(stem) for stem in _STEMS if "\n" + stem in lines]
    codes = [_code(word.text) for word in sentence]
    for place, left in enumerate(spans):
        for skipped, right in enumerate(spans[place + 1 : place + 1 + _NEAR]):
            if right.first - left.last > _REACH:
                break
            for subject, other, forward in ((left, right, True), (right, left, False)):
                kind = KINDS.get((subject.kind, other.kind))
                if kind is not None:
                    salt = 2 * _NUMBER[kind] + forward
                    yield Pair(subject.number, kind, other.number, _features(codes, left, right, salt, skipped, stems))


def _features(
    codes: Sequence[int], left: Span, right: Span, salt: int, skipped: int, stems: Sequence[int]
) -> list[int]:
    between = codes[left.last : right.first]
    found = {_bucket(0, salt, 0), _bucket(1, salt, min(len(between), 12)), _bucket(2, salt >> 1, skipped)}
    found |= {_bucket(3, salt >> 1, code) for code in between}
    found |= {_bucket(4, salt, code) for code in between}
    edges = [1, *between, 2]
    found |= {_bucket(5, salt, one * 31 + two) for one, two in zip(edges, edges[1:], strict=False)}
    if len(between) <= 4:
        whole = 7
        for code in between:
            whole = (whole * 1_000_003 + code) & 0xFFFFFFFF
        found.add(_bucket(6, salt, whole))
    found |= {_bucket(7, salt, code) for code in codes[max(0, left.first - _SIDE) : left.first]}
    found |= {_bucket(8, salt, code) for code in codes[right.last : right.last + _SIDE]}
    found |= {_bucket(9, salt >> 1, code) for code in stems}
    return list(found)


def _bucket(family: int, salt: int, code: int) -> int:
    mixed = (code * 2_654_435_761 + family * 40_503 + salt * 2_246_822_519) & 0xFFFFFFFF
    mixed = ((mixed ^ (mixed >> 15)) * 2_246_822_519) & 0xFFFFFFFF
    return (mixed ^ (mixed >> 13)) & (BUCKETS - 1)


@memoised(1 << 16)
def _code(word: str) -> int:
    return crc32(word.encode())
