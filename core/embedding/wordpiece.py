"""WordPiece of words in plain ASCII: each is cut, from its start, into the longest pieces that the vocabulary has.

Schuster and Nakajima, "Japanese and Korean voice search", 2012, as BERT uses it. The `tokenizers` library does it for
all scripts. Loading that library takes longer than the rest of a start, so plain words are cut here.
"""

from collections.abc import Mapping
from typing import Any


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
