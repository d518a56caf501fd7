"""Give one form to texts that differ only in case, width, white space or how an accent is written, in linear time."""

import re
import unicodedata
from hashlib import blake2b
from typing import Literal

import numpy as np

from muisti.core.kernels import ascii as loops
from muisti.core.text.word_table import ascii_bytes

STACK = 32  # marks in a row; Unicode's Stream-Safe Text Format allows 30 on one letter
GROWTH = 18  # characters that NFKC makes of one, at most
_PIECE = 1_024  # characters that are normalised at a time to measure a text
_STACKS = re.compile(rf"[^\w\s\x00-\x7f]{{{STACK + 1},}}+")


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
    r"""Give one form to texts that differ only in case, width and white space.

    >>> normalise("  Ｄeploy\n ON  friday ")
    'deploy on friday'
    """
    return " ".join(uniform(text).split())


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
