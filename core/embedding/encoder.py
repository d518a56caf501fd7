"""Text to vectors by a static model, which sums one vector for each token.

The model loads on first use, because most reads do not need it. It is a folder in the format of model2vec:
`tokenizer.json`, `config.json` and `model.safetensors`. The last has `embeddings` (tokens, dimensions), and may have
`weights` and `mapping` for each token of the tokenizer.

Two extensions are ours. `query_weights` replace `weights` in questions. With `"repeats": "sqrt"` in the
configuration, a token that occurs n times in a text counts sqrt(n).
"""

import hashlib
import importlib
import json
import re
from array import array
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, Protocol

import msgspec
import numpy as np

from muisti.core.embedding import bert_words
from muisti.core.embedding.vectors import Vectors
from muisti.core.kernels import Doubles, Floats, Longs
from muisti.core.kernels import ascii as loops
from muisti.core.kernels.pooling import Table, pool_tokens
from muisti.core.model.errors import InvalidInput
from muisti.core.support.memo import Memo, Once, memoised
from muisti.core.text.forms import WordTable, ascii_bytes

# The tokens of texts, with each word looked up once.
#
# A tokenizer of BERT's kind cuts a text at spaces, and plain ASCII into words and punctuation marks. So the tokens of
# words are cached. Other tokenizers get whole texts, and only those need the `tokenizers` library.

# WordPiece: each word is cut, from its start, into the longest pieces that the vocabulary has


class WordPiece:
    """Cuts words into pieces. A word is a run of letters and digits, or one punctuation mark or ideograph."""

    def __init__(self, vocabulary: Mapping[str, int], unknown: int, prefix: str, longest: int) -> None:
        """`prefix` marks pieces that continue a word; a word of over `longest` characters is unknown."""
        self._vocabulary = vocabulary
        self._unknown = [unknown]
        self._prefix = prefix
        self._longest = longest
        self._longest_known = max(map(len, vocabulary), default=0)

    def whole(self, word: str) -> int | None:
        """Return the number of a word of small letters and digits that is one piece, else None."""
        return self._vocabulary.get(word) if word.isalnum() else None

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
        for stop in range(min(len(word), start + self._longest_known), start, -1):
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
    if not all(normalizer.get(rule) for rule in ("lowercase", "clean_text", "handle_chinese_chars")):
        return None
    if normalizer.get("strip_accents") is False or any(
        added.get(rule) for added in rules["added_tokens"] for rule in _RULES
    ):
        return None
    longest: int = model["max_input_chars_per_word"]
    return WordPiece(numbers, numbers[model["unk_token"]], model["continuing_subword_prefix"], longest)


_RULES = ("single_word", "lstrip", "rstrip", "normalized")  # by which a mark of its own may be found elsewhere

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
        """Number of the token of unknown words; None when the tokenizer has none."""
        self._marks: dict[str, int] = {added["content"]: added["id"] for added in parsed["added_tokens"]}
        self._size = len(numbers) + sum(mark not in numbers for mark in self._marks)
        ordered = sorted(self._marks, key=len, reverse=True)
        self._between_marks = re.compile(f"({'|'.join(map(re.escape, ordered))})")  # matched anywhere, verbatim
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

    def of_word(self, word: str) -> Longs:
        """Return the tokens of a text that is one word."""
        found = self._of_word(word) if self._word_piece else self._whole([word])[0]
        return np.frombuffer(found, np.int64)

    def whole(self, word: str) -> int | None:
        """Return the token of a folded word that is known to be a single one, else None."""
        return None if self._word_piece is None else self._word_piece.whole(word)

    def _of_words(self, text: str) -> bytes:
        if any(mark in text for mark in self._marks):
            return b"".join(map(self._of_part, filter(None, self._between_marks.split(text))))
        if (data := ascii_bytes(text)) is not None:
            spans = np.empty(2 * len(text), np.int32)
            count = loops.words(data, spans)
            if count >= 0 and (found := self._table.of(text, data, spans[: 2 * count])) is not None:
                return found[0]
        words = _words(text) if _PLAIN.fullmatch(text) else chain.from_iterable(map(_words_between, text.split(" ")))
        return b"".join(map(self._of_word, words))

    def _of_part(self, part: str) -> bytes:
        number = self._marks.get(part)
        return self._of_words(part) if number is None else array("q", [number]).tobytes()

    def _worked_out(self, stretch: str) -> bytes:
        assert self._word_piece is not None
        found = [stretch] if _PLAIN.fullmatch(stretch) else bert_words.words(stretch)
        return array("q", chain.from_iterable(map(self._word_piece.pieces, found))).tobytes()

    def _asked(self, text: str) -> bytes:
        return array("q", self._library.encode(text, add_special_tokens=False).ids).tobytes()

    def _whole(self, texts: Sequence[str]) -> list[bytes]:
        if len(texts) <= FEW:
            return [self._asked(text) for text in texts]
        found = self._library.encode_batch_fast(list(texts), add_special_tokens=False)
        return [array("q", encoding.ids).tobytes() for encoding in found]

    @cached_property
    def _library(self) -> Any:
        tokenizer = tokenizer_of(self._rules)
        tokenizer.no_truncation()  # texts are already cut into passages
        tokenizer.no_padding()
        return tokenizer


