"""Words that exclude each other: a list, and a rule for prefixes that negate."""

from core.conflicts.words import Word
from core.text import tokenize

_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "de")
_STEM_MIN = 3  # characters that a prefix must leave

# One line for each set of opposites; any two words on two sides of a slash exclude each other.
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
day / night
"""


def _pairs() -> frozenset[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for line in _LIST.strip().splitlines():
        one, other = ([" ".join(tokenize(word)) for word in side.split()] for side in line.split(" / "))
        found |= {pair for a in one for b in other for pair in ((a, b), (b, a))}
    return frozenset(found)


_OPPOSITES = _pairs()


def opposed(one: Word, other: Word) -> bool:
    """Whether two words exclude each other.

    >>> from core.conflicts.words import read
    >>> opposed(*read("enabled disabled")), opposed(*read("supported unsupported")), opposed(*read("cat dog"))
    (True, True, False)
    """
    return (one.key, other.key) in _OPPOSITES or _negates(one.key, other.key) or _negates(other.key, one.key)


def _negates(key: str, other: str) -> bool:
    return len(key) >= _STEM_MIN and other.endswith(key) and other.removesuffix(key) in _PREFIXES
