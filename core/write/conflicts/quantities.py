"""Values of one or several words: their class, and whether two are equal: `0.5 s` and `500 ms`, `3 PM` and `15:00`."""

import re
from collections.abc import Sequence
from typing import Literal

from muisti.core.write.conflicts.words import Word

ValueClass = Literal["number", "date", "name"]

_BASES = {
    "time": "ms:0.001 s:1 sec:1 secs:1 second:1 min:60 mins:60 minute:60 h:3600 hr:3600 hrs:3600 hour:3600 day:86400 "
    "week:604800 year:31536000 millisecond:0.001",
    "data": "b:1 byte:1 kb:1e3 mb:1e6 gb:1e9 tb:1e12",
    "mass": "mg:0.001 g:1 gram:1 kg:1000 kilo:1000 kilogram:1000 ton:1e6 tonne:1e6",
    "length": "mm:0.001 cm:0.01 metre:1 meter:1 km:1000 kilometre:1000 kilometer:1000",
}
_UNITS = {
    name: (base, float(size))
    for base, units in _BASES.items()
    for name, size in (unit.split(":") for unit in units.split())
}
_TIMES = {"once": "1", "twice": "2", "thrice": "3"}
_COUNTED = re.compile(r"(\d[\d.]*)([a-z]+)")
_CLOCK = re.compile(r"(\d{1,2})(?::(\d\d))?(?::00)?([ap]m)?")
_HALF_DAY = 12


def class_of(run: Sequence[Word]) -> ValueClass | None:
    """Return the class of a value, or None where words that are no value are among it."""
    if any(word.kind == "date" for word in run):
        return "date" if all(word.kind in ("date", "number") for word in run) else None
    if all(is_unit(word) or _is_number(word) or _counted(word) for word in run):
        return "number"
    return "name" if all(word.kind == "name" for word in run) else None


def is_unit(word: Word) -> bool:
    """Return whether a word is a unit of measure, in the singular or the plural."""
    return _unit(word) in _UNITS or word.text.lower() in ("%", "percent", "times")


def equal(one: Sequence[Word], other: Sequence[Word]) -> bool:
    """Return whether two values are the same in other words.

    >>> from muisti.core.write.conflicts.words import read
    >>> pairs = (("0.5 s", "500 ms"), ("3 PM", "15:00"), ("5 MB", "5MB"), ("5 MB", "10 MB"))
    >>> [equal(read(one), read(other)) for one, other in pairs]
    [True, True, True, False]
    """
    return _canonical(one) == _canonical(other)


def _canonical(run: Sequence[Word]) -> tuple[object, ...]:
    """Return a form that equal values share."""
    count: float | None = None
    found: list[object] = []
    for word in run:
        counted = _counted(word)
        number = _number(_TIMES.get(word.text.lower(), word.key)) if _is_number(word) else None
        if counted is not None:
            found.append(_measured(*counted))
        elif number is not None:
            if count is not None:
                found.append(count)
            count = number
        elif _unit(word) in _UNITS:
            found.append(_measured(1.0 if count is None else count, _unit(word)))
            count = None
        else:
            found.append(_clock(word.key) if word.kind == "date" else word.key)
    return (*found, *(() if count is None else (count,)))


def _is_number(word: Word) -> bool:
    return word.kind == "number" or word.text.lower() in _TIMES


def _measured(count: float, unit: str) -> tuple[str, float]:
    base, size = _UNITS[unit]
    return base, round(count * size, 6)


def _counted(word: Word) -> tuple[float, str] | None:
    """Return number and unit of a word like `5MB`, or None."""
    found = _COUNTED.fullmatch(word.key) if word.kind == "name" else None
    number = _number(found[1]) if found and found[2] in _UNITS else None
    return None if found is None or number is None else (number, found[2])


def _number(key: str) -> float | None:
    """Return the number, or None for several points, as a version has."""
    bare = key.rstrip(".")
    return float(bare) if bare.count(".") <= 1 else None


def _unit(word: Word) -> str:
    low = word.text.lower()
    return low if low in _UNITS else low.removesuffix("s")


def _clock(key: str) -> object:
    """Return minutes after midnight for a time of day, and the key itself for another date."""
    found = _CLOCK.fullmatch(key)
    if found is None or not (found[2] or found[3]):
        return key
    hour = int(found[1])
    if found[3]:
        hour = hour % _HALF_DAY + (_HALF_DAY if found[3] == "pm" else 0)
    return hour * 60 + int(found[2] or 0)
