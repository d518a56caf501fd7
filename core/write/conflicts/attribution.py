"""Read who says what a text states: `Ana says the key rotates daily`, `According to Ben, ...`, `Grad C: Yeah.`"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from muisti.core.write.conflicts.words import Word

LABEL_MAX = 3  # words of a name before a colon

_NAME = r"[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)?"
_VERBS = "says|said|claims|claimed|thinks|reports|reported|confirmed|mentioned|told me|told us"
_ATTRIBUTED = re.compile(rf"\s*(?:According to ({_NAME}),?|({_NAME}) (?:{_VERBS})(?: that)?[,:]?)\s+(?=\S)")


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
