"""Words before a period that change it: "before", "since", "the first half of".

There are up to three parts, in this order:

the week       before      the first half of    June 2023
               since                            last winter
away           word        part                 the period
"""

import re
from datetime import datetime
from typing import NamedTuple, cast

from muisti.core.support.regex import regex
from muisti.core.text.when.patterns import NUMBER, NUMBERS, SHORT_UNITS, UNIT, WEEKDAY, WEEKDAYS
from muisti.core.text.when.periods import DAY, Period, Unit, containing, nearest_weekday, shifted

OPEN_BEFORE = frozenset({"before", "prior to"})
OPEN_UNTIL = frozenset({"until", "till", "by", "up to", "through"})
CONNECTORS = frozenset({"and", "or", "to", "until", "till", "through", "-"})
_ORDINALS = {
    name: place
    for place, names in enumerate(("first 1st", "second 2nd", "third 3rd", "fourth 4th"))
    for name in names.split()
}
_EDGES = {
    "early": (0.0, 1 / 3),
    "beginning of": (0.0, 1 / 3),
    "start of": (0.0, 1 / 3),
    "mid": (1 / 3, 2 / 3),
    "early to mid": (0.0, 2 / 3),
    "mid to late": (1 / 3, 1.0),
    "middle of": (1 / 3, 2 / 3),
    "late": (2 / 3, 1.0),
    "end of": (2 / 3, 1.0),
    "first half of": (0.0, 0.5),
    "second half of": (0.5, 1.0),
}
_EDGES_OF = "|".join(edge for edge in _EDGES if " " in edge).replace(" to ", r"[\s-]+to[\s-]+").replace(" ", r"\s+")
_BEFORE = rf"""(?:(?<!\w)|(?=[-–—]))
    (?:(?P<article>the\s+|last\s+)?(?:(?P<count>{NUMBER})\s+)?(?:(?P<unit>{UNIT}|night|morning|evening)s?|(?P<weekday>{WEEKDAY}))
        \s+(?=(?:before|after|of)\b))?
    (?:(?P<word>prior\s+to|up\s+to|as\s+of|back\s+in|before|after|since|until|till|by|through(?:out)?|in|on|during|over
        |at|from|between|for|around|about|within|of|and|or|to)\s+|\s*(?P<dash>[-–—])\s*)?
    (?:the\s+)?
    (?:(?P<edge>{_EDGES_OF}|early|mid|late)[\s-]+(?:the\s+)?
      |(?P<ordinal>{"|".join(_ORDINALS)}|last)\s+(?:(?:(?P<many>{NUMBER})\s+)?(?P<piece>{UNIT})s?|(?P<pieceday>{WEEKDAY}))
        \s+(?:of|in)\s+(?:the\s+)?)?
    $"""
_REACH = 45  # characters before a period that are read


class Lead(NamedTuple):
    """The words before a period. `start` is where they begin, and `word` is the preposition, "" if there is none."""

    start: int
    word: str
    parts: re.Match[str]

    @property
    def names_part(self) -> bool:
        return self.parts["edge"] is not None or self.parts["ordinal"] is not None


_LEAD = regex(_BEFORE, re.IGNORECASE | re.VERBOSE)


def lead_of(text: str, start: int) -> Lead:
    """Return the words before the period that starts at `start`."""
    found = cast(re.Match[str], _LEAD.search(text, max(0, start - _REACH), start))  # matches at least the empty end
    word = "-" if found["dash"] else " ".join((found["word"] or "").lower().split())
    return Lead(found.start() if found[0].strip() else start, word, found)


def part_of(lead: Lead, period: Period) -> Period:
    """Return the part of a period that the words name: "late", "the second week of"."""
    parts = lead.parts
    if parts["edge"]:
        return period.fraction(*_EDGES[" ".join(parts["edge"].lower().replace("-", " ").split())])
    if not parts["ordinal"]:
        return period
    ordinal = parts["ordinal"].lower()
    if parts["pieceday"]:
        return _weekday_of(period, WEEKDAYS.index(parts["pieceday"].lower()), ordinal)
    unit, many = cast(Unit, parts["piece"].lower()), number(parts["many"] or "a")[1]
    if ordinal == "last":
        return Period(max(period.start, shifted(period.stop, unit, -many)), period.stop)
    start = shifted(period.start, unit, many * _ORDINALS[ordinal])
    return Period(start, min(period.stop, shifted(start, unit, many)))


