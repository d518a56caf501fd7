"""Lists of words and names, kept as sorted hashes: whether a word is in the dictionary, a first name, a city, …"""

from collections.abc import Mapping, Sequence
from zlib import crc32

import numpy as np

from muisti.core.kernels import Packed

WORD, PROPER, FIRST, LAST, PLACE, CITY, REGION, OPENS = (1 << bit for bit in range(8))
"""In the dictionary in lower case, with a capital; first name; surname; city, large city, country or state; the first
word of a longer place."""

_CALENDAR_TEXT = """
january february march april june july august september october november december monday tuesday wednesday
thursday friday saturday sunday mon tue tues wed thu thurs fri sat sun jan feb mar apr jun jul aug sep sept oct
nov dec
"""
CALENDAR = frozenset(_CALENDAR_TEXT.split())
_HONORIFICS_TEXT = """
mr mrs ms dr prof sir lord lady president sen. rep. gov. mr. mrs. ms. dr. prof. st. st king queen uncle aunt
captain gen. col.
"""
HONORIFICS = frozenset(_HONORIFICS_TEXT.split())
_ORGANISATIONS_TEXT = """
inc corp co ltd llc company university college school institute bank group association council committee
department ministry agency party team club fc united inc. corp. co. ltd. news times press hospital church studio
studios
"""
ORGANISATIONS = frozenset(_ORGANISATIONS_TEXT.split())


class Lists:
    """Flags by word in lower case. A hash of 24 bits gives about one in 150 unknown words the flags of another."""

    def __init__(self, entries: Packed) -> None:
        """`entries` ascend; each has 24 bits of a hash above 8 bits of flags."""
        self._entries = entries
        self._hashes = entries >> np.uint32(8)

    def flags(self, word: str) -> int:
        """Return the flags of a word or of several with one space between; 0 when no list has it."""
        key = np.uint32(_hash(word))  # of the type of the array, which else is converted as a whole
        at = int(self._hashes.searchsorted(key))
        return int(self._entries[at]) & 255 if at < len(self._hashes) and self._hashes[at] == key else 0

    def flags_of(self, words: Sequence[str]) -> list[int]:
        """Return the flags of several words, looked up together."""
        if not len(self._entries):
            return [0] * len(words)
        keys = np.array([*map(_hash, words)], np.uint32)
        found = self._entries[np.minimum(self._hashes.searchsorted(keys), len(self._entries) - 1)]
        return np.where(found >> np.uint32(8) == keys, found & np.uint32(255), 0).tolist()


def packed(flags: Mapping[str, int]) -> Packed:
    """Return the entries of lists by word. The flags of words with equal hashes are united."""
    found: dict[int, int] = {}
    for word, own in flags.items():
        found[_hash(word)] = found.get(_hash(word), 0) | own
    return np.array(sorted(key << 8 | own for key, own in found.items()), np.uint32)


def _hash(word: str) -> int:
    return crc32(word.encode()) >> 8
