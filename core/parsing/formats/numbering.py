"""Labels of list items and headings, counted as word processors count them."""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

_PLACE = re.compile(r"%(\d{1,2})")
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
MOST = 1_000_000  # a number above it is shown as it is


@dataclass(frozen=True, slots=True)
class Level:
    """A level of a list: its first number, the format of numbers, and the pattern that shows them.

    `%2` in a pattern is the number of the second level.
    """

    start: int
    form: str
    pattern: str


class Counts:
    """Numbers of the items of lists, each list under a key."""

    def __init__(self) -> None:
        self._counts: defaultdict[str, dict[int, int]] = defaultdict(dict)

    def label(self, key: str, levels: Mapping[int, Level], depth: int, number: int | None = None) -> str:
        """Count an item, and return its label: a number, "-" for a bullet, empty where the list shows none.

        `number` is that of the item where the file states it.
        """
        level = levels.get(depth)
        if level is None:
            return "-"
        counts = self._counts[key]
        counts[depth] = counts.get(depth, level.start - 1) + 1 if number is None else number
        for deeper in [one for one in counts if one > depth]:
            del counts[deeper]
        if level.form == "bullet":
            return "-"
        if level.form == "none":
            return ""
        return _PLACE.sub(lambda place: _shown(levels, counts, int(place[1]) - 1), level.pattern).strip()


def _shown(levels: Mapping[int, Level], counts: dict[int, int], depth: int) -> str:
    level = levels.get(depth)
    return "" if level is None else shown(counts.setdefault(depth, level.start), level.form)


def shown(number: int, form: str) -> str:
    """Return a number in a format of Word.

    >>> shown(4, "upperRoman"), shown(28, "lowerLetter"), shown(3, "decimal")
    ('IV', 'bb', '3')
    """
    if not 0 < number < MOST:
        return str(number)
    if form.endswith("Letter"):
        text = chr(ord("a") + (number - 1) % 26) * min((number - 1) // 26 + 1, 10)
    elif form.endswith("Roman"):
        text = _roman(number)
    else:
        return f"{number:02}" if form == "decimalZero" else str(number)
    return text.upper() if form.startswith("upper") else text


def _roman(number: int) -> str:
    if number > 5000:
        return str(number)
    out = ""
    for value, letters in _ROMAN:
        out += letters * (number // value)
        number %= value
    return out