def moved(lead: Lead, period: Period) -> tuple[datetime | None, datetime | None]:
    """Return the start and stop of the time that the words and the period name together. None means open."""
    if lead.parts["unit"] or lead.parts["weekday"]:
        return _away(lead, period)
    if lead.word in OPEN_BEFORE:
        return None, period.start
    if lead.word in OPEN_UNTIL:
        return None, period.stop
    if lead.word == "since":
        return period.start, None
    if lead.word == "after":
        return period.stop, None
    return period


def _away(lead: Lead, period: Period) -> Period:
    """Return the time some days, weeks or weekdays before or after a period, or within it."""
    if lead.parts["weekday"]:
        return _nearby_weekday(lead.word, period, WEEKDAYS.index(lead.parts["weekday"].lower()))
    unit = unit_named(lead.parts["unit"])
    if lead.word == "of" and (lead.parts["count"] or (lead.parts["article"] or "").strip().lower() == "last"):
        return _last_of(period, unit, lead.parts)
    if lead.word == "of":
        return containing(unit, period.start) if unit in ("week", "weekend") else period
    if unit == "weekend":
        saturday = _nearby_weekday(lead.word, period, 5).start
        return Period(saturday, saturday + 2 * DAY)
    sign = 1 if lead.word == "after" else -1
    count = number(lead.parts["count"] or "a")[1] * sign
    side = period.stop if sign > 0 else period.start
    if abs(count) == 1 or lead.parts["article"]:
        return Period(*sorted((side, shifted(side, unit, count))))
    moment = shifted(period.start, unit, count)
    half = (shifted(moment, unit, 1) - moment) // DAY // 2 * DAY
    return Period(moment - half, moment + half + DAY)


def _last_of(period: Period, unit: Unit, parts: re.Match[str]) -> Period:
    """Return the last units of a period: "last 3 days of".

    Raises:
        ValueError: the words say another number of them.
    """
    if (parts["article"] or "").strip().lower() != "last":
        raise ValueError("some of a period")
    return Period(max(period.start, shifted(period.stop, unit, -number(parts["count"] or "a")[1])), period.stop)


def unit_named(word: str) -> Unit:
    """Return the unit of a word, singular, plural or short. Nights and mornings are days, fortnights weeks."""
    word = word.lower().removesuffix("s")
    day = {"night": "day", "morning": "day", "evening": "day", "afternoon": "day", "fortnight": "week"}
    return cast(Unit, day.get(word) or SHORT_UNITS.get(word, word))


def number(words: str) -> tuple[int, int]:
    """Return the smallest and the largest number that the words may mean.

    >>> number("12"), number("a couple of"), number("few"), number("twenty-one")
    ((12, 12), (2, 2), (2, 5), (21, 21))
    """
    if words.isdecimal():
        return int(words), int(words)
    words = " ".join(words.lower().split())
    return (
        NUMBERS[words] if words in NUMBERS else next(NUMBERS[each] for each in words.split()[::-1] if each in NUMBERS)
    )


def _nearby_weekday(word: str, period: Period, weekday: int) -> Period:
    if word == "before":
        return nearest_weekday(weekday, period.start - DAY, "latest")
    return nearest_weekday(weekday, (period.stop if word == "after" else period.start) - DAY, "next")


def _weekday_of(period: Period, weekday: int, ordinal: str) -> Period:
    if ordinal == "last":
        return nearest_weekday(weekday, period.stop - DAY, "latest")
    first = nearest_weekday(weekday, period.start - DAY, "next")
    return Period(*(at + 7 * _ORDINALS[ordinal] * DAY for at in first))
