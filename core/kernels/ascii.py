"""Loops over texts in ASCII: their tokens, passages, words and literals.

A text is an array of its bytes. For other texts `core/text` and `core/embedding` have slower code; both give the same
results where both work. These loops take microseconds and keep the GIL: to get it back takes up to 5 ms.
"""

import numpy as np

from muisti.core.kernels.target import Bytes, Codes, Ints, Longs, compiled

SPACE, WORD, MARK = range(3)  # kinds of characters, as `\s` and `\w` of Python's `re` have them
ANYWHERE, BETWEEN_WORDS, SENTENCE, PARAGRAPH = range(4)  # how good a border before a token is
LINK, END, BRACKET, PLAIN = 1, 2, 4, 8  # bits of `TRAITS`

_PRIME = np.uint64(0x100000001B3)  # FNV-1a: Fowler, Noll, Vo
_BASIS = np.uint64(0xCBF29CE484222325)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_BITS = 12
TRIGRAMS = 1 << _BITS  # values of the hash of three bytes
_CASE = np.int8(32)

QUICK = True  # keep the GIL


def _kind(char: str) -> int:
    return SPACE if char.isspace() else WORD if char.isalnum() or char == "_" else MARK


def _traits(char: str) -> int:
    return (
        LINK * (char in "-./:+#") + END * (char in ".!?") + BRACKET * (char in "\"')]") + PLAIN * ("!" <= char <= "~")
    )


KINDS = np.array([_kind(chr(code)) for code in range(128)], np.int8)
TRAITS = np.array([_traits(chr(code)) for code in range(128)], np.int8)


@compiled
def count(text: Bytes, longest: int) -> int:
    """Return the number of tokens. A token is a mark, or a word of up to `longest` characters."""
    found, room = 0, 0
    for char in text:
        kind = KINDS[char]
        if kind == WORD:
            if room == 0:
                found, room = found + 1, longest
            room -= 1
        else:
            found, room = found + int(kind == MARK), 0
    return found


@compiled
def counts(text: Bytes, borders: Longs, longest: int, out: Longs) -> None:
    """Fill `out` with the number of tokens between each two neighbouring borders."""
    for i in range(out.size):
        out[i] = count(text[borders[i] : borders[i + 1]], longest)


@compiled
def tokens(text: Bytes, longest: int, starts: Longs, ranks: Bytes) -> int:
    """Fill in where each token starts and how good a border before it is; return how many there are."""
    found, room, newlines, ends, blank = 0, 0, 0, False, False
    for at in range(text.size):
        char = text[at]
        kind = KINDS[char]
        if kind == SPACE:
            newlines, blank, room = newlines + np.int64(char == 10), True, 0
            continue
        if kind == MARK or room == 0:
            starts[found] = at
            ranks[found] = ANYWHERE
            if blank:
                ranks[found] = PARAGRAPH if newlines > 1 else SENTENCE if newlines == 1 or ends else BETWEEN_WORDS
            found += 1
            room = longest if kind == WORD else 0
        room -= np.int64(kind == WORD)
        ends = (TRAITS[char] & END) != 0 or (ends and not blank and (TRAITS[char] & BRACKET) != 0)
        newlines, blank = 0, False
    return found


@compiled
def passages(starts: Longs, ranks: Bytes, size: int, most: int, overlap: int, out: Longs) -> int:
    """Fill `out` with the first token of each passage and the token after its last, two a passage; return how many.

    `core.text.sentences.split` says where passages begin and end. The last one ends with the text.
    """
    found, first, count = 0, 0, starts.size
    while count - first > most:
        cut = first + most // 2
        for at in range(cut, first + most + 1):
            if ranks[at] >= ranks[cut]:
                cut = at
        out[2 * found] = starts[first] if first else 0
        out[2 * found + 1] = starts[cut]
        found += 1
        first = cut
        if overlap:
            first = cut - overlap
            for at in range(first + 1, cut):
                if min(ranks[at], SENTENCE) > min(ranks[first], SENTENCE):
                    first = at
    out[2 * found], out[2 * found + 1] = starts[first] if first else 0, size
    return found + 1


