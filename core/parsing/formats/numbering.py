"""Numbers of list items and headings of DOCX, as Word shows them: "2.", "b)", "1.2.3"."""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from muisti.core.parsing.formats.package import Element, Package, attribute

_PLACE = re.compile(r"%([1-9])")
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
MOST = 1_000_000  # a number above it is shown as it is


@dataclass(frozen=True, slots=True)
class Level:
    """A level of a list: its first number, the format of numbers, and the pattern that shows them."""

    start: int
    form: str
    pattern: str


class Numbering:
    """The lists of a document, counted on from paragraph to paragraph."""

    def __init__(self, levels: Mapping[str, Mapping[int, Level]], lists: Mapping[str, str]) -> None:
        self._levels, self._lists = levels, lists
        self._counts: defaultdict[str, dict[int, int]] = defaultdict(dict)

    def label(self, number: str, depth: int) -> str:
        """Count an item, and return its label: a number, "-" for a bullet, empty where the list shows none."""
        abstract = self._lists.get(number, "")
        levels = self._levels.get(abstract, {})
        level = levels.get(depth)
        if level is None:
            return "-"
        counts = self._counts[abstract]
        counts[depth] = counts.get(depth, level.start - 1) + 1
        for deeper in [one for one in counts if one > depth]:
            del counts[deeper]
        if level.form == "bullet":
            return "-"
        if level.form == "none":
            return ""
        return _PLACE.sub(lambda place: self._shown(levels, counts, int(place[1]) - 1), level.pattern).strip()

    def _shown(self, levels: Mapping[int, Level], counts: dict[int, int], depth: int) -> str:
        level = levels.get(depth)
        if level is None:
            return ""
        return shown(counts.setdefault(depth, level.start), level.form)


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


def numbering_of(package: Package, main: str) -> Numbering:
    """Return the lists that a document declares."""
    levels: dict[str, dict[int, Level]] = {}
    lists: dict[str, str] = {}
    for part in package.related(main, "numbering"):
        for element in package.children(part, "w-numbering"):
            if element.tag == "w-abstractNum":
                levels[attribute(element, "abstractNumId") or ""] = dict(map(_level, element.findall("w-lvl")))
            elif element.tag == "w-num":
                lists[attribute(element, "numId") or ""] = _value(element, "w-abstractNumId", "")
    return Numbering(levels, lists)


def _level(element: Element) -> tuple[int, Level]:
    start = _value(element, "w-start", "1")
    depth = attribute(element, "ilvl") or "0"
    level = Level(
        int(start) if start.isdecimal() else 1, _value(element, "w-numFmt", "decimal"), _value(element, "w-lvlText", "")
    )
    return int(depth) if depth.isdecimal() else 0, level


def _value(element: Element, path: str, default: str) -> str:
    found = element.find(path)
    return default if found is None else attribute(found, "val") or default
