"""Decide whether two texts may exclude each other: neither asks or is code, both speak of one time, equally surely.

`The limit is 5 MB` is not excluded by a question, a plan, a memory of the past, an addition ("as well") or a quotation.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from muisti.core.support.regex import regex
from muisti.core.write.conflicts.words import Word

# Read who says what a text states: `Ana says the key rotates daily`, `According to Ben, ...`, `Grad C: Yeah.`

LABEL_MAX = 3  # words of a name before a colon

_NAME = r"[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)?"
_VERBS = "says|said|claims|claimed|thinks|reports|reported|confirmed|mentioned|told me|told us"
_ATTRIBUTED = regex(rf"\s*(?:According to ({_NAME}),?|({_NAME}) (?:{_VERBS})(?: that)?[,:]?)\s+(?=\S)")


class Attributed(NamedTuple):
    """A text without the words that attribute it, and the name it is attributed to; None for nobody."""

    speaker: str | None
    text: str


def attributed(text: str) -> Attributed:
    """Return what a text states, and who says so.

    >>> attributed("Ana says the deploy key rotates daily.")
    Attributed(speaker='ana', text='the deploy key rotates daily.')
    """
    found = _ATTRIBUTED.match(text)
    return Attributed(None, text) if found is None else Attributed((found[1] or found[2]).lower(), text[found.end() :])


def label(words: Sequence[Word]) -> Sequence[Word]:
    """Return the capitalised words before a colon at the beginning, such as the speaker in minutes of a meeting.

    >>> from muisti.core.write.conflicts.words import read
    >>> [[word.text for word in label(read(text))] for text in ("Grad C: Yeah.", "Request timeout: 30 s")]
    [['Grad', 'C'], []]
    """
    for word in words[: LABEL_MAX + 1]:
        if word.key == ":":
            return words[: word.place]
        if not word.text[0].isupper():
            break
    return ()


_MARKS = {
    "plan": """
        plan plans planned planning want wants wanted hope hopes hoping consider considers considering intend intends
        propose proposes proposed suggest suggests suggested wish wishes might may could would should maybe perhaps
        possibly probably if unless
        """,
    "future": "will won't shall soon later eventually next",
    "past": "was were wasn't weren't had hadn't did didn't formerly previously ago",
    "more": "also too both another additionally besides",
}
_STANCES = {word: stance for stance, words in _MARKS.items() for word in words.split()}
_PAIRS = {("used", "to"): "past", ("going", "to"): "future", ("as", "well"): "more", ("in", "addition"): "more"}
_SECOND = {second for _, second in _PAIRS}
_QUOTED = regex(r"[\"“„«]([^\"“”„«»\n]*)[\"”“»]")
_QUOTED_MIN = 3  # words in quotation marks from which they are a statement of somebody, not a name
_CODE = regex(
    r"""\s*(?:```|\#include\s*[<"]|(?:async\s+)?def\s+\w+\s*\(|class\s+\w+\s*[:({]
    |(?:export\s+)?(?:default\s+)?(?:async\s+)?function\b[^\n(]{0,80}\(|func\s+[^\n(]{0,80}\(|(?:pub\s+)?fn\s+\w+\s*[(<]
    |(?:export\s+)?(?:const|let|var)\s+\w+\s*=|(?:public|private|protected|static)\s[^\n({]{0,80}[({]
    |(?:if|for|while|switch)\s*\([^\n]{0,200}\{|return\b[^\n]{0,200};\s*$
    |\[?(?:ERROR|WARN|WARNING|INFO|DEBUG|FATAL|TRACE)\b[:\] ]|export\s+\w+=
    |[a-z]\w?\s*=[^=]|SELECT\s[^\n]{1,200}\sFROM\s)""",
    re.VERBOSE,
)
_ENDS = " \t\r\n\"'”’»)*_"


def comparable(existing: str, new: str, ours: Sequence[Word], theirs: Sequence[Word]) -> bool:
    """Return whether two texts may exclude each other. `ours` and `theirs` are their words.

    >>> from muisti.core.write.conflicts.words import read
    >>> texts = ("The limit is 5 MB.", "The limit is 9 MB.", "Is the limit 9 MB?", "The limit might be 9 MB.")
    >>> [comparable(texts[0], text, read(texts[0]), read(text)) for text in texts[1:]]
    [True, False, False]
    """
    return (
        one_label(ours, theirs)
        and not _is_code(existing)
        and not _is_code(new)
        and not asks(existing)
        and not asks(new)
        and stances(ours) == stances(theirs)
        and statements_quoted(existing) == statements_quoted(new)
    )


def _is_code(text: str) -> bool:
    """Return whether a text begins with source code, which claims nothing.

    >>> [_is_code(text) for text in ("def f(x): return x + 1", "let x = 3;", "Let us meet at 3.", "class 3 is full")]
    [True, True, False, False]
    """
    return _CODE.match(text) is not None


def one_label(ours: Sequence[Word], theirs: Sequence[Word]) -> bool:
    """Return whether two texts begin with the same label, or at least one of them with none."""
    one, other = ([word.key for word in label(words)] for words in (ours, theirs))
    return not one or not other or one == other


def asks(text: str) -> bool:
    """Return whether a text ends with a question."""
    return "?" in text and text.rstrip(_ENDS).endswith("?")


def stances(words: Sequence[Word]) -> frozenset[str]:
    """Return in which ways a text differs from a plain statement in the present."""
    lows = [word.text.lower() for word in words]
    found = {
        _STANCES[low]
        for place, low in enumerate(lows)
        if low in _STANCES and words[place].kind != "date" and not _is_announced(lows, place)
    }
    if not _SECOND.isdisjoint(lows):
        found |= {_PAIRS[pair] for pair in zip(lows, lows[1:], strict=False) if pair in _PAIRS}
    return frozenset(found)


def _is_announced(lows: Sequence[str], place: int) -> bool:
    """Return whether `was` belongs to a change that lasts: `was raised to`, `was moved from`."""
    return lows[place] in ("was", "were") and not ANNOUNCING.isdisjoint(lows[place + 1 : place + 3])


def statements_quoted(text: str) -> frozenset[str]:
    """Return what is quoted in a text and has several words."""
    if not any(mark in text for mark in '"“„«'):
        return frozenset()
    return frozenset(said for said in _QUOTED.findall(text) if len(said.split()) >= _QUOTED_MIN)


# Participles and past tenses by which a text says that a state has changed.
_ANNOUNCING_WORDS = """
raised lowered increased reduced decreased changed switched moved migrated updated upgraded downgraded bumped
extended shortened renamed rescheduled postponed relocated replaced swapped adjusted grew improved reached
"""
ANNOUNCING = frozenset(_ANNOUNCING_WORDS.split())