@compiled
def runs(text: Bytes, out: Ints) -> int:
    """Fill `out` with where each run of `core.text.terms` starts and stops, two numbers a run; return how many."""
    found, at = 0, 0
    while at < text.size:
        start = at
        if text[at] == 46 and (at == 0 or (KINDS[text[at - 1]] != WORD and text[at - 1] != 46)):
            at += 1
        if at == text.size or KINDS[text[at]] != WORD:
            at = start + 1
            continue
        at = _after_word(text, at)
        while at + 1 < text.size and TRAITS[text[at]] & LINK and KINDS[text[at + 1]] == WORD:
            at = _after_word(text, at + 1)
        if at + 1 < text.size and text[at] == 43 and text[at + 1] == 43:
            at += 2
        elif at < text.size and text[at] == 35:
            at += 1
        out[2 * found], out[2 * found + 1] = start, at
        found += 1
    return found


@compiled
def words(text: Bytes, out: Ints) -> int:
    """Fill `out` with where each word of letters and digits, and each mark, starts and stops; return how many.

    -1 when the text has control characters other than tabs and line ends.
    """
    found, at = 0, 0
    while at < text.size:
        start, char = at, text[at]
        at += 1
        if KINDS[char] == WORD and char != 95:
            while at < text.size and KINDS[text[at]] == WORD and text[at] != 95:
                at += 1
        elif not TRAITS[char] & PLAIN:
            if char != 32 and char != 9 and char != 10 and char != 13:
                return -1
            continue
        out[2 * found], out[2 * found + 1] = start, at
        found += 1
    return found


