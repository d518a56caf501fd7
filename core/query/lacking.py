"""Find what a short statement lacks of a question: its most telling word, and a name.

"Who leads the payments team?" is near to "Priya leads the platform team" but not answered by it: `payments` is missing.
"How many salmon were tagged?" lacks `salmon` in a statement about eels. A word that asks rather than names, such as
`many` or `use`, tells little. One with a similar word in the statement is hardly missing. A static model knows both:
the weight of a word, and the cosine of two.

Only questions in English are read, and only where a statement is to answer as a whole.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple, Protocol

from muisti.core.kernels import Doubles, Floats
from muisti.core.support.memo import memoised
from muisti.core.support.regex import regex
from muisti.core.text.language import ENGLISH, empty_words
from muisti.core.text.terms import fold, tokenize

LONGEST = 300  # characters of a question
READ = 600  # characters of a statement
TEXTS = 256  # that are remembered
SAME = 0.8  # cosine of two spellings of a name
LIGHT = 0.5  # weight of a word that need not be there
EXCLUDES = 1.0  # weight, at least, of a word in whose place the statement has another of its kind

# Words of one line are of a kind: what is said of one holds for no other.
_KINDS = """
monday tuesday wednesday thursday friday saturday sunday
january february march april june july august september october november december
spring summer autumn fall winter
north south east west
northern southern eastern western
morning afternoon evening night
first second third fourth fifth sixth seventh eighth ninth tenth
staging production development
left right
upper lower
front back
inner outer
mother father
brother sister
son daughter
husband wife
breakfast lunch dinner
"""
_KIND = {word: number for number, line in enumerate(_KINDS.split("\n")) for word in line.split()}

_QUESTION = regex(
    r"(?:who|whom|whose|what|which|where|when|why|how|is|are|was|were|do|does|did|has|have|had|can|could|will|would|"
    r"should|may|must)\b",
    re.IGNORECASE,
)
_WORD = regex(r"[^\W_][\w+#]*")
_OWNER = regex(r"['’]s\b")
_PRONOUN = regex(r"\b(?:he|she|they|his|her|their|him|them)\b", re.IGNORECASE)
_ASKING = empty_words(ENGLISH) | {"user", "users"}  # the user is seldom named in what is stored about them


class Words(Protocol):
    """Interface of a model that knows single words."""

    def words(self, words: tuple[str, ...]) -> tuple[Floats, Floats]:
        """Return the unit vector and the weight of each word."""
        ...

    def weights(self, words: Iterable[str]) -> Doubles:
        """Return the weight of each word."""
        ...


class Lacking(NamedTuple):
    """The weight of the most telling word that a statement lacks, above `LIGHT`, and that of a name; 0 for none.

    A word weighs less, the nearer one of the statement is to it. A word of a kind counts as a name where the statement
    has another of that kind: "the third floor" is not the second. `instead` says that the statement has another name.
    """

    word: float = 0.0
    name: float = 0.0
    instead: bool = False


NOTHING = Lacking()


def is_question(text: str) -> bool:
    """Return whether a text is a question in English.

    >>> is_question("Who leads the team?"), is_question("Wer leitet das Team?"), is_question("Draft a letter")
    (True, False, False)
    """
    return len(text) <= LONGEST and _QUESTION.match(text) is not None


def lacking(question: str, statement: str, model: Words) -> Lacking:
    """Return what a statement lacks of a question.

    A name has a capital letter or a digit. It does not count where the statement has a pronoun in its place, and in a
    question all of whose words have one.
    """
    asked = _asked(question)
    stated = _stated(statement[:READ])
    missing = [word for word, terms in asked if stated.terms.isdisjoint(terms)]
    if not missing:
        return NOTHING
    own, weights = model.words(tuple(map(fold, missing)))
    nearest: Floats = (own @ model.words(stated.words)[0].T).max(axis=1, initial=0.0)
    each = [*zip(missing, weights.tolist(), nearest.tolist(), strict=True)]
    word = max(0.0, max(weight * (1 - near) for _, weight, near in each) - LIGHT)
    other = max((max(weight, EXCLUDES) for one, weight, _ in each if _kind(one) in stated.kinds), default=0.0)
    if stated.has_pronoun or all(_is_name(one) for one, _ in asked):
        return Lacking(word, other, other > 0)
    names = (weight for one, weight, near in each if _is_name(one) and near < SAME)
    return Lacking(word, other or max(names, default=0.0), other > 0 or stated.has_name)


class _Stated(NamedTuple):
    terms: frozenset[str]
    words: tuple[str, ...]
    kinds: frozenset[int]
    has_pronoun: bool
    has_name: bool


@memoised(TEXTS)
def _asked(question: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the words of a question that are no function words, each with its terms."""
    words = [word for word in _WORD.findall(_OWNER.sub("", question)) if fold(word) not in _ASKING]
    return tuple((word, tuple(tokenize(word))) for word in words)


@memoised(TEXTS)
def _stated(statement: str) -> _Stated:
    text = _OWNER.sub("", statement)
    written = _WORD.findall(text)
    words = tuple(map(fold, written))
    kinds = frozenset(kind for kind in map(_kind, words) if kind is not None)
    named = any(map(_is_name, written[1:]))
    return _Stated(frozenset(tokenize(text)), words, kinds, _PRONOUN.search(text) is not None, named)


def _kind(word: str) -> int | None:
    word = fold(word)
    return _KIND.get(word, _KIND.get(word.removesuffix("s")))


def _is_name(word: str) -> bool:
    return word[0].isupper() or any(map(str.isdigit, word))
