"""Names by their capital letters in mid-sentence, where the tagger saw none; and words that begin no name."""

from collections.abc import Iterator, Sequence

from muisti.core.graph.entities.lists import CALENDAR
from muisti.core.graph.entities.spans import Span, likeliest
from muisti.core.kernels import Doubles

CERTAIN = 0.5  # of the rule's spans on the sets for tuning, 59 of 121 were exact
TITLED = 0.7  # a sentence with a larger share of capitals says nothing by them
LEAST = 0.4  # probability of a name that the tagger must leave

_SENTENCE_ENDS = frozenset('.!?:"“”…-–—*•|(')
_NEVER_TEXT = """
i i'm i'll i've i'd ok okay lol omg tv pm am dr mr mrs ms ps asap btw imo fyi faq diy ai id cv ceo cto hr pr qa
ui ux gps pc dvd cd dj ad bc vs rip usd eur wtf lmao haha mom mum dad mommy daddy mama papa god internet
"""
_NEVER = frozenset(_NEVER_TEXT.split())
_LEADS_TEXT = """
hey hi hello wow yep yes yeah yup no nope nah oh ah aw aww woah whoa thanks thank congrats congratulations cool
awesome nice great sure well so ok okay dear bye goodbye please sorry haha lol omg hmm btw rt ya yay hooray
welcome good morning happy sounds glad totally absolutely definitely exactly
"""
_LEADS = frozenset(_LEADS_TEXT.split())


def unread(words: Sequence[str], found: Sequence[Span], shares: Doubles, plain: bool) -> Iterator[Span]:
    """Yield runs of words with capitals in mid-sentence that are in no span.

    Sentences that are shouted or titled, headings and tables yield none.
    """
    letters = [word for word in words if word[:1].isalpha()]
    capitals = sum(word[0].isupper() for word in letters)
    if not plain or not letters or capitals > TITLED * len(letters) or (capitals > 1 and capitals == len(letters)):
        return
    taken = [False] * len(words)
    for span in found:
        taken[span.start : span.stop] = [True] * (span.stop - span.start)
    at = 0
    while at < len(words):
        stop = at
        while stop < len(words) and not taken[stop] and _capital(words, stop):
            stop += 1
        if stop > at and max(1 - shares[i, 0] for i in range(at, stop)) >= LEAST:
            yield Span(at, stop, likeliest(shares, at, stop), CERTAIN, "rule")
        at = max(stop, at + 1)


def _capital(words: Sequence[str], at: int) -> bool:
    word = words[at]
    return (
        at > 0
        and words[at - 1] not in _SENTENCE_ENDS
        and word[0].isupper()
        and len(word) > 1
        and word.lower() not in _NEVER
        and word.lower().rstrip(".") not in CALENDAR
    )


def trimmed(words: Sequence[str], start: int, stop: int) -> tuple[int, int]:
    """Return a span without the interjections that it begins with: "Hey", "Thanks", "Wow"."""
    while stop - start > 1 and words[start].lower() in _LEADS:
        start += 1
    while stop - start > 0 and words[stop - 1].lower() in ("'s", "’s"):
        stop -= 1
    if stop - start == 1 and words[start].lower() in _LEADS:
        return start, start
    return start, stop
