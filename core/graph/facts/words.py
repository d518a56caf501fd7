"""Words of a text for the rules: in lower case, with contractions as the words that they stand for."""

import re
from collections.abc import Sequence
from typing import NamedTuple

_WORD = re.compile(r"[^\W_]++(?:['’\-.&/+][^\W_]++)*+|[^\w\s]")
_SPELT = {
    "i'm": ("i", "am"), "im": ("i", "am"), "i've": ("i", "have"), "ive": ("i", "have"), "i'd": ("i", "would"),
    "i'll": ("i", "will"), "we're": ("we", "are"), "we've": ("we", "have"), "we'd": ("we", "would"),
    "we'll": ("we", "will"), "you're": ("you", "are"), "you've": ("you", "have"), "you'd": ("you", "would"),
    "you'll": ("you", "will"), "cannot": ("can", "not"), "can't": ("can", "not"), "cant": ("can", "not"),
    "won't": ("will", "not"), "wont": ("will", "not"), "don't": ("do", "not"), "dont": ("do", "not"),
    "doesn't": ("does", "not"), "doesnt": ("does", "not"), "didn't": ("did", "not"), "didnt": ("did", "not"),
    "isn't": ("is", "not"), "aren't": ("are", "not"), "wasn't": ("was", "not"), "weren't": ("were", "not"),
    "haven't": ("have", "not"), "hasn't": ("has", "not"), "hadn't": ("had", "not"), "couldn't": ("could", "not"),
    "wouldn't": ("would", "not"), "shouldn't": ("should", "not"), "gonna": ("going", "to"), "wanna": ("want", "to"),
}  # fmt: skip

_ENDINGS = {"re": "are", "ve": "have", "ll": "will", "d": "would"}


def listed(text: str) -> frozenset[str]:
    """Return the words of a list that is written as one text."""
    return frozenset(text.split())


class Word(NamedTuple):
    """A word or a mark; `start` and `stop` are its place in the text, in characters."""

    text: str
    start: int
    stop: int
    capital: bool


def words(text: str, start: int, stop: int) -> list[Word]:
    """Return the words of a stretch of a text. The parts of a contraction share its place.

    >>> [word.text for word in words("I don’t like Ann's tea.", 0, 23)]
    ['i', 'do', 'not', 'like', 'ann', "'s", 'tea', '.']
    """
    found: list[Word] = []
    for match in _WORD.finditer(text, start, stop):
        first, last = match.span()
        written = match[0]
        word = written.lower() if written.isascii() else written.replace("’", "'").lower()
        capital = written[0].isupper()
        if "'" in word or word in _SPELT:
            found += _parts(word, first, last, capital)
        else:
            found.append(Word(word, first, last, capital))
    return found


def _parts(word: str, first: int, last: int, capital: bool) -> Sequence[Word]:
    if parts := _SPELT.get(word):
        return [Word(part, first, last, capital) for part in parts]
    stem, _, end = word.rpartition("'")
    if end in _ENDINGS and stem.isalpha():
        return [Word(stem, first, last, capital), Word(_ENDINGS[end], first, last, False)]
    if word.endswith("'s"):
        return [Word(word[:-2], first, last - 2, capital), Word("'s", last - 2, last, False)]
    return [Word(word, first, last, capital)]