def tokenizer_of(rules: bytes) -> Any:
    """Return the library's tokenizer from a `tokenizer.json`.

    Raises:
        ValueError: the file describes none.
        InvalidInput: the library is not installed.
    """
    with _from_extra():
        load: Any = importlib.import_module("tokenizers").Tokenizer.from_buffer
    try:
        return load(rules)
    except Exception as error:  # the library raises plain `Exception`
        raise ValueError(f"tokenizer.json: {error}") from error


@contextmanager
def _from_extra() -> Generator[None]:
    """Refuse a model that needs a package which is not installed."""
    try:
        yield
    except ImportError as error:
        problem = f"this model needs {error.name}, which is not installed: pip install 'muisti[models]'"
        raise InvalidInput.at("$.model", problem) from error


def _parsed(rules: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(rules, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise ValueError(f"tokenizer.json: {error}") from error


def _numbers(model: Mapping[str, Any]) -> Mapping[str, int]:
    vocabulary: Mapping[str, int] | list[tuple[str, float]] = model["vocab"]
    if isinstance(vocabulary, list):
        return {word: number for number, (word, _) in enumerate(vocabulary)}
    return vocabulary


_words = _WORDS.findall


def _words_between(stretch: str) -> Iterable[str]:
    """Return the words between two spaces; the stretch itself when its characters are not plain."""
    return _words(stretch) if _PLAIN.fullmatch(stretch) else (stretch,)


SHIPPED, NAME = Path(__file__).parent / "weights", "muisti-static-256"
FILES = ("config.json", "model.safetensors", "tokenizer.json")
RARE = 1.2  # weight of a word that the vocabulary has only in parts
TEXTS = 256  # cached vectors of the words of short texts: at most 30 MB, and mostly 3
QUESTIONS = 4_096  # cached vectors of questions: 4 MB at 256 dimensions


class Encoder(Protocol):
    """Interface of embedding models. `identity` is a hash: equal identities give equal vectors."""

    @property
    def identity(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    @property
    def deferred(self) -> bool:
        """Tell whether embedding takes long or may fail, so that background work embeds the texts."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return unit-length rows, float32 (len(texts), dimensions).

        A text without known words, or one that the model refuses, gets zeros.

        Raises:
            ModelUnavailable: the model cannot embed now. Only a deferred one raises it.
        """
        ...

    def encode_query(self, text: str) -> Floats:
        """Return the vector of a question, float32 (dimensions,), read-only, for comparison with those of `encode`.

        Raises:
            ModelUnavailable: the model cannot embed now, or not in time. Only a deferred one raises it.
        """
        ...


class _Model(msgspec.Struct, frozen=True):
    tokens: Tokens
    table: Table
    places: Longs  # the row of `table` for each token
    weights: Floats
    query_weights: Floats
    damped: bool
    identity: str


class StaticEncoder:
    """Static model from a folder or, where a model hub can be reached, by its name there. Thread-safe."""

    deferred = False

    def __init__(self, model: str | None = None) -> None:
        """Choose a model by its path or its name on the hub; None is the model that ships with Muisti."""
        self._name = model
        self._load = _SHIPPED if model is None else Once(lambda: _loaded(model))
        self._remembered = memoised(QUESTIONS)(self._encode_query)
        self._words_of = memoised(TEXTS)(self._encode_words)
        self._weight_of = Memo(self._word_weight, MEMO, LONG).__getitem__

    @property
    def name(self) -> str:
        return self._name or NAME

    @property
    def identity(self) -> str:
        return self._load().identity

    @property
    def dimensions(self) -> int:
        return int(self._load().table.shape[1])

    @property
    def loaded(self) -> bool:
        return self._load.made

    def encode(self, texts: Sequence[str]) -> Vectors:
        model = self._load()
        return _pooled(model, model.weights, texts)

    def encode_query(self, text: str) -> Floats:
        return self._remembered(text)

    def words(self, words: tuple[str, ...]) -> tuple[Floats, Floats]:
        """Return the unit vector and the weight of each word, read-only; of several tokens at least `RARE`."""
        return self._words_of(words)

    def weights(self, words: Iterable[str]) -> Doubles:
        """Return the weight of each word, as `words` does."""
        return np.array([*map(self._weight_of, words)], np.float64)

    def _word_weight(self, word: str) -> float:
        model = self._load()
        if (whole := model.tokens.whole(word)) is not None:
            return float(model.query_weights[whole])
        found = model.query_weights[model.tokens.of_word(word)].tolist()
        return max(found, default=0.0) if len(found) < 2 else max(*found, RARE)

    def _encode_words(self, words: tuple[str, ...]) -> tuple[Floats, Floats]:
        model = self._load()
        tokens, starts = model.tokens.of(words)
        out = np.empty((len(words), model.table.shape[1]), np.float32)
        pool_tokens(model.table, model.places, model.query_weights, tokens, starts, model.damped, out)
        counts, weights = np.diff(starts), np.zeros(len(words), np.float32)
        some = counts > 0
        weights[some] = np.maximum.reduceat(model.query_weights[tokens], starts[:-1][some])
        weights[counts > 1] = np.maximum(weights[counts > 1], RARE)
        out.flags.writeable = weights.flags.writeable = False
        return out, weights

    def _encode_query(self, text: str) -> Floats:
        model = self._load()
        vector = _pooled(model, model.query_weights, [text])[0]
        vector.flags.writeable = False
        return vector


def _loaded(name: str | None) -> _Model:
    try:
        return _read(_folder(name))
    except (OSError, ValueError, KeyError) as error:
        problem = f"{name or NAME!r} is no static model that can be loaded: {error}"
        raise InvalidInput.at("$.model", problem) from error


_SHIPPED = Once(lambda: _loaded(None))  # shared, because it takes 20 MB


def _pooled(model: _Model, weights: Floats, texts: Sequence[str]) -> Vectors:
    tokens, starts = model.tokens.of(texts)
    out = np.empty((len(texts), model.table.shape[1]), np.float32)
    pool_tokens(model.table, model.places, weights, tokens, starts, model.damped, out)
    return out


def _folder(name: str | None) -> Path:
    if name is None:
        return SHIPPED
    if Path(name).exists():
        return Path(name)
    with _from_extra():
        download: Any = importlib.import_module("huggingface_hub").snapshot_download
    return Path(download(name, allow_patterns=list(FILES)))


def _read(folder: Path) -> _Model:
    files = {name: (folder / name).read_bytes() for name in FILES}
    config = json.loads(files["config.json"])
    tokens = Tokens(files["tokenizer.json"])
    arrays = _arrays(files["model.safetensors"])
    table = np.ascontiguousarray(arrays["embeddings"])
    places = arrays.get("mapping", np.arange(len(table))).astype(np.int64)
    if len(places) != len(tokens) or places.max(initial=-1) >= len(table):
        raise ValueError(f"{len(table)} vectors do not fit the {len(tokens)} tokens of the tokenizer")
    weights = _weights(arrays.get("weights"), tokens)
    return _Model(
        tokens=tokens,
        table=table if table.dtype == np.int8 else table.astype(np.float32),
        places=places,
        weights=weights,
        query_weights=_weights(arrays["query_weights"], tokens) if "query_weights" in arrays else weights,
        damped=config.get("repeats") == "sqrt",
        identity=_digest(files),
    )


def _arrays(content: bytes) -> Mapping[str, np.ndarray]:
    load: Any = importlib.import_module("safetensors.numpy").load
    try:
        return load(content)
    except Exception as error:  # the library raises plain `Exception`
        raise ValueError(str(error)) from error


def _weights(given: np.ndarray | None, tokens: Tokens) -> Floats:
    """Return a weight for each token; the token of unknown words gets 0."""
    weights = np.ones(len(tokens), np.float32) if given is None else np.array(given, np.float32)
    if len(weights) != len(tokens):
        raise ValueError(f"{len(weights)} weights do not fit the {len(tokens)} tokens of the tokenizer")
    if tokens.unknown is not None:
        weights[tokens.unknown] = 0
    return weights


def _digest(files: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name in FILES:
        digest.update(files[name])
    return digest.hexdigest()[:32]
