"""Sort the words that only one of two texts has: values, negations, opposites and other words."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Literal

import msgspec

from muisti.core.model.outcomes import Difference, DifferenceKind
from muisti.core.support.memo import Memo
from muisti.core.text.terms import tokenize
from muisti.core.write.conflicts.words import Word, WordKind

# Words that exclude each other: a list, and a rule for prefixes that negate

MEMO, LONG = 4_096, 64  # words whose opposites are remembered, and the most characters of one

_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "de")
_STEM_MIN = 3  # characters that a prefix must leave

# One line for each set of opposites. Two words on different sides of a slash exclude each other.
_LIST = """
on / off
up / down
open / closed close shut
enable / disable
allow permit / deny forbid prohibit disallow
accept approve / reject decline refuse
start begin / stop end finish
before / after
increase grow rise raise / decrease shrink fall reduce drop
true / false
yes / no
always / never
like love enjoy / hate dislike
hot warm / cold cool
big large huge / small little tiny
fast quick / slow
left / right
first / last
old / new young
public / private
succeed success pass / fail failure
win / lose
buy / sell
early / late
more / less fewer
most / least
high / low
maximum max / minimum min
best / worst
better / worse
good great / bad poor terrible
empty / full
required mandatory / optional
safe / dangerous unsafe
cheap / expensive
inside indoors / outside outdoors
add / remove delete
include / exclude
online / offline
internal / external
alive / dead
single / married
married / divorced
top / bottom
upper / lower
push / pull
dark / light bright
heavy / light
long / short
tall / short
strong / weak
rich / poor
easy simple / hard difficult
clean / dirty
wet / dry
synchronous sync / asynchronous async
manual / automatic
ascending / descending
active / inactive
present / absent
vegetarian vegan / meat carnivore
morning / evening
weekday weekdays / weekend weekends
summer / winter
day / night
works working / broken
near close / far
silent quiet / talking speaking loud
"""


def _listed() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for line in _LIST.strip().splitlines():
        one, other = ([" ".join(tokenize(word)) for word in side.split()] for side in line.split(" / "))
        for a in one:
            for b in other:
                found.setdefault(a, set()).add(b)
                found.setdefault(b, set()).add(a)
    return found


_OPPOSITES = _listed()


def opposites(key: str) -> frozenset[str]:
    """Return the keys of the words that a word excludes. The word is given by its key.

    >>> "cold" in opposites("hot"), "unsafe" in opposites("safe"), "safe" in opposites("unsafe"), "a" in opposites("b")
    (True, True, True, False)
    """
    return _remembered(key)


def _opposites_of(key: str) -> frozenset[str]:
    negated = {prefix + key for prefix in _PREFIXES} if len(key) >= _STEM_MIN else set[str]()
    bare = {key.removeprefix(prefix) for prefix in _PREFIXES if key.startswith(prefix)}
    return frozenset(_OPPOSITES.get(key, set[str]()) | negated | {word for word in bare if len(word) >= _STEM_MIN})


_remembered = Memo(_opposites_of, MEMO, LONG).__getitem__


_Found = tuple[DifferenceKind, Word | None, Word | None]  # the words of the existing and of the new text


class Parted(msgspec.Struct, frozen=True):
    """Differences of two texts, their words in pairs (existing, new), and the plain words left on each side."""

    differences: tuple[Difference, ...]
    pairs: tuple[tuple[Word | None, Word | None], ...]
    rest_existing: tuple[Word, ...]
    rest_new: tuple[Word, ...]


def part(existing: Sequence[Word], new: Sequence[Word]) -> Parted:
    """Sort the words that only one side has. Numbers, dates and names are paired in their order."""
    found = [*_paired("number", existing, new), *_paired("date", existing, new), *_negations(existing, new)]
    left_existing, left_new = _of(existing, "plain", "name"), _of(new, "plain", "name")
    for _, ours, theirs in (opposites := list(_opposites(left_existing, left_new))):
        left_existing.remove(ours)
        left_new.remove(theirs)
    found += opposites
    if _of(left_existing, "name") and _of(left_new, "name"):
        found += _paired("name", left_existing, left_new)
        left_existing, left_new = _of(left_existing, "plain"), _of(left_new, "plain")
    return Parted(
        differences=tuple(
            Difference(kind, None if ours is None else ours.text, None if theirs is None else theirs.text)
            for kind, ours, theirs in found
        ),
        pairs=tuple((ours, theirs) for _, ours, theirs in found),
        rest_existing=tuple(left_existing),
        rest_new=tuple(left_new),
    )


def _paired(kind: Literal["number", "date", "name"], existing: Sequence[Word], new: Sequence[Word]) -> list[_Found]:
    return [(kind, ours, theirs) for ours, theirs in zip_longest(_of(existing, kind), _of(new, kind))]


def _negations(existing: Sequence[Word], new: Sequence[Word]) -> list[_Found]:
    """Return at most one pair of negations, however many a text has."""
    ours, theirs = _of(existing, "negation"), _of(new, "negation")
    return [("negation", next(iter(ours), None), next(iter(theirs), None))] if ours or theirs else []


def _of(words: Iterable[Word], *kinds: WordKind) -> list[Word]:
    return [word for word in words if word.kind in kinds]


def _opposites(existing: Sequence[Word], new: Sequence[Word]) -> Iterator[tuple[DifferenceKind, Word, Word]]:
    left = list(new)
    keys = {word.key for word in new}
    for ours in existing:
        excluded = opposites(ours.key)
        if not keys.isdisjoint(excluded):
            theirs = next((word for word in left if word.key in excluded), None)
            if theirs is not None:
                left.remove(theirs)
                yield "opposite", ours, theirs
