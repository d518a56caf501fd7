"""Give one form to words that differ only in the marks that people leave out: accents, points, short vowels.

The marks of Indic and Thai vowels, the dots of kana and letters such as й are spelling, and stay.
"""

import re
import unicodedata

# Letters whose mark is no character of its own, ligatures, and letters that one script has for those of another.
_LETTERS = {
    **{"ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ŧ": "t", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ŋ": "n"},
    **{"ё": "е", "ـ": "", "ٱ": "ا", "ى": "ي", "ی": "ي", "ک": "ك", "ة": "ه", "ە": "ه", "ہ": "ه"},
}
# Scripts whose letters keep their meaning without marks: Latin, Greek, Hebrew and Arabic.
_BARE = re.compile("[a-z\u00aa-\u024f\u0370-\u03ff\u0590-\u06ff\u0750-\u077f\u1e00-\u1fff]", re.IGNORECASE)
# Marks that stay where no letter has them: accents, Hebrew points, Arabic vowels, nuqta, skin tones, keycaps.
_LOOSE = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u093c\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\U0001f3fb-\U0001f3ff]"
)
_NASAL = re.compile("[ङञणनम]्(?=[क-ह])|ँ")  # which Hindi writes as a dot too
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
