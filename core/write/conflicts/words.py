"""Split a text into words, each of a kind (function word, negation, value or plain), and compare their quantities."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Literal

import msgspec

from muisti.core.support.memo import Memo, memoised
from muisti.core.support.regex import regex
from muisti.core.text.forms import plain
from muisti.core.text.language import QUESTION_WORDS
from muisti.core.text.terms import tokenize

MEMO = 32_768  # words
LONG = 64  # characters; longer words are not cached

WordKind = Literal["plain", "function", "negation", "number", "date", "name"]

# fmt: off
_FUNCTION = QUESTION_WORDS - {"not"} | frozenset({
    "also", "any", "because", "else", "even", "every", "here", "into", "itself", "just", "like", "onto", "one", "other",
    "own", "quite", "really", "same", "since", "so", "some", "such", "than", "then", "though", "through", "too",
    "until", "upon", "very", "via", "while", "who", "whether", "yet", "him", "himself", "herself", "themselves",
    "now", "nowadays", "currently", "instead", "anymore",
}) - {"like", "other", "same", "until", "through", "than", "since"}
_NEGATIONS = frozenset({
    "no", "not", "never", "none", "nobody", "nothing", "neither", "nor", "nowhere", "without", "cannot", "cant",
    "dont", "doesnt", "didnt", "isnt", "arent", "wasnt", "werent", "wont", "havent", "hasnt", "hadnt", "aint",
})
_NUMBERS = {
    word: str(value) for value, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
         "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty")
    ) if word != "one"
} | {"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70",
     "eighty": "80", "ninety": "90", "hundred": "100", "thousand": "1000"}
_ORDINALS = {
    word: f"{value}." for value, word in enumerate(
        ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"), 1
    )
}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
           "november", "december")
_CAPITAL_DATES = frozenset({"march", "may", "mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri", "sat", "sun",
                            "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"})
_DATES = frozenset({
    *_WEEKDAYS, *(f"{day}s" for day in _WEEKDAYS), *_MONTHS, "today", "tomorrow", "yesterday", "tonight", "noon",
    "midnight", "hourly", "daily", "weekly", "biweekly", "monthly", "quarterly", "yearly", "annually",
}) - _CAPITAL_DATES
# fmt: on
_LONG_DAY = {day[:length]: day for day in (*_WEEKDAYS, *_MONTHS) for length in (3, 4, 5)}

_WORD = regex(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?Z?)?|\d{1,2}:\d\d(?::\d\d)?(?:\s?[ap]m\b)?|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}"
    r"|\d[\d,]*(?:\.\d+)*(?:\s?[ap]\.?m\b|st\b|nd\b|rd\b|th\b)?|\w+(?:[-./:'’@_]\w+)*|[:=#]",
    re.IGNORECASE,
)
_DATE_FORM = regex(r"\d{4}-\d\d-\d\d.*|\d{1,2}:\d\d.*|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}|\d{1,2}\s?[ap]\.?m|(?:19|20)\d\d")
_ORDINAL = regex(r"(\d+)(?:st|nd|rd|th)")
_SENTENCE_END = regex(r"[.!?;…\n]")
_QUOTED = regex(r"[\"“„«`]([^\"“”„«»`\n]{1,60})[\"”“»`]")
_INNER = regex(r"[-_./:@]")
_HUMP = regex(r"[a-z][A-Z]")


class Word(msgspec.Struct, frozen=True, gc=False):
    """A word as written, the `key` under which it equals another, and its place among the words of its text.

    The signs `:`, `=` and `#` are function words, because they say something about the word that follows.
    """

    text: str
    key: str
    kind: WordKind
    place: int


class _Spans:
    """Stretches of a text that do not overlap, in order."""

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        self._starts = [start for start, _ in spans]
        self._stops = [stop for _, stop in spans]

    def hold(self, at: int) -> bool:
        """Return whether a place is within one of them."""
        before = bisect_right(self._starts, at)
        return before > 0 and at < self._stops[before - 1]


@memoised(32)  # a new text is compared with several
def read(text: str) -> tuple[Word, ...]:
    """Return the words of a text, in their order.

    >>> [(word.text, word.kind) for word in read("Ann isn't on port 5433 in May")]
    [('Ann', 'plain'), ("isn't", 'negation'), ('on', 'function'), ('port', 'plain'), ('5433', 'number'), \
('in', 'function'), ('May', 'date')]
    """
    text = plain(text)
    spans = [match.span(1) for match in _QUOTED.finditer(text)]
    quoted = _Spans(spans) if spans else None
    pieces: list[tuple[str, int]] = []
    for match in _WORD.finditer(text):
        run = match[0]
        if "-" in run:
            pieces += _split(run, match.start())
        else:
            pieces.append((run, match.start()))
    analysed = [_analysed(word) for word, _ in pieces]
    telling = _capitals_tell([capital for _, _, capital in analysed])
    words: list[Word] = []
    stop = 0
    for (word, at), (kind, key, _) in zip(pieces, analysed, strict=True):
        if kind == "plain" and (
            (telling and word[0].isupper() and not _is_initial(text, words, stop, at))
            or (quoted is not None and quoted.hold(at))
        ):
            kind = "name"
        elif key == "longer" and words and words[-1].key == "not":  # "no longer" says "not" of today
            kind = "function"
        words.append(Word(word, key, kind, len(words)))
        stop = at + len(word)
    return tuple(words)


def _is_initial(text: str, words: Sequence[Word], stop: int, at: int) -> bool:
    """Return whether the word at a place begins a sentence. `words` are the words before it; they end at `stop`."""
    return not words or words[-1].key == ":" or _SENTENCE_END.search(text, stop, at) is not None


def _split(run: str, at: int) -> list[tuple[str, int]]:
    """Split a run of letters: `well-known` is two words, `QX-991` is one."""
    if not any(char.isdigit() for char in run):
        parts: list[tuple[str, int]] = []
        for part in run.split("-"):
            parts.append((part, at))
            at += len(part) + 1
        return [part for part in parts if part[0]]
    return [(run, at)]


def _capitals_tell(capitals: Sequence[bool | None]) -> bool:
    """Return whether a capital marks a name. In a headline, where most words have one, it does not."""
    return capitals.count(True) <= max((len(capitals) - capitals.count(None)) // 2, 2)


def _worked_out(text: str) -> tuple[WordKind, str, bool | None]:
    """Return the kind and key of a word, and whether it begins with a capital, or None where a capital says nothing."""
    telling = text[0].isalpha() and text.lower() not in _FUNCTION
    return *_kind_and_key(text), text[0].isupper() if telling else None


def _kind_and_key(text: str) -> tuple[WordKind, str]:
    low = text.lower().replace("’", "'")
    if low.endswith("n't") or low.replace("'", "") in _NEGATIONS:
        return "negation", "not"
    low = low.removesuffix("'s")
    if low in _DATES or (low in _CAPITAL_DATES and text[0].isupper()):
        return "date", _LONG_DAY.get(low, low.removesuffix("s") if low.removesuffix("s") in _WEEKDAYS else low)
    if low in _FUNCTION or low in ":=#":
        return "function", low
    if low in _NUMBERS or low in _ORDINALS:
        return "number", _NUMBERS.get(low) or _ORDINALS[low]
    if low[0].isdigit():
        return _of_digits(low)
    terms = tokenize(low)
    if _is_identifier(text):
        return "name", low
    return "plain", " ".join(terms) if terms else low


def _of_digits(low: str) -> tuple[WordKind, str]:
    if _DATE_FORM.fullmatch(low):
        return "date", low.replace(" ", "").replace(".m", "m")
    ordinal = _ORDINAL.fullmatch(low)
    if ordinal:
        return "number", f"{ordinal[1]}."
    plain = low.replace(",", "")
    if plain.replace(".", "", 1).isdigit():
        return "number", plain.rstrip("0").rstrip(".") if "." in plain else plain
    return "name", low


def _is_identifier(text: str) -> bool:
    return any(char.isdigit() for char in text) or "_" in text or bool(_INNER.search(text)) or bool(_HUMP.search(text))


_analysed = Memo(_worked_out, MEMO, LONG).__getitem__


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
_COUNTED = regex(r"(\d[\d.]*)([a-z]+)")
_CLOCK = regex(r"(\d{1,2})(?::(\d\d))?(?::00)?([ap]m)?")
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
