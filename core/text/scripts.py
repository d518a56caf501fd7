"""Patterns that find runs, words and tokens in every script, and the number of tokens."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from muisti.core.kernels import ascii as loops
from muisti.core.support.regex import regex
from muisti.core.text.forms import ascii_bytes

WORD_MAX = 24  # characters that count as one token

# Han, kana, Thai, Lao, Myanmar and Khmer, without their digits and punctuation.
_UNSPACED = (
    r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u1780-\u17d3"
    r"\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\U00020000-\U0003ffff"
)
_HANGUL = r"\u1100-\u11ff\uac00-\ud7a3"  # whose words have endings, so that their bigrams find them
# An emoji with its skin tone or tags, or a flag; the parts of a joined one are neighbours.
_EMOJI = (
    "(?:[\U0001f1e6-\U0001f1ff]{2}|[\u231a-\u23ff\u2600-\u27bf\u2b05-\u2b55\U0001f000-\U0001faff]"
    "[\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\u20e3]*+)"
)
# Characters within words that `\w` leaves out: accents and vowel signs.
_MARKS = (
    r"\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    r"\u06d6-\u06ed\u0711\u0730-\u074a\u0898-\u0963\u0971-\u0df3\u0f71-\u0f84\u0f8d-\u0fbc\u1ab0-\u1aff\u1dc0-\u1dff"
    r"\u20d0-\u20ff\ufe20-\ufe2f"
)
_JOINERS = "\u00ad\u200c\u200d"
_LETTER = rf"[^\W{_UNSPACED}{_HANGUL}]"
_TOKEN = rf"[^\W{_UNSPACED}]"
_WORD = rf"{_LETTER}++(?:[{_MARKS}]++{_LETTER}*+)*+"


class Patterns(NamedTuple):
    runs: re.Pattern[str]
    words: re.Pattern[str]
    tokens: re.Pattern[str]


# Every repetition is possessive, and no two neighbours share a character: the time is linear in the text.
_ASCII = Patterns(  # finds the same in ASCII as those for all scripts, twice as fast
    runs=regex(r"(?:\w++|(?<![\w.])\.\w++)(?:[-./:+#]\w++)*+(?:\+\+|#)?"),
    words=regex(r"\w++"),
    tokens=regex(rf"\w{{1,{WORD_MAX}}}+|[^\w\s]"),
)


ALL_SCRIPTS = Patterns(
    runs=regex(rf"(?:{_WORD}|(?<![\w.])\.{_WORD})(?:[-./:+#]{_WORD})*+(?:\+\+|#)?|[{_UNSPACED}{_HANGUL}]++|{_EMOJI}"),
    words=regex(rf"{_WORD}|{_EMOJI}"),
    tokens=regex(rf"[{_UNSPACED}]|{_TOKEN}(?:{_TOKEN}|[{_MARKS}{_JOINERS}]){{0,{WORD_MAX - 1}}}+|[^\w\s]"),
)
_IS_UNSPACED = regex(rf"[{_UNSPACED}]")
_IS_IN_BIGRAMS = regex(rf"[{_UNSPACED}{_HANGUL}]")
# Characters that are words by themselves: Han ones, and the first Hangul syllable of a line.
TELLING = regex(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]|^[\uac00-\ud7a3]", re.MULTILINE)


def patterns(text: str) -> Patterns:
    return _ASCII if text.isascii() else ALL_SCRIPTS


def token_starts(text: str) -> list[int]:
    """Return where each token starts. Cut at any of them, a text keeps its tokens.

    A token is a word, a punctuation mark or a character of a script without spaces. A longer word than `WORD_MAX`
    is several, so this is about what a language model counts.
    """
    return [token.start() for token in patterns(text).tokens.finditer(text)]


def count_tokens(text: str) -> int:
    """Return the number of tokens, see `token_starts`.

    >>> count_tokens("It's 版本3!")
    7
    """
    data = ascii_bytes(text)
    return len(patterns(text).tokens.findall(text)) if data is None else loops.count(data, WORD_MAX)


def count_tokens_between(text: str, borders: Sequence[int]) -> list[int]:
    """Return the `count_tokens` of each stretch between two neighbouring borders, in ascending order.

    >>> count_tokens_between("one two-three", [0, 4, 13])
    [1, 3]
    """
    data = ascii_bytes(text)
    if data is None:
        return [count_tokens(text[start:stop]) for start, stop in pairwise(borders)]
    found = np.empty(max(0, len(borders) - 1), np.int64)
    loops.counts(data, np.array(borders, np.int64), WORD_MAX, found)
    return found.tolist()


def is_unspaced(run: str) -> bool:
    """Tell whether a run of letters begins in a script that has no spaces between words."""
    return not run.isascii() and _IS_UNSPACED.match(run) is not None


def in_bigrams(run: str) -> bool:
    """Tell whether a run gives bigrams: it begins in a script without spaces, or in Hangul."""
    return not run.isascii() and _IS_IN_BIGRAMS.match(run) is not None


def is_character(term: str) -> bool:
    """Return whether a term is a single character of a text that gives bigrams."""
    return len(term) == 1 and in_bigrams(term)


# Give one form to words that differ only in the marks that people leave out: accents, points, short vowels


# Letters whose mark is no character of its own, ligatures, and letters that one script has for those of another.
_LETTERS = {
    **{"ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ŧ": "t", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ŋ": "n"},
    **{"ё": "е", "ـ": "", "ٱ": "ا", "ى": "ي", "ی": "ي", "ک": "ك", "ة": "ه", "ە": "ه", "ہ": "ه"},
}
# Scripts whose letters keep their meaning without marks: Latin, Greek, Hebrew and Arabic.
_BARE = regex("[a-z\u00aa-\u024f\u0370-\u03ff\u0590-\u06ff\u0750-\u077f\u1e00-\u1fff]", re.IGNORECASE)
# Marks that stay where no letter has them: accents, Hebrew points, Arabic vowels, nuqta, skin tones, keycaps.
_LOOSE = regex(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u093c\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\U0001f3fb-\U0001f3ff]"
)
_NASAL = regex("[ङञणनम]्(?=[क-ह])|ँ")  # which Hindi writes as a dot too
_REMEMBERED = 0x3000  # codes below it


def unmarked(word: str) -> str:
    """Return a case-folded word in its NFKC form without the marks that people leave out.

    >>> [unmarked(word) for word in ("zoë", "łódź", "αθήνα", "ёлка", "йод", "مُحَمَّد", "şık", "हिन्दी", "२४")]
    ['zoe', 'lodz', 'αθηνα', 'елка', 'йод', 'محمد', 'sik', 'हिंदी', '24']
    """
    return word if word.isascii() else _NASAL.sub("ं", word.translate(_BARE_LETTERS))


def exact(word: str) -> str:
    """Return a word case-folded with its marks, in NFKC.

    >>> exact("Zoë"), exact("İstanbul")
    ('zoë', 'istanbul')
    """
    return unicodedata.normalize("NFKC", word.casefold().replace("i\u0307", "i"))


class _Letters(dict[int, str]):
    """The letters without marks by their code, for `str.translate`. Those of most scripts are remembered."""

    def __missing__(self, code: int) -> str:
        letter = _bare(chr(code))
        if code < _REMEMBERED:
            self[code] = letter
        return letter


def _bare(char: str) -> str:
    if char in _LETTERS:
        return _LETTERS[char]
    if _LOOSE.match(char):
        return ""
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    base = unicodedata.normalize("NFD", char)[0]
    return _LETTERS.get(base, base) if _BARE.match(base) else char


_BARE_LETTERS = _Letters()
