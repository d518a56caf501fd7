"""Stretches of a text as words, and spans of them that are names: by tags, by capitals, or known to the space."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence, Set
from typing import NamedTuple

from msgspec import Struct

from muisti.core.graph.entities.features import CALENDAR
from muisti.core.graph.entities.name_keys import folded
from muisti.core.graph.model import Mention
from muisti.core.kernels import Doubles, Longs
from muisti.core.model.choices import EntityKind, MentionSource
from muisti.core.support.regex import regex
from muisti.core.text.sentences import pieces

LONGEST = 400  # words of a stretch; a longer one is cut

_SUFFIXES = r"(?:s|re|ve|ll|d|m|t)\b"
_WORD = regex(
    rf"""https?://[^\s<>"]+|www\.[^\s<>"]+|[@#]\w+
    |(?:[A-Za-z]\.){{2,}}(?:[A-Z][a-z]+)?
    |(?:Mr|Mrs|Ms|Dr|Prof|Sen|Rep|Gov|Gen|Col|Sgt|St|Jr|Sr|Inc|Corp|Co|Ltd|No)\.
    |['’]{_SUFFIXES}
    |\w+(?:(?:[-&]|['’.](?!{_SUFFIXES}(?!\w))|(?<=[A-Z0-9]):(?=[A-Z0-9]))\w+)*
    |[^\w\s]""",
    re.VERBOSE,
)
_ABBREVIATED = regex(r"(?<!\w)(?:Mr|Mrs|Ms|Dr|Prof|Sen|Rep|Gov|Gen|Col|Sgt|St|No|vs|[A-Z])\.$")
_NUMBER = regex(r"\d{1,3}\.")
_MARKER = regex(r"(?:[-*+•>]|#{1,6}|\d{1,3}[.)])\s+")


class Stretch(Struct, frozen=True):
    """A sentence, a line or a cell of a table. `words` has the start and stop of each word in the text.

    `plain` is False in headings and tables, where capital letters say little.
    """

    words: list[tuple[int, int]]
    plain: bool


def stretches(text: str) -> Iterator[Stretch]:
    """Yield the sentences of a text with their words; without code blocks, and without the marks of lists.

    >>> text = "Ann's here.\\n- Bob left U.S. soil."
    >>> [[text[a:b] for a, b in one.words] for one in stretches(text)]
    [['Ann', "'s", 'here', '.'], ['Bob', 'left', 'U.S.', 'soil', '.']]
    """
    for start, stop in _joined(text):
        marker = _MARKER.match(text, start, stop)
        table = text[start] == "|" or text.count("|", start, stop) > 1
        heading = marker is not None and text[start] == "#"
        yield from _cut(text, marker.end() if marker else start, stop, plain=not (table or heading), cells=table)


def _joined(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and stop of sentences and lines that are no code; an abbreviation ends no sentence."""
    start, stop = 0, 0
    for piece in pieces(text):
        if piece.code:
            continue
        if stop > start and "\n" not in text[stop : piece.start] and _goes_on(text, start, stop):
            stop = piece.stop
            continue
        if stop > start:
            yield start, stop
        start, stop = piece.start, piece.stop
    if stop > start:
        yield start, stop


def _goes_on(text: str, start: int, stop: int) -> bool:
    """Return whether a sentence that ends here is none: its full stop is of an abbreviation, or of a list's number."""
    number = _NUMBER.fullmatch(text, start, stop)
    return number is not None or _ABBREVIATED.search(text, max(start, stop - 8), stop) is not None


def _cut(text: str, start: int, stop: int, *, plain: bool, cells: bool) -> Iterator[Stretch]:
    own: list[tuple[int, int]] = []
    for match in _WORD.finditer(text, start, stop):
        border = cells and match.group() == "|"
        if own and (border or len(own) == LONGEST):
            yield Stretch(own, plain)
            own = []
        if not border:
            own.append(match.span())
    if own:
        yield Stretch(own, plain)


KINDS: tuple[EntityKind, ...] = ("person", "organisation", "place", "other")
"""The kinds of PER, ORG, LOC and MISC."""


class Span(NamedTuple):
    """Words `[start, stop)` of a stretch; `share` is a probability that is not calibrated, or a rule's precision."""

    start: int
    stop: int
    kind: EntityKind
    share: float
    source: MentionSource


def spans(path: Longs, shares: Doubles) -> Iterator[Span]:
    """Yield the spans of a path of tags. Their share is the least of their words' probability to be in a name."""
    tags, at = path.tolist(), 0
    while at < len(tags):
        if tags[at] == 0:
            at += 1
            continue
        stop = at + 1
        while stop < len(tags) and tags[stop] == tags[at] + 1:
            stop += 1
        yield Span(at, stop, KINDS[(tags[at] - 1) // 2], _share(path, shares, at, stop), "recogniser")
        at = stop


def _share(path: Longs, shares: Doubles, start: int, stop: int) -> float:
    """Return how certain it is that these words, and no more, are a name of whatever kind."""
    begins = float(shares[start, 1::2].sum())
    inside = min((float(shares[at, 2::2].sum()) for at in range(start + 1, stop)), default=1.0)
    ends = 1.0 - float(shares[stop, 2::2].sum()) if stop < len(shares) else 1.0
    return min(begins, inside, ends)


def likeliest(shares: Doubles, start: int, stop: int) -> EntityKind:
    """Return the likeliest kind of words that are a name."""
    return KINDS[int((shares[start:stop, 1::2] + shares[start:stop, 2::2]).sum(0).argmax())]


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


SPEAKER, KNOWN = 0.98, 0.85  # set by hand
KNOWN_WORDS = 5  # words of a known name
ROLES = frozenset({"user", "assistant", "system", "human", "ai", "bot", "tool", "agent", "model"})


class Names:
    """Names of speakers, and keys of entities."""

    def __init__(self, speakers: Collection[str], known: Collection[str]) -> None:
        full = {tuple(speaker.casefold().split()) for speaker in speakers if speaker.casefold() not in ROLES}
        self._speakers = {name for name in full if name} | {(word,) for name in full for word in name if len(word) > 1}
        self._longest = max(map(len, self._speakers), default=0)
        self._known = known

    def speakers(self, text: str, words: Sequence[tuple[int, int]]) -> Iterator[Mention]:
        """Yield where the words name a speaker, by the full name or by a word of it."""
        if not self._speakers:
            return
        folded = [text[start:stop].casefold() for start, stop in words]
        at = 0
        while at < len(words):
            size = next(
                (
                    size
                    for size in range(min(self._longest, len(words) - at), 0, -1)
                    if text[words[at][0]].isupper() and tuple(folded[at : at + size]) in self._speakers
                ),
                0,
            )
            if size:
                yield Mention(words[at][0], words[at + size - 1][1], "person", SPEAKER, "speaker")
            at += size or 1

    def known(
        self, words: Sequence[str], found: Sequence[Span], kind: Callable[[int, int], EntityKind]
    ) -> Iterator[Span]:
        """Yield where words with a capital are the key of an entity and in no span; `kind` tells that of words."""
        if not self._known:
            return
        taken = {at for span in found for at in range(span.start, span.stop)}
        at = 0
        while at < len(words):
            stop = self._end(words, at, taken)
            if stop > at:
                yield Span(at, stop, kind(at, stop), KNOWN, "known")
            at = max(stop, at + 1)

    def _end(self, words: Sequence[str], start: int, taken: Set[int]) -> int:
        """Return where the longest known name that begins at `start` ends; `start` when none begins."""
        if not words[start][:1].isupper():
            return start
        for stop in range(min(len(words), start + KNOWN_WORDS), start, -1):
            if taken.isdisjoint(range(start, stop)) and folded(" ".join(words[start:stop])) in self._known:
                return stop
        return start
