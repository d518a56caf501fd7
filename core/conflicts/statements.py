"""Compare what is left of two texts without speakers, negations and words that only fill a pause."""

from collections.abc import Sequence

from muisti.core.conflicts.attribution import label
from muisti.core.conflicts.words import Word

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

    >>> from muisti.core.conflicts.words import read
    >>> pairs = (("The cache is on.", "The cache isn't on."), ("Grad C: So.", "Grad C: No."))
    >>> [same_statement(read(one), read(other)) for one, other in pairs]
    [True, False]
    """
    ours, theirs = _said(existing), _said(new)
    common = _content(ours) & _content(theirs)
    if len(common) >= ENOUGH:
        return True
    one, other = _frame(ours), _frame(theirs)
    return bool(common) and (one == other or (len(common) >= SOME and one - _content(ours) == other - _content(theirs)))


def _said(words: Sequence[Word]) -> Sequence[Word]:
    return words[len(label(words)) :]


def _content(words: Sequence[Word]) -> set[str]:
    return {word.key for word in words if word.kind not in ("function", "negation")} - _PAUSES


def _frame(words: Sequence[Word]) -> set[str]:
    return {word.key for word in words if word.kind != "negation"} - _AUXILIARIES - _PAUSES - {":"}
