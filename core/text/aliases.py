"""Find other names that texts state: "pg is short for Postgres", "k8s means Kubernetes", "JavaScript (JS)".

English only. A text in brackets, or one that "means" another, counts only when one is an abbreviation of the other.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from muisti.core.support.memo import Memo
from muisti.core.support.regex import regex
from muisti.core.text.terms import fold

READ = 300  # characters of a text that are read
MEMO = 10_000  # texts whose names are remembered
LONGEST = 1_000  # characters of such a text
SHORTEST = 2  # characters of a name
WORDS = 4  # of a name, at most
DEFINITION = 80  # characters of a text that says nothing but that two names are the same
_NAME = r"[\w+#](?:[\w+#.&-]*[\w+#])?"
_BETWEEN = regex(
    r" (?P<stated>(?:is|was) (?:short|an? (?:abbreviation|acronym|alias)|another (?:name|word)|our (?:name|word)) "
    r"(?:for|of)|stands for|aka|a\.k\.a\.|is also (?:called|known as)) | (?:means|=) | \(",
    re.IGNORECASE,
)
_BRACKET = regex(r" \(")  # what _BETWEEN finds where a text has none of the marks
_MARKS = (
    *(" = ", " means ", "short for", "short of", "abbreviation ", "acronym ", "alias ", "another name"),
    *("another word", "our name", "our word", "stands for", " aka ", " a.k.a. ", "also called", "also known as"),
)
_LEFT = regex(rf"{_NAME}(?: {_NAME}){{0,{WORDS - 1}}}$")
_RIGHT = regex(rf"(?:the )?({_NAME}(?: {_NAME}){{0,{WORDS - 1}}})\s*(?:[.,;:!)]|$)")
_WORDS = regex(_NAME)
_MEANING = regex(r"\b(?:means?|meaning|stands? for|short for|abbreviation|acronym|alias|called)\b", re.IGNORECASE)


def stated(text: str) -> Iterator[tuple[str, str]]:
    """Yield the pairs of names that a text says to be the same.

    >>> [*stated("Here pg is short for Postgres, and we write JavaScript (JS). Silence means consent.")]
    [('pg', 'Postgres'), ('JavaScript', 'JS')]
    """
    text = text[:READ]
    # Most texts have no mark: the whole pattern takes ten times as long
    pattern = _BETWEEN if any(map(text.lower().__contains__, _MARKS)) else _BRACKET
    for found in pattern.finditer(text):
        right = _RIGHT.match(text, found.end())
        if right is None:
            continue
        before = text[max(0, found.start() - 80) : found.start()].rsplit(" ", WORDS)[-WORDS:]
        left = _LEFT.search(" ".join(before))
        if left is None:
            continue
        words, other = left[0].split(" "), right[1]
        if pattern is _BETWEEN and found["stated"]:
            yield words[-1], other
            continue
        names = [" ".join(words[-number:]) for number in range(1, len(words) + 1)]
        same = [one for one in names if _abbreviates(one, other) or _abbreviates(other, one)]
        yield from ((one, other) for one in same[-1:])


def others(query: str, texts: Iterable[str]) -> list[str]:
    """Return the other names of what a query names, by these texts, without those that it has already.

    >>> others("Is billing on pg?", ["pg is short for Postgres", "Postgres means PostgreSQL"])
    ['Postgres']
    """
    words, found = "", dict[str, None]()
    for text in texts:
        for names in _NAMES[text]:
            words = words or _words(query)
            for (one, whole), (other, theirs) in (names, names[::-1]):
                if len(one) >= SHORTEST and whole in words and theirs not in words:
                    found[other] = None
    return [*found]


def defining(query: str, texts: Sequence[str]) -> list[bool]:
    """Return a flag for each text that only says that two names of a query are the same.

    None is flagged where the query asks what a name means, or no other text has one of the names.

    >>> defining("Is billing on pg? Postgres", ["pg is short for Postgres.", "Billing uses Postgres."])
    [True, False]
    >>> defining("What is pg short for? Postgres", ["pg is short for Postgres.", "Billing uses Postgres."])
    [False, False]
    """
    asked, found = _words(query), [False] * len(texts)
    if _MEANING.search(query):
        return found
    names = set[str]()
    for place, text in enumerate(texts):
        if len(text) <= DEFINITION and "(" not in text:
            pairs = [pair for pair in _NAMES[text] if all(whole in asked for _, whole in pair)]
            found[place] = bool(pairs)
            names.update(whole for pair in pairs for _, whole in pair)
    if not names:
        return found
    rest = [_words(text) for text, defines in zip(texts, found, strict=True) if not defines]
    return found if any(name in text for text in rest for name in names) else [False] * len(texts)


def _words(text: str) -> str:
    return f" {' '.join(_WORDS.findall(fold(text)))} "


def _abbreviates(short: str, long: str) -> bool:
    """Return whether the letters of one name occur in this order in a longer one, from its first."""
    letters, rest = [one for one in fold(short) if one.isalpha()], iter(fold(long))
    if len(short) < SHORTEST or len(short) > len(long) // 2 + 1 or not letters or fold(long)[:1] != letters[0]:
        return False
    return all(letter in rest for letter in letters)


def _marked(text: str) -> tuple[tuple[tuple[str, str], ...], ...]:
    """Return the pairs that a text states, each name with how `_words` has it."""
    return tuple(tuple((one, f" {fold(one)} ") for one in pair) for pair in stated(text))


_NAMES = Memo(_marked, MEMO, LONGEST)
