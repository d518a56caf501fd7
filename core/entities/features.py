"""Features of words and of stretches, which the tagger computes with. Training uses these same functions.

A word has a row of numbers: its static vector reduced by PCA, its character n-grams, and flags of its form and of
lists. It also has hashed features, whose weights are added to the tags' scores directly.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple
from zlib import crc32

import numpy as np

from muisti.core.entities.lists import (
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
from muisti.core.kernels import Floats, Longs

REACH = 2  # words on each side that a tag depends on
VECTOR, GRAMS, FORMS = 96, 48, 36
ROW = VECTOR + GRAMS + FORMS
HASHES = 1 << 15
# How many hashed features a word has for the tag of the word `place - REACH` to its right.
HASHED = (1, 4, 13, 4, 1)
SHAPES = 16  # classes of forms, whose pairs have weights; 0 is outside
MARKS = 12  # flags of a word in its stretch

_SEEDS = [crc32(str(place).encode()) for place in range(len(HASHED))]  # of the hashes of each place
_RUNS = re.compile(r"(.)\1+")
_QUOTES = frozenset('"“”``')
_ENDS = frozenset('.!?:"“”-')


class Words(NamedTuple):
    """The features of n words by themselves, but for their static vectors."""

    forms: Floats  # (n, GRAMS + FORMS)
    hashed: Longs  # (n, sum of HASHED), those of each place of the window after another
    shapes: Longs  # (n,)


def word_features(words: Sequence[str], lists: Lists) -> Words:
    """Return the features of words."""
    lower = [word.lower() for word in words]
    flags = [lists.flags(word) for word in lower]
    shapes = [*map(_class, words, flags)]
    forms = np.array([*map(_forms, words, lower, flags)], np.float32).reshape(len(words), FORMS)
    hashed = np.array([*map(_hashed, words, lower, flags, shapes)], np.int64).reshape(len(words), sum(HASHED))
    return Words(np.concatenate([_grams(words), forms], axis=1), hashed, np.array(shapes, np.int64))


def _grams(words: Sequence[str]) -> Floats:
    """Return signs drawn by hashes of the n-grams of 2 to 4 characters, summed and scaled, (n, GRAMS)."""
    hashes: list[int] = []
    starts: list[int] = []
    for word in words:
        starts.append(len(hashes))
        hashes += map(crc32, _cut(f"^{word}$"[:20]))
    if not words:
        return np.empty((0, GRAMS), np.float32)
    mixed = (np.array(hashes, np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (mixed[:, None] >> np.arange(8, 8 + GRAMS, dtype=np.uint64)) & np.uint64(1)
    counts = np.diff([*starts, len(hashes)])[:, None]
    return ((2.0 * np.add.reduceat(bits, starts) - counts) / np.sqrt(counts)).astype(np.float32)


def _cut(marked: str) -> list[bytes]:
    """Return the n-grams of a word between its marks; at least one."""
    places = [(at, at + size) for size in (2, 3, 4) for at in range(len(marked) - size + 1)][:40]
    if marked.isascii():
        whole = marked.encode()
        return [whole[start:stop] for start, stop in places]
    return [marked[start:stop].encode("utf-8", "replace") for start, stop in places]


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


def _hashed(word: str, lower: str, flags: int, shape: int) -> list[int]:
    form = _RUNS.sub(r"\1\1", "".join(map(_letter, word)))[:8]
    known = flags & (WORD | PROPER)
    names = flags & ~(WORD | PROPER)
    own = [
        *(f"w{lower}", f"f{form}", f"k{known}{form[:2]}", f"n{names}", f"m{names}{form[:2]}"),
        *(f"p{size}{lower[:size]}" for size in (2, 3, 4)),
        *(f"s{size}{lower[-size:]}" for size in (2, 3, 4)),
        *(f"c{word}", f"x{shape}{lower in CALENDAR}{lower in HONORIFICS}{lower in ORGANISATIONS}"),
    ]
    coded = [one.encode("utf-8", "replace") for one in own]
    beside = (coded[0], coded[1], coded[3], coded[2])
    places = zip(_SEEDS, (coded[:1], beside, coded, beside, coded[:1]), strict=True)
    return [crc32(one, seed) % HASHES for seed, features in places for one in features]


def _letter(character: str) -> str:
    if character.isupper():
        return "X"
    if character.islower():
        return "x"
    return "d" if character.isdigit() else character


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
