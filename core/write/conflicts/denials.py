"""Decide whether one text denies what another says."""

import re
from collections.abc import Sequence

from muisti.core.support.regex import regex
from muisti.core.text.terms import tokenize
from muisti.core.write.conflicts.alignment import order
from muisti.core.write.conflicts.changes import LONGEST
from muisti.core.write.conflicts.stance import label
from muisti.core.write.conflicts.words import Word

ENOUGH = 3  # common words of content with which two texts are about one thing, however they are put
SOME = 2  # common words of content with which they are, if the other words are function words that agree

_PAUSES_WORDS = """
yeah yes yep ok okay oh well hmm mm uh um ah right so hopefully exactly mean know true sure
"""
_PAUSES = frozenset(_PAUSES_WORDS.split())
# Words that come and go with a negation.
_AUXILIARIES_WORDS = """
a an the any some do does did is are am was were be been has have had can could will would should there
"""
_AUXILIARIES = frozenset(_AUXILIARIES_WORDS.split())


def same_statement(existing: Sequence[Word], new: Sequence[Word]) -> bool:
    """Return whether one text may negate the other: both say the same of the same thing, but for the negation.

    >>> from muisti.core.write.conflicts.words import read
    >>> pairs = (("The cache is on.", "The cache isn't on."), ("Grad C: So.", "Grad C: No."))
    >>> [same_statement(read(one), read(other)) for one, other in pairs]
    [True, False]
    """
    ours, theirs = _said(existing), _said(new)
    if bool(_by(ours)) != bool(_by(theirs)):  # in a passive, who does it comes last
        return False
    common = _content(ours) & _content(theirs)
    if len(common) >= ENOUGH:
        return True
    one, other = _frame(ours), _frame(theirs)
    return bool(common) and (one == other or (len(common) >= SOME and one - _content(ours) == other - _content(theirs)))


DENIED_MIN = 2  # words of content of a text that denies another

_ENDING = frozenset({"stopped", "stop", "quit", "gave", "left"})  # verbs that deny what holds no more
_DENYING = regex(r"\b(?:no\w*|never|neither|without|cannot|stop|stopped|quit|gave|left)\b|n['’]?t\b", re.IGNORECASE)
_BEING = frozenset({"is", "are", "isn't", "aren't", "being"})
_NOBODY = ("nobody ", "no one ", "there is no one ", "there is nobody ")  # with these one word of content is enough
# What is wider than a word, or the same: whoever says that no child sings denies that a boy does.
_WIDER_LINES = """
boy: child kid
girl: child kid
kid: child
child: kid
lady: woman
woman: lady
guy: man
man: guy
talk: speak
speak: talk
slice: cut
chop: cut
dice: cut
whisk: beat
jog: run
"""
_WIDER = {
    tokenize(word)[0]: tuple(tokenize(wider))
    for word, _, wider in (line.partition(":") for line in _WIDER_LINES.strip().splitlines())
}
_LIMITING = frozenset({"only", "except", "without", "if", "unless", "until", "but"})
_PARTIES = frozenset({"i", "we", "you", "he", "she", "they", "my", "our", "your", "his", "her", "their"})
_PASSED = (
    frozenset(tokenize("someone somebody something anything person people always must need currently up"))
    | _PAUSES
    | _AUXILIARIES
)


def denies(existing: Sequence[Word], new: Sequence[Word]) -> bool:
    """Return whether one text denies the other: it negates what the other says, perhaps in more words.

    >>> from muisti.core.write.conflicts.words import read
    >>> pairs = (("I drink coffee every day.", "I no longer drink coffee."), ("Ann eats meat.", "Ann eats no pork."))
    >>> pairs += (("A cook is slicing the leek.", "The leek isn't being sliced by a cook."),)
    >>> [denies(read(one), read(other)) for one, other in pairs]
    [True, False, True]
    """
    one, other = denial(existing), denial(new)
    denied = other if one is None else one
    if denied is None or (one is not None and other is not None):
        return False
    denying, claiming = (existing, new) if other is None else (new, existing)
    if len(claiming) > LONGEST or _parties(denying) - _parties(claiming) or not _LIMITING.isdisjoint(_lows(claiming)):
        return False
    kept = [key for said in _keys(claiming) for key in (said, *_WIDER.get(said, ())) if key in denied]
    if set(kept) != set(denied):
        return False
    return len(kept) != len(denied) or _one_order(claiming, kept, denying, denied)


def _one_order(claiming: Sequence[Word], kept: Sequence[str], denying: Sequence[Word], denied: Sequence[str]) -> bool:
    """Return whether two texts have their words in one order, but for adverbs, or one is the other's passive.

    Then the words after "by" come first where the text without it has them: `Ann peels it`, `it is peeled by Ann`.
    """
    ours, theirs = _by(claiming), _by(denying)
    if bool(ours) != bool(theirs):
        agent, active = (ours, denied) if ours else (theirs, kept)
        return set(active[: len(agent)]) == agent
    adverbs = {word.key for word in (*claiming, *denying) if word.text.lower().endswith("ly")}
    return order([key for key in denied if key not in adverbs], [key for key in kept if key not in adverbs]) == 1.0


def _by(words: Sequence[Word]) -> set[str]:
    """Return the keys of who does it in a passive: of the last words, behind "by"; none without a form of "be"."""
    lows = _lows(words)
    if "by" not in lows or _BEING.isdisjoint(lows):
        return set()
    return {*_keys(words)} & {word.key for word in words[lows.index("by") + 1 :]}


def denial(words: Sequence[Word]) -> Sequence[str] | None:
    """Return the keys of what a text says does not hold, or no longer; None for a text that denies nothing."""
    if len(words) > LONGEST or negates(words) == _ends(words):
        return None
    denied = _keys(words)
    least = 1 if " ".join(_lows(words)).startswith(_NOBODY) else DENIED_MIN
    return denied if len(set(denied)) >= least else None


def denier(words: Sequence[Word]) -> str | None:
    """Return the first word by which a text denies something, or None."""
    return next((word.text for word in words if word.kind == "negation" or word.text.lower() in _ENDING), None)


def may_deny(text: str) -> bool:
    """Return whether a word of a text may deny something, in a quick test."""
    return _DENYING.search(text) is not None


def _ends(words: Sequence[Word]) -> bool:
    """Return whether a text says that something has been ended by its subject."""
    lows = _lows(words)
    return any(low in _ENDING and lows[place - 1] not in _AUXILIARIES for place, low in enumerate(lows) if place)


def _lows(words: Sequence[Word]) -> Sequence[str]:
    return [word.text.lower() for word in words]


def _parties(words: Sequence[Word]) -> set[str]:
    return set(_lows(words)) & _PARTIES


def _keys(words: Sequence[Word]) -> Sequence[str]:
    left = [word for word in _said(words) if word.kind not in ("function", "negation")]
    return [
        word.key
        for word in left
        if word.key not in _PASSED
        and word.text.lower() not in _ENDING
        and not (word.key == "more" and words[word.place - 1].key == "any")
    ]


def _said(words: Sequence[Word]) -> Sequence[Word]:
    return words[len(label(words)) :]


def _content(words: Sequence[Word]) -> set[str]:
    return {word.key for word in words if word.kind not in ("function", "negation")} - _PAUSES


def _frame(words: Sequence[Word]) -> set[str]:
    return {word.key for word in words if word.kind != "negation"} - _AUXILIARIES - _PAUSES - {":"}


def negates(words: Sequence[Word]) -> bool:
    """Return whether a text has a negation."""
    return any(word.kind == "negation" for word in words)