@compiled
def look_up(
    text: Bytes,
    spans: Ints,
    longest: int,
    slots: Ints,
    hashes: Codes,
    key_starts: Longs,
    keys: Bytes,
    traits: Longs,
    value_starts: Longs,
    values: Codes,
    out: Codes,
    missing: Ints,
    first: Longs,
) -> tuple[int, int]:
    """Fill `out` with the values of the spans, and `first` with the traits of the first ones.

    Return how many values there are, and how many spans are unknown: -1 when one is longer than `longest`. `spans` are
    starts and stops. The table is that of `core.text.forms`. `missing` gets the places of unknown spans. More
    values than `out` has places are counted only.
    """
    filled, unknown = 0, 0
    for i in range(spans.size // 2):
        word = text[spans[2 * i] : spans[2 * i + 1]]
        if word.size > longest:
            return 0, -1
        entry = slots[_slot(word, slots, hashes, key_starts, keys)]
        if entry < 0:
            missing[unknown] = i
            unknown += 1
            continue
        if i < first.size:
            first[i] = traits[entry]
        for at in range(value_starts[entry], value_starts[entry + 1]):
            if filled < out.size:
                out[filled] = values[at]
            filled += 1
    return filled, unknown


@compiled
def insert(key: Bytes, entry: int, slots: Ints, hashes: Codes, key_starts: Longs, keys: Bytes) -> int:
    """Enter a key as `entry`; return 1 if it is new, else 0."""
    at = _slot(key, slots, hashes, key_starts, keys)
    if slots[at] >= 0:
        return 0
    slots[at], hashes[entry] = entry, _hash(key)
    return 1


@compiled
def normal(text: Bytes, out: Bytes) -> int:
    """Fill `out` with the text in lower case, a space for white space, and none at its ends; return how long it is."""
    found, blank = 0, False
    for char in text:
        if KINDS[char] == SPACE:
            blank = found > 0
            continue
        if blank:
            out[found] = 32
            found, blank = found + 1, False
        out[found] = _small(char)
        found += 1
    return found


@compiled
def language(speakers: Longs, languages: int, clearly: int, enough: int) -> int:
    """Return the language of `core.text.language.language_of` by the speakers of its first words."""
    clear = 0
    for one in speakers:
        clear += np.int64(one < 0)
    if clearly * clear >= speakers.size:
        return 0
    votes, weights = np.zeros(languages, np.int64), np.zeros(languages, np.float64)
    known = (1 << languages) - 1
    for one in speakers:
        if not one & known:
            continue
        share = 0
        for place in range(languages):
            share += one >> place & 1
        for place in range(languages):
            if one >> place & 1:
                votes[place] += 1
                weights[place] += 1 / share
    best = 0
    for place in range(languages):
        if weights[place] > weights[best]:
            best = place
    return best if votes[best] >= enough else 0


@compiled
def _after_word(text: Bytes, at: int) -> int:
    while at < text.size and KINDS[text[at]] == WORD:
        at += 1
    return at


@compiled
def _hash(key: Bytes) -> np.uint64:
    value = _BASIS
    for char in key:
        value = (value ^ np.uint64(np.uint8(char))) * _PRIME
    return value


@compiled
def _slot(key: Bytes, slots: Ints, hashes: Codes, key_starts: Longs, keys: Bytes) -> int:
    """Return the slot of a key, or the free one where it belongs."""
    value = _hash(key)
    at = np.int64((value * _MIX) >> np.uint64(40)) & (slots.size - 1)
    while slots[at] >= 0:
        entry = slots[at]
        if hashes[entry] == value and key_starts[entry + 1] - key_starts[entry] == key.size:
            same = True
            for i in range(key.size):
                same = same and keys[key_starts[entry] + i] == key[i]
            if same:
                break
        at = (at + 1) & (slots.size - 1)
    return int(at)


@compiled
def present(text: Bytes, heads: Ints, chain: Ints, starts: Ints, literals: Bytes) -> np.uint64:
    """Return a bit for each literal that a text has, whatever the case of ASCII letters in the text.

    Literals have at least three bytes, and none of them a capital. `heads` has the first literal for each hash of
    three bytes and `chain` the next one, -1 for none.
    """
    found = np.uint64(0)
    for at in range(text.size - 2):
        one = heads[trigram(int(_small(text[at])), int(_small(text[at + 1])), int(_small(text[at + 2])))]
        while one >= 0:
            size = starts[one + 1] - starts[one]
            same = at + size <= text.size
            for i in range(size):
                same = same and _small(text[at + i]) == literals[starts[one] + i]
            if same:
                found |= np.uint64(1) << np.uint64(one)
            one = chain[one]
    return found


@compiled
def _small(char: np.int8) -> np.int8:
    return char | _CASE if 65 <= char <= 90 else char


@compiled
def trigram(one: int, two: int, three: int) -> int:
    """Return the hash of three bytes."""
    whole = (
        np.uint64(np.uint8(one))
        | np.uint64(np.uint8(two)) << np.uint64(8)
        | np.uint64(np.uint8(three)) << np.uint64(16)
    )
    return int((whole * _MIX) >> np.uint64(64 - _BITS))


def bake() -> None:
    """Compile for the types that texts have."""
    text, ints, longs, codes = (
        np.zeros(3, np.int8),
        np.zeros(6, np.int32),
        np.zeros(4, np.int64),
        np.zeros(2, np.uint64),
    )
    count(text, 24)
    counts(text, longs[:2], 24, longs[:1])
    tokens(text, 24, longs, text.copy())
    passages(longs[:1], text, 3, 256, 32, longs)
    runs(text, ints)
    words(text, ints)
    look_up(text, ints[:0], 64, ints, codes, longs, text, longs, longs, codes, codes, ints, longs)
    normal(text, text.copy())
    language(longs, 1, 3, 2)
    insert(text, 0, np.full(4, -1, np.int32), codes, longs, text)
    present(text, np.full(TRIGRAMS, -1, np.int32), ints, ints, text)
    trigram(1, 2, 3)
