"""Headers of code: what is defined in a stretch of code, as words.

Questions name purposes, code names identifiers. The words in the names of definitions say most of what code is for, so
they count more when they come before it too. `python -m loadtests.quality.code_search` measures that.
"""

import re
from collections.abc import Iterable

from muisti.core.parsing.code.apart import names
from muisti.core.parsing.code.grammars import TooIntricate, is_available
from muisti.core.parsing.code.reading import LANGUAGES
from muisti.core.support.memo import memoised

REMEMBERED = 2_048  # headers: the passages of a group are embedded first and indexed then
DEFINITIONS = 6  # of a stretch whose names are taken
TIMES = 2  # that the names come before the code
LONGEST = 20_000  # characters of a stretch that is read; a chunk is far shorter

_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_PARTS = re.compile(r"[^\W_]+")


def is_code(language: str) -> bool:
    """Return whether a language is one whose code has headers."""
    return language in LANGUAGES and is_available(language)


@memoised(REMEMBERED)
def header(text: str, language: str, symbol: str | None = None) -> str:
    """Return the header of a stretch of code, empty when nothing is defined in it or that takes too much work.

    `symbol` is the qualified name of the definition that the stretch is in.

    >>> header("def loadJSON(path):\\n    return decode(path)", "python", "Reader.loadJSON")
    'load JSON. load JSON. '
    """
    if len(text) > LONGEST:
        return ""
    try:
        defined = [name for name in names(text, language) if name][:DEFINITIONS]
    except TooIntricate:
        defined = []
    around = "" if symbol is None else symbol.rpartition(".")[2]
    words = words_of(dict.fromkeys((*([around] if around else []), *defined)))
    return f"{words}. " * TIMES if words else ""


def words_of(found: Iterable[str]) -> str:
    """Return the words in names.

    >>> words_of(["getHTTPResponse", "max_size2"])
    'get HTTP Response max size 2'
    """
    return " ".join(word for name in found for part in _PARTS.findall(name) for word in _HUMP.findall(part) or [part])
