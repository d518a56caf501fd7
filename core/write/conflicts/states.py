"""Decide whether a value is what a sentence states of its subject: `runs on port 5433`, `is Berlin`, `timeout = 30`.

A state has one such value at a time, so another value contradicts it. An event may happen again with another value
(`order 1234 was shipped`, `meeting with Bob`). Names of things that one may have many of (`uses Redis`) exclude
nothing.
"""

from collections.abc import Sequence

from muisti.core.model.outcomes import DifferenceKind
from muisti.core.text.terms import tokenize
from muisti.core.write.conflicts.words import Word

NAME_WITHIN = 2  # words between the verb and a name

_BE = frozenset({"is", "are", "am", "isn't", "aren't", "be"})
_DETERMINERS = frozenset({"the", "a", "an", "our", "my", "your", "their", "his", "her", "its", "each", "every", "this"})
_SIGNS = frozenset({":", "="})
# Verbs that take one number or one date, in the present tense.
_ONE_VALUE = """
have has live lives run runs running cost costs work works working prefer prefers expire expires need needs take takes
weigh weighs equal equals listen listens listening use uses using starts ends opens closes deploy deploys happens
contain contains hold holds allow allows require requires support supports own owns lasts serve serves renews want
wants meet meets
"""
# Verbs that take one name.
_TAKING_NAMES = "live lives living reside resides work works prefer prefers located called named"
# Verbs that have an opposite, and state something themselves.
_OPPOSED = """
like likes love loves enjoy enjoys hate hates dislike dislikes allow allows permit permits deny denies forbid forbids
prohibit prohibits disallow disallows accept accepts reject rejects enable enables disable disables include includes
exclude excludes
"""
TAKING_VALUES, _NAME_VERBS, OPPOSED_VERBS = (
    frozenset(words.split()) for words in (_ONE_VALUE, _TAKING_NAMES, _OPPOSED)
)
RELATIVE = frozenset({"today", "tomorrow", "yesterday", "tonight"})  # days that are others by tomorrow
IDENTIFIED = frozenset(tokenize("order ticket issue pr bug case invoice build task commit release version episode"))


def is_stated(words: Sequence[Word], value: Word, kind: DifferenceKind) -> bool:
    """Return whether the sentence states the value, whose kind of difference is `kind`.

    >>> from muisti.core.write.conflicts.words import read
    >>> texts = map(read, ("Staging runs on port 5433", "We shipped order 1234", "Ann met 3 friends"))
    >>> [is_stated(words, next(w for w in words if w.kind == "number"), "number") for words in texts]
    [True, False, False]
    """
    before = words[: value.place]
    if value.key in RELATIVE:
        return False
    if kind == "opposite" and value.text.lower() in OPPOSED_VERBS:
        return bool(before)
    if not before or before[-1].key == "#" or (kind == "number" and before[-1].key in IDENTIFIED):
        return False
    verbs = _NAME_VERBS if kind == "name" else frozenset[str]() if kind == "opposite" else TAKING_VALUES
    verb = next((place for place in reversed(range(len(before))) if _is_verb(words, place, verbs, value)), None)
    if verb is None:
        return False
    between = sum(word.kind != "function" for word in before[verb + 1 :])
    return between <= {"opposite": 0, "name": NAME_WITHIN}.get(kind, between)


def _is_verb(words: Sequence[Word], place: int, verbs: frozenset[str], value: Word) -> bool:
    low = words[place].text.lower()
    if place and words[place - 1].text.lower() in _DETERMINERS:  # `the deploy` is a noun
        return False
    if low in _BE:  # `is shipping` and `is shipped` are events; `is closed` is a state because it has an opposite
        following = words[place + 1].text.lower()
        return not following.endswith("ing") and (words[place + 1] is value or not following.endswith("ed"))
    return low in _SIGNS or low in verbs
