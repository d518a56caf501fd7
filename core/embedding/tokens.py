"""The tokens of texts, with each word looked up once.

A tokenizer of BERT's kind cuts a text at spaces, and plain ASCII into words and punctuation marks. So the tokens of
words are cached. Other tokenizers get whole texts. The `tokenizers` library loads only for those and for words that
are not plain ASCII.
"""

import importlib
import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, chain
from typing import Any

import msgspec
import numpy as np

from muisti.core.kernels import Longs
from muisti.core.kernels import ascii as loops
from muisti.core.support.memo import Memo
from muisti.core.text.forms import WordTable, ascii_bytes

# WordPiece of words in plain ASCII: each is cut, from its start, into the longest pieces that the vocabulary has


class WordPiece:
    """Cuts words into pieces. A word is letters and digits of ASCII, or one punctuation mark."""

    def __init__(self, vocabulary: Mapping[str, int], unknown: int, prefix: str, longest: int) -> None:
        """`prefix` marks pieces that continue a word; a word of over `longest` characters is unknown."""
        self._vocabulary = vocabulary
        self._unknown = [unknown]
        self._prefix = prefix
        self._longest = longest

    def pieces(self, word: str) -> list[int]:
        """Return the numbers of a word's pieces.

        >>> WordPiece({"?": 0, "mem": 1, "##ory": 2}, 0, "##", 100).pieces("Memory")
        [1, 2]
        """
        word = word.lower()
        found: list[int] = []
        start = 0
        while start < len(word) <= self._longest:
            piece, start = self._longest_piece(word, start)
            if piece is None:
                return self._unknown
            found.append(piece)
        return found or self._unknown

    def _longest_piece(self, word: str, start: int) -> tuple[int | None, int]:
        """Return the number of the longest piece at `start`, or None, and where the piece ends."""
        prefix = self._prefix if start else ""
        for stop in range(len(word), start, -1):
            piece = self._vocabulary.get(prefix + word[start:stop])
            if piece is not None:
                return piece, stop
        return None, start


def word_piece(rules: Mapping[str, Any], numbers: Mapping[str, int]) -> WordPiece | None:
    """Return the WordPiece of a `tokenizer.json`; None unless it is BERT's kind without case."""
    parts: list[dict[str, Any]] = [rules.get(part) or {} for part in ("normalizer", "pre_tokenizer", "model")]
    if [part.get("type") for part in parts] != ["BertNormalizer", "BertPreTokenizer", "WordPiece"]:
        return None
    normalizer, _, model = parts
    if not normalizer["lowercase"]:
        return None
    longest: int = model["max_input_chars_per_word"]
    return WordPiece(numbers, numbers[model["unk_token"]], model["continuing_subword_prefix"], longest)


MEMO = 32_768  # words
LONG = 64  # characters of a word that is not remembered
FEW = 8  # texts that one thread tokenizes; more texts use the library's own threads

# Without the control characters: the tokenizer drops them, so the text around one is a single word.
_PLAIN = re.compile(r"[\t\n\r -~]*+")
_WORDS = re.compile(r"[A-Za-z0-9]++|[!-/:-@\[-`{-~]")


class Tokens:
    """Tokenizer read from a `tokenizer.json`, the format of the `tokenizers` library. Thread-safe."""

    def __init__(self, rules: bytes) -> None:
        """Parse the file. Raises ValueError or KeyError when it is not of that format."""
        self._rules = rules
        parsed = _parsed(rules)
        numbers = _numbers(parsed["model"])
        unknown = parsed["model"].get("unk_token")
        self.unknown = numbers[unknown] if isinstance(unknown, str) else None
        """Number of the token that stands for an unknown word; None when the tokenizer has none."""
        self._marks: list[str] = [added["content"] for added in parsed["added_tokens"]]  # matched anywhere, verbatim
        self._size = len(numbers) + sum(mark not in numbers for mark in self._marks)
        self._word_piece = word_piece(parsed, numbers)
        self._of_word = Memo(self._worked_out, MEMO, LONG).__getitem__
        self._table = WordTable(self._worked_out, MEMO, LONG)
        if self._word_piece is None:
            self._library  # noqa: B018  # so that an invalid file is reported now

    def __len__(self) -> int:
        return self._size

    def of(self, texts: Sequence[str]) -> tuple[Longs, Longs]:
        """Return the tokens of all texts in a row, and the position where each text starts; the last one is the end."""
        found = [self._of_words(text) for text in texts] if self._word_piece else self._whole(texts)
        starts = [0, *accumulate(len(own) // 8 for own in found)]
        return np.frombuffer(bytearray().join(found), np.int64), np.array(starts, np.int64)

    def _of_words(self, text: str) -> bytes:
        if any(mark in text for mark in self._marks):
            return self._asked(text)
        if (data := ascii_bytes(text)) is not None:
            spans = np.empty(2 * len(text), np.int32)
            count = loops.words(data, spans)
            if count >= 0 and (found := self._table.of(text, data, spans[: 2 * count])) is not None:
                return found[0]
        words = _words(text) if _PLAIN.fullmatch(text) else chain.from_iterable(map(_words_between, text.split(" ")))
        return b"".join(map(self._of_word, words))

    def _worked_out(self, word: str) -> bytes:
        if self._word_piece is None or not _PLAIN.fullmatch(word):
            return self._asked(word)
        return array("q", self._word_piece.pieces(word)).tobytes()

    def _asked(self, text: str) -> bytes:
        return array("q", self._library.encode(text, add_special_tokens=False).ids).tobytes()

    def _whole(self, texts: Sequence[str]) -> list[bytes]:
        if len(texts) <= FEW:
            return [self._asked(text) for text in texts]
        found = self._library.encode_batch_fast(list(texts), add_special_tokens=False)
        return [array("q", encoding.ids).tobytes() for encoding in found]

    @cached_property
    def _library(self) -> Any:
        load: Any = importlib.import_module("tokenizers").Tokenizer.from_buffer
        try:
            tokenizer = load(self._rules)
        except Exception as error:  # the library raises plain `Exception`
            raise ValueError(str(error)) from error
        tokenizer.no_truncation()  # texts are already cut into passages
        tokenizer.no_padding()
        return tokenizer


def _parsed(rules: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(rules, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise ValueError(f"tokenizer.json: {error}") from error


def _numbers(model: Mapping[str, Any]) -> Mapping[str, int]:
    """Return the number of each word; where the vocabulary is a list, the number is the position."""
    vocabulary: Mapping[str, int] | list[tuple[str, float]] = model["vocab"]
    if isinstance(vocabulary, list):
        return {word: number for number, (word, _) in enumerate(vocabulary)}
    return vocabulary


_words = _WORDS.findall


def _words_between(stretch: str) -> Iterable[str]:
    """Return the words between two spaces; the stretch itself when its characters are not plain."""
    return _words(stretch) if _PLAIN.fullmatch(stretch) else (stretch,)
