"""Keys of names: two mentions with equal keys name the same entity."""

import hashlib
import re
from collections.abc import Sequence

from muisti.core.support.regex import regex
from muisti.core.text.forms import to_form

CAPITALS = 5  # letters of an acronym at most; longer words in capitals are shouted names more often

_SPACES = regex(r"\s+")
_POSSESSIVE = regex(r"(?:'s|(?<=s)')$", re.IGNORECASE)
_ARTICLE = regex(r"^the\s+(?=\S)", re.IGNORECASE)
_EDGES = regex(r"^(?!--\w)[^\w@#$€£+/~.]+|(?<=[\w+#/)])[^\w+#/)]+$")
_SMALL = frozenset({"a", "an", "and", "at", "for", "in", "of", "on", "the", "to", "de", "la", "von", "&"})
_PARTICLES = _SMALL | {"al", "bin", "da", "del", "den", "der", "di", "du", "el", "le", "ten", "van", "y"}


def norm(text: str) -> str:
    """Return the key of a name: possessive, surrounding punctuation and runs of spaces do not count.

    Neither does "the" before several words, but "The" does: "The Socialist Party" may be that of another country. Case,
    digits and marks inside count, and so does a full stop after a single letter.

    >>> norm("the  White House's"), norm("“Dune”,"), norm("C++"), norm("The Fall"), norm("--config"), norm("K.")
    ('White House', 'Dune', 'C++', 'The Fall', '--config', 'K.')
    """
    bare = _bare(text)
    short = bare.removeprefix("the ")
    return short if " " in short else bare


def folded(text: str) -> str:
    """Return what names have in common that differ in case or "the" alone. They may be one entity, and may not.

    Case counts in one word of a few letters, all capitals, because "EVA" is no Eva. It also counts in symbols with "_",
    because `MAX_SIZE` is no `max_size`.

    >>> folded("The White House"), folded("dune"), folded("the US"), folded(norm("The US’s"))
    ('white house', 'dune', 'US', 'US')
    """
    bare = _bare(text)
    return _cased(_ARTICLE.sub("", bare) or bare)


def lookups(text: str) -> tuple[str, ...]:
    """Return the folded keys that a text may mean when its case does not count: its own, then that of another case.

    >>> lookups("nasa"), lookups("NASA"), lookups("Ann Lee")
    (('nasa', 'NASA'), ('NASA', 'nasa'), ('ann lee',))
    """
    key = folded(text)
    return tuple(dict.fromkeys((key, _cased(key.upper()), key.casefold())))


def _bare(text: str) -> str:
    flat = _SPACES.sub(" ", to_form("NFKC", text)).strip().replace("’", "'")
    bare = _EDGES.sub("", flat)
    bare = _EDGES.sub("", _POSSESSIVE.sub("", bare))
    return bare if len(bare) > 1 else flat


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
    return "".join(word[0] for word in counted).upper() if len(counted) > 1 else ""


def is_capitalised(key: str) -> bool:
    """Return whether each word of a name begins with no small letter; articles and prepositions may.

    >>> is_capitalised("Bank of America"), is_capitalised("Ludwig van Beethoven"), is_capitalised("Piper nigrum")
    (True, True, False)
    """
    return all(not word[:1].islower() or word in _PARTICLES for word in key.split(" "))


def code_of(key: str) -> str:
    """Return the public id of an entity, made from its norm: 16 characters, the same in every space.

    >>> code_of("ann lee")
    '7ebdb2bfada8f1c9'
    """
    return hashlib.blake2b(key.encode(), digest_size=8).hexdigest()
