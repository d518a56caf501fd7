"""The tokens of texts, each word looked up once.

A tokenizer of BERT's kind treats what stands between two spaces by itself, and of plain ASCII each word and each
punctuation mark by itself. So the tokens of words are remembered; other kinds are asked for whole texts.
"""

import re
from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain
from typing import Any

import numpy as np

from core.kernels import Longs
from core.memo import Memo

MEMO = 32_768  # words
LONG = 64  # characters of a word that is not remembered
FEW = 8  # texts that one thread tokenizes; more go to the tokenizer's own threads

# Without the control characters, which are dropped, so that what stands around one is a single word.
_PLAIN = re.compile(r"[\t\n\r -~]*+")
_WORDS = re.compile(r"[A-Za-z0-9]++|[!-/:-@\[-`{-~]")


class Tokens:
    """Asks a `tokenizers.Tokenizer`. Thread-safe."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._by_words = (
            type(tokenizer.normalizer).__name__ == "BertNormalizer"
            and type(tokenizer.pre_tokenizer).__name__ == "BertPreTokenizer"
        )
        self._marks = [added.content for added in tokenizer.get_added_tokens_decoder().values()]  # found anywhere
        self._of_word = Memo(self._asked, MEMO, LONG).__getitem__

    def of(self, texts: Sequence[str]) -> tuple[Longs, Longs]:
        """The tokens of all texts, one after the other, and where those of each start; the last start is the end."""
        found = [self._of_words(text) for text in texts] if self._by_words else self._whole(texts)
        starts = [0, *accumulate(len(own) // 8 for own in found)]
        return np.frombuffer(bytearray().join(found), np.int64), np.array(starts, np.int64)

    def _of_words(self, text: str) -> bytes:
        if any(mark in text for mark in self._marks):
            return self._asked(text)
        words = _words(text) if _PLAIN.fullmatch(text) else chain.from_iterable(map(_words_between, text.split(" ")))
        return b"".join(map(self._of_word, words))

    def _asked(self, text: str) -> bytes:
        return array("q", self._tokenizer.encode(text, add_special_tokens=False).ids).tobytes()

    def _whole(self, texts: Sequence[str]) -> list[bytes]:
        if len(texts) <= FEW:
            return [self._asked(text) for text in texts]
        found = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [array("q", encoding.ids).tobytes() for encoding in found]


_words = _WORDS.findall


def _words_between(stretch: str) -> Iterable[str]:
    """The words of what stands between two spaces, or itself when its characters are not plain."""
    return _words(stretch) if _PLAIN.fullmatch(stretch) else (stretch,)
