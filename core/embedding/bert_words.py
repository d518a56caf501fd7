"""Cuts any text into words as tokenizers of BERT's kind without case do, without their library.

The properties of characters are those that the library knows, of Unicode 8, whatever Python's own tables say. So a text
has the same tokens on every version of Python. `tests/core/embedding/test_bert_words.py` compares all characters.
"""

from unicodedata import normalize

from muisti.core.support.regex import regex

# Ranges of characters: each is its distance from the end of the one before, and its length, both in base 16.
# control and private characters, and marks above or below a letter
_DROPPED = (
    "0+8 3+1 2+11 60+20 e 253+6f 114+4 10a+2c 2 2+1 2+1 2 39+5 b+a 2 2f+14 11 66+7 2+5 3+1 2+3 22 2 1f+1a 5c+a "
    "3b+8 23+3 2+8 2+2 2+4 2c+2 88+1f 38 2 5+7 5 4+6 b+1 1e 3b 5+3 9 15+1 1e+1 3a 5+1 5+1 3+2 4 1f+1 4 c+1 3a 5+4 "
    "2+1 5 15+1 1e 3b 3 2+3 9 9 c+1 1f 3e d 33 3e+2 6+2 2+3 8+1 c+1 1e 3b 3 7 6+1 15+1 1e 40+3 9 15+1 67 8+2 2 5b "
    "3+6 d+7 63 3+5 2+1 c+5 4b+1 1c 2 2 38+d 2+4 2+1 6+a 2+23 a 67+3 2+5 2+1 3+1 1a+1 5+2 11+3 e 3+1 7 10 2c0+2 "
    "3b3+2 1e+2 1e+1 1f+1 41+1 2+6 9 3+a a 2e+3 9b 77+2 5+1 a 7+2 dc+1 3 3b 2+6 2 2 3+7 7+9 3 31+d 43+3 31 2+4 2 "
    "6 29+8 d+1 21+3 3+1 2+2 39 2+1 4 2+2 3b+7 3+1 99+2 2+c 2+6 5 7 4+1 c7+35 7+3 20c+4 1b+4 32+4 2+9 61+c 5 4+b "
    "bff+2 8e 61+1f 22b+3 6c+1 75d5 5+9 21+1 51+1 111 4 5 1a+1 9e 1c+11 35+7 1a+a 2f+2 31 3+3 3 29 44+5 3+1 3+1 d "
    "9 30 34 2+2 3+1 6+1 2 2b+1 9 ef 3 5 3413+18ff 21f 2e2+f 11+f d0 fa+2 2 200 e3 96+4 687+2 2+1 6+3 29+2 5 a6+1 "
    "51b 37+e 39+2 32+3 3+1 3 43+2 25+4 2+7 3f d+1 35+8 c+2 63+2 3 2+1 a8 4+7 16+1 3b 4 26+6 4+4 13f+5 2 5+1 2+1 "
    "ef+3 7+1 2+1 1c+1 56+7 3 2+1 6b 2 3+5 2 66+2 3+3 2+4 53c5+4 3c+6 459+3 4d0b+1 2+3 14c4+2 a+f 3+6 1f+3 95+2 "
    "7bc+36 5+31 9 f 17+4 2+e e21+6 c172b 1f+5f 81+ef fe11+fffd 3+fffd"
)
# each is a word
_PUNCTUATION = (
    "21+e b+6 1b+5 1b+3 23 6 4 b+1 4 4 2bf 9 1d3+5 2a+1 34 2 3 3 2d+1 15+1 2+1 e 3+1 4b+3 67 2c+d ea+2 37+e 20 "
    "106+1 b 180 304 5b b+1 a9+e 2 26+3 48 4b+4 5+1 70+5 ac 265+8 98 26d+1 2d+1 4f+2 48+1 9e+2 2+2 26+a 13a+1 "
    "d9+1 81+6 2+5 ad+6 9c+3 3c+4 3f+1 41+7 c 33d+17 9+13 2+c 2+b 1f+1 f+1 27a+3 1e+1 43e+d 50+1 20+9 194+15 40+3 "
    "21+1 2fc+3 2+1 71 90+2e 2+12 1bf+2 5+9 3+b 11 d 63 5b 7403+1 10e+2 64 b 74+5 17d+3 57+1 29+2 2 32+1 30 62+c "
    "11+1 7d+3 7f+1 11+1 fa 5153+1 d1+9 17+22 2+d 2 5 2+1 96+2 2+5 2+3 b+1 4+1 1b+2 2 1c 2 2+6 19b+2 29d 31 19f "
    "2e8 c8 20 111+8 27 71+6 43+6 5a+3 4ab+6 6e+1 2+3 7f+3 31+1 50+4 4 e 2+2 59+5 6c 21d fb+16 6a+2 f9+2 d32+4 "
    "45fa+1 86 42+4 9 515b 1de8+4"
)
_SPACES = "\t\n\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_IDEOGRAPHS = (
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0002a6df\U0002a700-\U0002b81f\U0002b920-\U0002ceaf\U0002f800-\U0002fa1f"
)


def _characters(ranges: str) -> str:
    """Return ranges as the inside of a regular expression's class.

    >>> regex(f"[{_characters('41+2 8')}]").findall("ABCDK")
    ['A', 'B', 'C', 'K']
    """
    found: list[str] = []
    at = 0
    for one in ranges.split():
        distance, _, length = one.partition("+")
        first = at + int(distance, 16)
        at = first + int(length or "0", 16)
        found.append(f"\\U{first:08x}-\\U{at:08x}")
    return "".join(found)


_DROP = regex(f"[{_characters(_DROPPED)}]+")
_SPACE_OUT = regex(f"[{_IDEOGRAPHS}]")
_CUT = regex(f"[{_characters(_PUNCTUATION)}]|[^{_SPACES}{_characters(_PUNCTUATION)}]+")


def words(text: str) -> list[str]:
    """Return the words of a text in lower case and without accents; an ideograph or a punctuation mark is a word.

    >>> words("Łódź, İzmir: 版本3")
    ['łodz', ',', 'izmir', ':', '版', '本', '3']
    """
    spaced = _SPACE_OUT.sub(r" \g<0> ", _DROP.sub("", text))
    bare = _DROP.sub("", normalize("NFD", spaced))
    return _CUT.findall(bare.replace("Σ", "σ").lower())  # at the end of a word Python would make it ς
