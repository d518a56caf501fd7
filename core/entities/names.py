"""Keys of names: two mentions with equal keys name the same entity."""

import hashlib
import re
from collections.abc import Sequence

from muisti.core.text.forms import to_form

CAPITALS = 5  # letters of an acronym at most; longer words in capitals are shouted names more often

_SPACES = re.compile(r"\s+")
_POSSESSIVE = re.compile(r"(?:'s|(?<=s)')$", re.IGNORECASE)
_ARTICLE = re.compile(r"^the\s+(?=\S)", re.IGNORECASE)
_EDGES = re.compile(r"^[^\w@#$€£+/~.]+|(?<=[\w+#/)])[^\w+#/)]+$")
_SMALL = frozenset({"a", "an", "and", "at", "for", "in", "of", "on", "the", "to", "de", "la", "von", "&"})


def norm(text: str) -> str:
    """Return the key of a name: possessive, "the", surrounding punctuation and runs of spaces do not count.

    Case counts only in one word of a few letters, all capitals, because "EVA" is no Eva. It also counts in symbols
    with "_", because `MAX_SIZE` is no `max_size`. Digits and marks inside always count, so "3/4" is not "3/9".

    >>> norm("the  White House's"), norm("“Dune”,"), norm("C++"), norm("v1.2.10"), norm("the US")
    ('white house', 'dune', 'c++', 'v1.2.10', 'US')
    """
    flat = _SPACES.sub(" ", to_form("NFKC", text)).strip().replace("’", "'")
    bare = _EDGES.sub("", flat)
    bare = _EDGES.sub("", _POSSESSIVE.sub("", bare))
    return _cased(_ARTICLE.sub("", bare) or bare or flat)


def keys(text: str) -> tuple[str, ...]:
    """Return the keys that a text may mean when its case does not count: its norm, then the one of another case.

    >>> keys("nasa"), keys("NASA"), keys("Ann Lee")
    (('nasa', 'NASA'), ('NASA', 'nasa'), ('ann lee',))
    """
    key = norm(text)
    return tuple(dict.fromkeys((key, _cased(key.upper()), key.casefold())))


def _cased(name: str) -> str:
    """Return a name in small letters, unless it is one word of a few letters, all capitals, or one with `_`."""
    small = name.casefold()
    capitals = 1 < len(name) <= CAPITALS and name.isalpha() and name == small.upper()
    if capitals or ("_" in name and " " not in name and name[0] not in "@#"):
        return name
    return _EDGES.sub("", small) or small


def initials(words: Sequence[str]) -> str:
    """Return the key of the acronym of a name's words; empty when fewer than two of them count.

    Articles, prepositions and conjunctions do not count.

    >>> initials(["New", "York", "City"]), initials(["Bank", "of", "America"]), initials(["Oslo"])
    ('NYC', 'BA', '')
    """
    counted = [word for word in words if word and word.casefold() not in _SMALL]
    if len(counted) < 2:
        return ""
    return _cased("".join(word[0] for word in counted).upper())


def code_of(key: str) -> str:
    """Return the public id of an entity, made from its norm: 16 characters, the same in every space.

    >>> code_of("ann lee")
    '7ebdb2bfada8f1c9'
    """
    return hashlib.blake2b(key.encode(), digest_size=8).hexdigest()
