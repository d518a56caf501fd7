"""Features of words and of stretches, which the tagger computes with. Training uses these same functions.

A word has a row of numbers: its static vector reduced by PCA, its character n-grams, and flags of its form and of
lists. It also has hashed features, whose weights are added to the tags' scores directly.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple
from zlib import crc32

import numpy as np

from muisti.core.graph.entities.lists import (
    CALENDAR,
    CITY,
    FIRST,
    HONORIFICS,
    LAST,
    OPENS,
    ORGANISATIONS,
    PLACE,
    PROPER,
    REGION,
    WORD,
    Lists,
)
from muisti.core.kernels import Floats, Longs, Packed
from muisti.core.kernels.tagging import LONGEST, grams
from muisti.core.support.memo import memoised

REACH = 2  # words on each side that a tag depends on
VECTOR, GRAMS, FORMS = 96, 48, 36
ROW = VECTOR + GRAMS + FORMS
HASHES = 1 << 15
# How many hashed features a word has for the tag of the word `place - REACH` to its right.
HASHED = (1, 4, 13, 4, 1)
SHAPES = 16  # classes of forms, whose pairs have weights; 0 is outside
MARKS = 12  # flags of a word in its stretch

_SEEDS = [crc32(str(place).encode()) for place in range(len(HASHED))]  # of the hashes of each place
_BESIDE = (0, 1, 3, 2)  # features of a word that count for its neighbours
_FEATURES = np.array([0, *_BESIDE, *range(13), *_BESIDE, 0])  # those of each place of the window after another
_OF_PLACE = np.repeat(np.arange(len(HASHED)), HASHED)
_RUNS = re.compile(r"(.)\1+")
_QUOTES = frozenset('"“”``')
_ENDS = frozenset('.!?:"“”-')


def _crc_table() -> Packed:
    """Return the table of CRC-32, by which a byte changes the state."""
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, table >> 1 ^ np.uint32(0xEDB88320), table >> 1)
    return table


_CRC = _crc_table()


class Words(NamedTuple):
    """The features of n words by themselves, but for their static vectors."""

    forms: Floats  # (n, GRAMS + FORMS)
    hashed: Longs  # (n, sum of HASHED), those of each place of the window after another
    shapes: Longs  # (n,)


def word_features(words: Sequence[str], lists: Lists) -> Words:
    """Return the features of words."""
    lower = [word.lower() for word in words]
    flags = lists.flags_of(lower)
    shapes = [*map(_class, words, flags)]
    forms = np.array([*map(_forms, words, lower, flags)], np.float32).reshape(len(words), FORMS)
    hashed = _hashed(words, lower, flags, shapes)
    return Words(np.concatenate([_grams(words), forms], axis=1), hashed, np.array(shapes, np.int64))


def _grams(words: Sequence[str]) -> Floats:
    """Return signs drawn by hashes of the n-grams of 2 to 4 characters, summed and scaled, (n, GRAMS)."""
    marked = [f"^{word}$"[:LONGEST].encode("utf-8", "replace") for word in words]
    starts = np.array([0, *accumulate(map(len, marked))], np.int64)
    out = np.empty((len(words), GRAMS), np.float32)
    grams(np.frombuffer(b"".join(marked), np.uint8).astype(np.int64), starts, _CRC, out)
    return out


def _forms(word: str, lower: str, flags: int) -> list[bool]:
    alphabetic, long = word.isalpha(), len(word) > 1
    return [
        word.islower(),
        word[:1].isupper() and word[1:].islower(),
        word.isupper() and long,
        word.isupper() and not long,
        alphabetic and not word.islower() and not word.isupper() and not word.istitle(),
        word.isdigit(),
        any(map(str.isdigit, word)),
        not any(map(str.isalnum, word)),
        word[:1] == "@",
        word[:1] == "#",
        word.startswith(("http", "www.")),
        "-" in word,
        "'" in word,
        "." in word and long,
        long and any(mark in word for mark in "&/_:"),
        not flags & (WORD | PROPER),
        len(word) <= 3,
        len(word) > 8,
        *(bool(flags & one) for one in (WORD, PROPER, FIRST, LAST, PLACE, CITY, REGION, OPENS)),
        flags & (WORD | FIRST) == FIRST,
        lower in CALENDAR,
        lower in HONORIFICS,
        lower in ORGANISATIONS,
        word in _QUOTES,
        word in ".!?",
        word == ",",
        lower in ("'s", "’s"),
        word == "I",
        not word.isascii(),
    ]


def _class(word: str, flags: int) -> int:
    known = 0 if flags & WORD else 1
    if not any(map(str.isalnum, word)):
        return 1 if word in ".!?" else 2 if word in _QUOTES else 3 if word == "," else 4
    if word[0] in "@#" or word.startswith(("http", "www.")):
        return 5
    if any(map(str.isdigit, word)):
        return 6
    if word.islower():
        return 7 + known
    if word.isupper():
        return 9 if len(word) == 1 else 10 + known
    return (12 if word[0].isupper() and word[1:].islower() else 14) + known


def _hashed(words: Sequence[str], lower: Sequence[str], flags: Sequence[int], shapes: Sequence[int]) -> Longs:
    """Return the hashed features of words, (n, sum of HASHED)."""
    coded = [one for own in map(_coded, words, lower, flags, shapes) for one in own]
    hashes = np.array([*map(crc32, coded)], np.int64).reshape(len(words), HASHED[REACH])
    sizes = np.array([*map(len, coded)], np.int64).reshape(len(words), HASHED[REACH])
    seeded = _seeded(int(sizes.max(initial=0)).bit_length())
    return np.ascontiguousarray((hashes[:, _FEATURES] ^ seeded[_OF_PLACE, sizes[:, _FEATURES]]) % HASHES)


@lru_cache
def _seeded(bits: int) -> Longs:
    """Return what each seed changes in the CRC of a text, by the number of its bytes below 2 ** `bits`.

    CRC is linear: the texts themselves do not matter.
    """
    texts = [bytes(size) for size in range(1 << bits)]
    return np.array([[crc32(text, seed) ^ crc32(text) for text in texts] for seed in _SEEDS], np.int64)


def _coded(word: str, lower: str, flags: int, shape: int) -> list[bytes]:
    """Return the features of a word that are hashed."""
    form = _squeezed(word.translate(_FORMS) if word.isascii() else "".join(map(_letter, word)))
    known = flags & (WORD | PROPER)
    names = flags & ~(WORD | PROPER)
    own = [
        *(f"w{lower}", f"f{form}", f"k{known}{form[:2]}", f"n{names}", f"m{names}{form[:2]}"),
        *(f"p2{lower[:2]}", f"p3{lower[:3]}", f"p4{lower[:4]}"),
        *(f"s2{lower[-2:]}", f"s3{lower[-3:]}", f"s4{lower[-4:]}"),
        *(f"c{word}", f"x{shape}{lower in CALENDAR}{lower in HONORIFICS}{lower in ORGANISATIONS}"),
    ]
    return [one.encode("utf-8", "replace") for one in own]


@memoised(4_096)
def _squeezed(form: str) -> str:
    return _RUNS.sub(r"\1\1", form)[:8]


def _letter(character: str) -> str:
    if character.isupper():
        return "X"
    if character.islower():
        return "x"
    return "d" if character.isdigit() else character


_FORMS = {code: _letter(chr(code)) for code in range(128)}


def marks(words: Sequence[str], lists: Lists) -> Longs:
    """Return the flags (MARKS bits) of each word of a stretch that depend on the other words.

    Bits 0 to 5 are the same for all words: shouted, titled, without capitals, and the share of capitals in three steps.
    Bit 6: a sentence begins. Bit 7: inside quotes. Bits 8 and 9: in a city or a region of several words. Bits 10 and
    11: the first and the last word.
    """
    letters = [word for word in words if word[:1].isalpha()]
    count = max(1, len(letters))
    upper = sum(word[0].isupper() for word in letters) / count
    shouted = sum(map(str.isupper, letters)) / count > 0.7
    whole = (
        shouted | (upper > 0.7 and len(letters) > 3 and not shouted) << 1 | (upper == 0) << 2
        | (upper > 0.15) << 3 | (upper > 0.35) << 4 | (upper > 0.6) << 5
    )  # fmt: skip
    found, quoted = np.full(len(words), whole, np.int64), False
    for i, word in enumerate(words):
        if i == 0 or words[i - 1] in _ENDS:
            found[i] |= 1 << 6
        if word in _QUOTES:
            quoted = not quoted
        found[i] |= quoted << 7
    _mark_places(words, lists, found)
    if len(words):
        found[0] |= 1 << 10
        found[-1] |= 1 << 11
    return found


def _mark_places(words: Sequence[str], lists: Lists, found: Longs) -> None:
    for i, word in enumerate(words):
        if not word[:1].isupper() or not lists.flags(word.lower()) & OPENS:
            continue
        for size in (4, 3, 2):
            flags = lists.flags(" ".join(words[i : i + size]).lower()) if i + size <= len(words) else 0
            if flags & (PLACE | REGION):
                found[i : i + size] |= (bool(flags & PLACE) << 8) | (bool(flags & REGION) << 9)
                break
