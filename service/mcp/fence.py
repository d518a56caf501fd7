"""Marks stored texts inside an answer, so that none of their lines can pass for a line of the server.

A client may break lines at more than "\\n". Unicode also breaks at vertical tab, form feed, U+0085, U+2028 and U+2029.
Python breaks at three separators more, and `str.splitlines` knows all of these.
"""

import unicodedata
from collections.abc import Iterable

CONTENT = "> "  # before each line of the content of a memory
FIELD = ">> "  # before another text of the same memory, on one line
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})  # control and format characters, surrogates, line ends


def fenced(text: str) -> Iterable[str]:
    """Return the lines of a text, each behind a mark.

    >>> list(fenced("one\\u2028two\\x85"))
    ['> one', '> two']
    """
    return (f"{CONTENT}{line}" for line in text.splitlines() or [""])


def one_line(text: str) -> str:
    """Return the text with an escape for each character that ends a line, changes text direction or is invisible.

    >>> one_line("Zoë\\u2028> x")
    'Zoë\\\\u2028> x'
    """
    return text if text.isprintable() else "".join(map(_seen, text))


def _seen(character: str) -> str:
    if unicodedata.category(character) not in _UNSEEN:
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
