"""The tokens of whole texts for a transformer, with the marks of their ends, cut at a longest number.

The rules are a `tokenizer.json`, or a `vocab.txt` as models of BERT's kind without case have it: one piece a line. For
such a vocabulary our own WordPiece cuts plain ASCII, which needs no library.
"""

import importlib
from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from muisti.core.embedding.tokens import Tokens

UNKNOWN, FIRST, LAST = "[UNK]", "[CLS]", "[SEP]"
LONGEST_WORD = 100  # characters; longer words are unknown


class SentenceTokens(Protocol):
    """A tokenizer of whole texts. `len` is the number of its tokens."""

    def __len__(self) -> int: ...

    def of(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of each text."""
        ...


def sentence_tokens(rules: bytes, suffix: str, longest: int) -> SentenceTokens:
    """Return the tokenizer that a file describes; `suffix` is that of its name, `longest` in tokens.

    Raises:
        ValueError: the file describes none.
    """
    return OfVocabulary(rules, longest) if suffix == ".txt" else OfLibrary(rules, longest)


class OfLibrary:
    """A tokenizer from a `tokenizer.json`, run by the `tokenizers` library. Thread-safe."""

    def __init__(self, rules: bytes, longest: int) -> None:
        load: Any = importlib.import_module("tokenizers").Tokenizer.from_buffer
        try:
            self._tokenizer = load(rules)
        except Exception as error:  # the library raises plain `Exception`
            raise ValueError(f"tokenizer.json: {error}") from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(longest)

    def __len__(self) -> int:
        return self._tokenizer.get_vocab_size()

    def of(self, texts: Sequence[str]) -> list[list[int]]:
        return [each.ids for each in self._tokenizer.encode_batch(list(texts))]


class OfVocabulary:
    """A tokenizer of BERT's kind without case, from its vocabulary. Thread-safe."""

    def __init__(self, vocabulary: bytes, longest: int) -> None:
        pieces = vocabulary.decode().splitlines()
        numbers = {piece: number for number, piece in enumerate(pieces)}
        missing = [mark for mark in (UNKNOWN, FIRST, LAST) if mark not in numbers]
        if missing:
            raise ValueError(f"the vocabulary lacks {', '.join(missing)}")
        self._first, self._last = numbers[FIRST], numbers[LAST]
        self._longest = longest
        self._tokens = Tokens(msgspec.json.encode(_rules(numbers)))

    def __len__(self) -> int:
        return len(self._tokens)

    def of(self, texts: Sequence[str]) -> list[list[int]]:
        found, starts = self._tokens.of(texts)
        spans = zip(starts.tolist(), starts[1:].tolist(), strict=False)
        room = self._longest - 2
        return [[self._first, *found[start : min(stop, start + room)].tolist(), self._last] for start, stop in spans]


def _rules(numbers: dict[str, int]) -> dict[str, object]:
    """Return the `tokenizer.json` of a vocabulary. Marks of ends in a text are text like any other."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordPiece",
            "unk_token": UNKNOWN,
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": LONGEST_WORD,
            "vocab": numbers,
        },
    }
