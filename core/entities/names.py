"""Keys of names: two mentions with equal keys name the same entity."""

import hashlib
import re
from collections.abc import Sequence

from muisti.core.text.forms import to_form

_SPACES = re.compile(r"\s+")
_POSSESSIVE = re.compile(r"(?:['’]s|(?<=s)['’])$")
_ARTICLE = re.compile(r"^(?:the|an?)\s+(?=\S)")
_EDGES = re.compile(r"^[^\w@#$€£+/~.]+|(?<=[\w+#/)])[^\w+#/)]+$")
_SMALL = frozenset({"a", "an", "and", "at", "for", "in", "of", "on", "the", "to", "de", "la", "von", "&"})


def norm(text: str) -> str:
    """Return the key of a name: case, possessive, article, surrounding punctuation and runs of spaces do not count.

    Digits and marks inside always count, so "3/4" and "3/9" are different names.

    >>> norm("the  White House's"), norm("“Dune”,"), norm("C++"), norm("v1.2.10")
    ('white house', 'dune', 'c++', 'v1.2.10')
    """
    folded = _SPACES.sub(" ", to_form("NFKC", text)).strip().casefold().replace("’", "'")
    bare = _EDGES.sub("", folded)
    bare = _EDGES.sub("", _POSSESSIVE.sub("", bare))
    return _ARTICLE.sub("", bare) or bare or folded


def initials(words: Sequence[str]) -> str:
    """Return the acronym of a name's words in lower case; empty when fewer than two of them count.

    Articles, prepositions and conjunctions do not count.

    >>> initials(["New", "York", "City"]), initials(["Bank", "of", "America"]), initials(["Oslo"])
    ('nyc', 'ba', '')
    """
    counted = [word for word in words if word and word.casefold() not in _SMALL]
    if len(counted) < 2:
        return ""
    return "".join(word[0] for word in counted).casefold()


def code_of(key: str) -> str:
    """Return the public id of an entity, made from its norm: 16 characters, the same in every space.

    >>> code_of("ann lee")
    '7ebdb2bfada8f1c9'
    """
    return hashlib.blake2b(key.encode(), digest_size=8).hexdigest()
