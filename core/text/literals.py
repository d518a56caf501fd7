"""Find which of many literals a text has, whatever its case, in one pass."""

from collections.abc import Iterable, Sequence

import numpy as np

from muisti.core.kernels.ascii import TRIGRAMS, present, trigram


class Literals:
    """Up to 64 different literals in lower case, each of at least 3 bytes in UTF-8."""

    def __init__(self, literals: Sequence[str]) -> None:
        encoded = [literal.encode() for literal in literals]
        if len(set(encoded)) > 64 or len(set(encoded)) < len(encoded) or any(len(one) < 3 for one in encoded):
            raise ValueError("up to 64 different literals of at least 3 bytes are allowed")
        self._bits = {literal: 1 << place for place, literal in enumerate(literals)}
        self._heads = np.full(TRIGRAMS, -1, np.int32)
        self._chain = np.full(len(literals), -1, np.int32)
        self._starts = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
        self._bytes = np.frombuffer(b"".join(encoded), np.int8)
        for place, one in enumerate(encoded):
            at = trigram(*one[:3])
            self._chain[place], self._heads[at] = self._heads[at], place

    def mask(self, literals: Iterable[str]) -> int:
        """Return the bits of some of the literals."""
        return sum(self._bits[literal] for literal in set(literals))

    def present(self, text: str) -> int:
        """Return a bit for each literal in the text, whatever the case of its letters.

        >>> both = Literals(("pass", "token"))
        >>> both.present("The PASSWORD.") == both.mask(["pass"])
        True
        """
        if not text.isascii():
            text = text.lower()
        data = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.int8)
        return int(present(data, self._heads, self._chain, self._starts, self._bytes)) if len(data) else 0
