"""WordPiece of words in plain ASCII: each is cut into the longest pieces that the vocabulary has, from its start.

Schuster and Nakajima, "Japanese and Korean voice search", 2012, as BERT uses it. The tokenizer's library does it too,
for all scripts; here it is because loading that library and its tables takes longer than all else that a start loads.
"""

from collections.abc import Mapping
from typing import Any


class WordPiece:
    """The pieces of words. `words` are letters and digits of ASCII, or one punctuation mark."""

    def __init__(self, vocabulary: Mapping[str, int], unknown: int, prefix: str, longest: int) -> None:
        """`prefix` marks pieces that go on with a word; a word of over `longest` characters is unknown."""
        self._vocabulary = vocabulary
        self._unknown = [unknown]
        self._prefix = prefix
        self._longest = longest

    def pieces(self, word: str) -> list[int]:
        """The numbers of a word's pieces.

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
        """The piece that begins at `start`, and where it ends."""
        prefix = self._prefix if start else ""
        for stop in range(len(word), start, -1):
            piece = self._vocabulary.get(prefix + word[start:stop])
            if piece is not None:
                return piece, stop
        return None, start


def word_piece(rules: Mapping[str, Any], numbers: Mapping[str, int]) -> WordPiece | None:
    """What a `tokenizer.json` says, where it is BERT's kind without case; None where it is another."""
    parts: list[dict[str, Any]] = [rules.get(part) or {} for part in ("normalizer", "pre_tokenizer", "model")]
    if [part.get("type") for part in parts] != ["BertNormalizer", "BertPreTokenizer", "WordPiece"]:
        return None
    normalizer, _, model = parts
    if not normalizer["lowercase"]:
        return None
    longest: int = model["max_input_chars_per_word"]
    return WordPiece(numbers, numbers[model["unk_token"]], model["continuing_subword_prefix"], longest)
