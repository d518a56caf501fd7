"""Give one form to texts that differ only in case, width, white space, dashes or quotes, or how accents are written.

Words in ASCII are looked up in compiled loops.
"""

import unicodedata
from collections.abc import Callable, Sequence
from hashlib import blake2b
from threading import Lock
from typing import Literal, TypeVar, cast

import numpy as np

from muisti.core.kernels import Bytes, Codes, Ints, Longs
from muisti.core.kernels import ascii as loops
from muisti.core.kernels.ascii import insert, look_up
from muisti.core.support.regex import regex

Array = TypeVar("Array", Bytes, Codes)

WORTH = 64  # characters; a shorter text is analysed sooner without a compiled loop
_SLOTS = 2  # places for each word, so that few words share one


def ascii_bytes(text: str) -> Bytes | None:
    """Return the bytes of a text for the loops of `core.kernels.ascii`; None when it is short or has other letters."""
    return np.frombuffer(text.encode("ascii"), np.int8) if len(text) >= WORTH and text.isascii() else None


class WordTable:
    """Hash table of words in ASCII, each with values of 8 bytes, that is emptied when it is full. Thread-safe."""

    def __init__(
        self,
        work_out: Callable[[str], bytes],
        most: int,
        longest: int,
        traits_of: Callable[[str], int] = lambda word: 0,
    ) -> None:
        """`work_out` returns the values of a word, `traits_of` a number of 64 bits.

        At most `most` words of up to `longest` characters are kept.
        """
        self._work_out, self._most, self._longest, self._traits_of = work_out, most, longest, traits_of
        self._lock = Lock()
        self._out = np.empty(1_024, np.uint64)
        self._clear()

    def of(self, text: str, data: Bytes, spans: Ints, near: int = 0) -> tuple[bytes, Longs] | None:
        """Return the values of all spans of a text in order, and the traits of the first `near` spans.

        `spans` are starts and stops. None when a word is too long, or there are too many.
        """
        first = np.empty(min(near, len(spans) // 2), np.int64)
        if len(spans) // 2 > self._most:
            return None
        missing = np.empty(len(spans) // 2, np.int32)
        with self._lock:
            while True:
                filled, unknown = look_up(
                    data, spans, self._longest, self._slots, self._hashes, self._key_starts, self._keys,
                    self._traits, self._value_starts, self._values, self._out, missing, first,
                )  # fmt: skip
                if unknown < 0:
                    return None
                if unknown:
                    self._enter(text, data, spans, missing[:unknown].tolist())
                elif filled > len(self._out):
                    self._out = np.empty(2 * filled, np.uint64)
                else:
                    return self._out[:filled].tobytes(), first

    def _clear(self) -> None:
        bits = (_SLOTS * self._most - 1).bit_length()
        self._count = 0
        self._slots = np.full(1 << bits, -1, np.int32)
        self._hashes, self._traits = np.zeros(self._most, np.uint64), np.zeros(self._most, np.int64)
        self._key_starts, self._value_starts = np.zeros((2, self._most + 1), np.int64)
        self._keys, self._values = np.zeros(4_096, np.int8), np.zeros(4_096, np.uint64)

    def _enter(self, text: str, data: Bytes, spans: Ints, missing: list[int]) -> None:
        if self._count + len(missing) > self._most:
            self._clear()
        for place in missing:
            start, stop = spans[2 * place : 2 * place + 2].tolist()
            word = data[start:stop]
            if insert(word, self._count, self._slots, self._hashes, self._key_starts, self._keys):
                self._fill(text[start:stop], word)

    def _fill(self, word: str, key: Bytes) -> None:
        values: Codes = np.frombuffer(self._work_out(word), np.uint64)
        count, self._count = self._count, self._count + 1
        at, behind = int(self._key_starts[count]), int(self._value_starts[count])
        self._keys = _roomy(self._keys, at + len(key))
        self._values = _roomy(self._values, behind + len(values))
        self._keys[at : at + len(key)] = key
        self._values[behind : behind + len(values)] = values
        self._key_starts[count + 1], self._value_starts[count + 1] = at + len(key), behind + len(values)
        self._traits[count] = self._traits_of(word)


def _roomy(array: Array, size: int) -> Array:
    """Return the array, or a copy of twice its size, with at least `size` places."""
    return array if size <= len(array) else cast(Array, np.resize(array, max(size, 2 * len(array))))


INVISIBLE = "\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff"
"""Soft hyphens, joiners, marks of direction and selectors of a form, as ranges for a pattern."""

_INVISIBLE = regex(f"[{INVISIBLE}]")
_VARIANTS = {
    **dict.fromkeys("‐‑‒–—―−⁃﹘", "-"),
    **dict.fromkeys("‘’‚‛′‹›ʹʻʼʽ׳", "'"),
    **dict.fromkeys("“”„‟″«»״〝〞", '"'),
}
_VARIANT = regex(f"[{''.join(_VARIANTS)}]")

STACK = 32  # marks in a row; Unicode's Stream-Safe Text Format allows 30 on one letter
GROWTH = 18  # characters that NFKC makes of one, at most
_PIECE = 1_024  # characters that are normalised at a time to measure a text
_STACKS = regex(rf"[^\w\s\x00-\x7f]{{{STACK + 1},}}+")


def fold(text: str) -> str:
    """Give one form to names that differ only in case or in how an accent is written.

    >>> fold("Cafe\\u0301") == fold("CAFÉ")
    True
    """
    return to_form("NFC", to_form("NFC", text).casefold())


def composed(text: str) -> str:
    """Return the NFC form, in linear time."""
    return to_form("NFC", text)


def outgrows(text: str, most: int) -> bool:
    """Return whether the NFKC form is longer than `most` characters, without building more of it than that.

    One character becomes up to 18 (U+FDFA), so a text within its limit may hide one of many times its length.

    >>> outgrows("\ufdfa" * 10, 180), outgrows("\ufdfa" * 10, 179)
    (False, True)
    """
    if text.isascii() or len(text) * GROWTH <= most:
        return len(text) > most
    length = 0
    for start in range(0, len(text), _PIECE):
        length += len(to_form("NFKC", text[start : start + _PIECE]))
        if length > most:
            return True
    return False


def normalise(text: str) -> str:
    r"""Give one form to texts that differ only in case, width, white space, dashes, quotes and invisible characters.

    >>> normalise("  Ｄe\u00adploy\n ON  friday ")
    'deploy on friday'
    """
    return " ".join(regular(uniform(plain(text))).split())


def uniform(text: str) -> str:
    """Give one form to characters that differ only in case and width."""
    return to_form("NFKC", to_form("NFKC", text).casefold())


def same_text_hash(text: str) -> bytes:
    """Return 16 bytes that are equal for texts of the same `normalise`d form."""
    data = ascii_bytes(text)
    if data is None:
        return blake2b(normalise(text).encode("utf-8", "surrogatepass"), digest_size=16).digest()
    out = np.empty(len(data), np.int8)
    return blake2b(out[: loops.normal(data, out)], digest_size=16).digest()


def plain(text: str) -> str:
    """Return the NFKC form without invisible characters, with one kind of hyphen and of each quote.

    >>> plain("co\u00adoperate – it’s “so”")
    'cooperate - it\\'s "so"'
    """
    return regular(text if text.isascii() else to_form("NFKC", _INVISIBLE.sub("", text)))


def regular(text: str) -> str:
    """Return the text with one kind of hyphen and of each quote, at the same places."""
    return text if text.isascii() else _VARIANT.sub(lambda found: _VARIANTS[found[0]], text)


def visible(text: str) -> Sequence[int]:
    """Return the places of the characters that are visible."""
    gone = {found.start() for found in _INVISIBLE.finditer(text)}
    return [at for at in range(len(text)) if at not in gone] if gone else range(len(text))


def to_form(form: Literal["NFC", "NFKC"], text: str) -> str:
    """Normalise in linear time. Blanks take the place of marks where a text stacks more than `STACK`.

    `unicodedata` sorts the marks on a letter by insertion, which takes 20 seconds for 100,000 of them.
    """
    return text if text.isascii() else unicodedata.normalize(form, unstacked(text))


def unstacked(text: str) -> str:
    """Return the text with blanks in place of marks where it stacks more than `STACK` on a letter."""
    # The half-width voicing marks are the only letters that decompose to nothing but a mark.
    text = text.replace("\uff9e", "\u3099").replace("\uff9f", "\u309a")
    return _STACKS.sub(lambda stack: "".join(" " if is_mark(char) else char for char in stack[0]), text)


def is_mark(char: str) -> bool:
    """Return whether a character is an accent or a vowel sign."""
    return unicodedata.category(char)[0] == "M"
