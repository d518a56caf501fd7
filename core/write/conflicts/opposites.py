"""Words that exclude each other: a list, and a rule for prefixes that negate."""

from muisti.core.support.memo import Memo
from muisti.core.text.terms import tokenize

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


def _opposites(key: str) -> frozenset[str]:
    negated = {prefix + key for prefix in _PREFIXES} if len(key) >= _STEM_MIN else set[str]()
    bare = {key.removeprefix(prefix) for prefix in _PREFIXES if key.startswith(prefix)}
    return frozenset(_OPPOSITES.get(key, set[str]()) | negated | {word for word in bare if len(word) >= _STEM_MIN})


_remembered = Memo(_opposites, MEMO, LONG).__getitem__
