"""Text to vectors by a transformer in ONNX format, run by ONNX Runtime in this process. Vectors have unit length.

A model is a file `model.onnx` with a `tokenizer.json`, in a folder or inside an installed Python package. Some packages
have no tokenizer; then it must be named. The tokenizer must be that of the model, because other tokens would give
meaningless vectors without any error. So the number of its tokens is compared with the rows of the model's table.

A text's vector is the mean of the states of its tokens, or the state of the first one where `1_Pooling/config.json`
says so. A model that has an output `sentence_embedding`, or whose first output has one state a text, pools itself.
"""

import hashlib
import importlib
import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, Protocol, cast

import msgspec
import numpy as np

from muisti.core.embedding.encoder import Tokens, tokenizer_of
from muisti.core.embedding.vectors import Vectors
from muisti.core.kernels import Floats
from muisti.core.model.errors import InvalidInput
from muisti.core.support.memo import Once
from muisti.core.support.waiting import refuse_long

# The tokens of whole texts for a transformer, with the marks of their ends, cut at a longest number

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
        self._tokenizer = tokenizer_of(rules)
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


MODEL, TOKENIZER, POOLING = "model.onnx", "tokenizer.json", Path("1_Pooling", "config.json")
OWN = "sentence_embedding"  # output of models that pool themselves
LONGEST = 256  # tokens of a text that are read, with the two that mark its ends
SPARE = 128  # rows of the table that may be more than the tokens: tables are padded to a round number
TABLE_MAX = 1 << 22  # rows
PREFIX = "pooling_mode_"

Pooling = Literal["mean", "cls", "own"]


class OnnxFiles(msgspec.Struct, frozen=True):
    """The files of a model; `pooling` is None when it has no such file."""

    model: Path
    tokenizer: Path
    pooling: Path | None = None


class _Loaded(msgspec.Struct, frozen=True):
    session: Any
    tokenizer: SentenceTokens
    pooling: Pooling
    inputs: frozenset[str]
    identity: str
    dimensions: int


class OnnxEncoder:
    """Encoder that runs a model in ONNX format. Loads on first use. Thread-safe.

    A transformer is a hundred times as slow as the static model, so no write waits for it.
    """

    deferred = True

    def __init__(
        self,
        place: str,
        *,
        tokenizer: Path | None = None,
        query_prefix: str = "",
        passage_prefix: str = "",
        longest: int = LONGEST,
        threads: int = 1,
        name: str | None = None,
        extra: str = "onnx",
    ) -> None:
        """Name a model by its folder, its file, or an installed package; `longest` is in tokens.

        `tokenizer` is a `tokenizer.json`, or the `vocab.txt` of BERT's kind without case. `extra` is that of Muisti by
        which the model comes.
        """
        self._name, self._extra = name or f"onnx:{place}", extra
        self._place, self._tokenizer = place, tokenizer
        self._query_prefix, self._passage_prefix = query_prefix, passage_prefix
        self._longest, self._threads = longest, threads
        self._load = Once(self._read)

    @property
    def name(self) -> str:
        return self._name

    @property
    def identity(self) -> str:
        return self._load().identity

    @property
    def dimensions(self) -> int:
        return self._load().dimensions

    def encode(self, texts: Sequence[str]) -> Vectors:
        return self._encoded([self._passage_prefix + text for text in texts])

    def encode_query(self, text: str) -> Floats:
        refuse_long()
        return self._encoded([self._query_prefix + text])[0].copy()

    def _encoded(self, texts: Sequence[str]) -> Vectors:
        """Embed the texts one by one: on one thread, batches are no faster and give a text other roundings."""
        loaded = self._load()
        tokens = loaded.tokenizer.of(texts)
        return np.array([_pooled(loaded, each) for each in tokens], np.float32).reshape(-1, loaded.dimensions)

    def _read(self) -> _Loaded:
        try:
            files = find(self._place, self._tokenizer, self._extra)
            model, rules = files.model.read_bytes(), files.tokenizer.read_bytes()
            tokenizer = sentence_tokens(rules, files.tokenizer.suffix, self._longest)
            session = _session(model, self._threads, self._extra)
            pooling = _pooling(session, files.pooling)
        except (OSError, ValueError) as error:
            raise InvalidInput.at("$.model", f"{self.name!r} is no model that can be loaded: {error}") from error
        inputs = frozenset(given.name for given in session.get_inputs())
        self._check(session, inputs, len(tokenizer))
        digest = hashlib.sha256(model)
        digest.update(rules)
        digest.update(msgspec.json.encode((self._query_prefix, self._passage_prefix, self._longest)))
        if pooling != "mean":
            digest.update(pooling.encode())
        loaded = _Loaded(session, tokenizer, pooling, inputs, digest.hexdigest()[:32], 0)
        (vector,) = _states(loaded, tokenizer.of(["a"])[0])
        if vector.ndim > 2:
            raise InvalidInput.at("$.model", f"{self.name!r} has no output with one vector for each token or text")
        return msgspec.structs.replace(loaded, dimensions=int(vector.shape[-1]))

    def _check(self, session: Any, inputs: frozenset[str], tokens: int) -> None:
        """Refuse a tokenizer of another model."""
        rows = table_rows(session, inputs)
        if not tokens <= rows < tokens + SPARE:
            raise InvalidInput.at(
                "$.model_tokenizer",
                f"the tokenizer has {tokens:,} tokens, and the model {self.name!r} has vectors for {rows:,}: "
                "it is the tokenizer of another model",
            )


def find(place: str, tokenizer: Path | None, extra: str = "onnx") -> OnnxFiles:
    """Return the files of a model that a folder, a file or an installed package holds.

    Raises:
        InvalidInput: there is no such model, or it has no tokenizer and none is named.
    """
    given = Path(place)
    folder = given if given.is_dir() else given.parent if given.is_file() else _package(place, extra)
    model = given if given.is_file() else _within(folder, MODEL)
    if model is None:
        raise InvalidInput.at("$.model", f"{place!r} is neither a folder nor a package with a {MODEL}")
    beside = tokenizer or _within(folder, TOKENIZER)
    if beside is None:
        raise InvalidInput.at(
            "$.model_tokenizer", f"{place!r} has no {TOKENIZER}: name that of the model by MUISTI_MODEL_TOKENIZER"
        )
    pooling = next((at / POOLING for at in (model.parent, *model.parents[1:2]) if (at / POOLING).is_file()), None)
    return OnnxFiles(model, beside, pooling)


def table_rows(session: Any, inputs: frozenset[str]) -> int:
    """Return how many tokens a model has vectors for: the first number of a token that it refuses, by bisection."""
    known, refused = 0, TABLE_MAX
    while refused - known > 1:
        token = (known + refused) // 2
        known, refused = (token, refused) if _takes(session, inputs, token) else (known, token)
    return refused


def _takes(session: Any, inputs: frozenset[str], token: int) -> bool:
    errors: Any = importlib.import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    try:
        session.run(None, _feeds(inputs, [token]))
    except (errors.InvalidArgument, errors.RuntimeException, errors.Fail):
        return False
    return True


def _package(place: str, extra: str) -> Path:
    name = place.replace("-", "_")
    spec = find_spec(name) if name.isidentifier() else None
    if spec is None or not spec.submodule_search_locations:
        told = f"{place!r} is neither a folder nor an installed package"
        raise InvalidInput.at("$.model", told if extra == "onnx" else f"{told}: pip install 'muisti[{extra}]'")
    return Path(spec.submodule_search_locations[0])


def _within(folder: Path, name: str) -> Path | None:
    return min(folder.rglob(name), key=lambda path: len(path.parts), default=None)


def _pooling(session: Any, file: Path | None) -> Pooling:
    """Return how a model's states become one vector. Raises ValueError when it is a way that Muisti does not know."""
    if any(output.name == OWN for output in session.get_outputs()):
        return "own"
    if file is None:
        return "mean"
    told = cast(dict[str, object], json.loads(file.read_bytes()))
    modes = sorted(name.removeprefix(PREFIX) for name, on in told.items() if name.startswith(PREFIX) and on is True)
    if modes == ["mean_tokens"]:
        return "mean"
    if modes == ["cls_token"]:
        return "cls"
    raise ValueError(f"{POOLING} asks for {' and '.join(modes) or 'no pooling'}; Muisti knows mean_tokens or cls_token")


def _session(model: bytes, threads: int, extra: str) -> Any:
    try:
        runtime: Any = importlib.import_module("onnxruntime")
    except ImportError as error:
        raise InvalidInput.at("$.model", f"ONNX Runtime is not installed: pip install 'muisti[{extra}]'") from error
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = threads
    options.log_severity_level = 4  # it prints the errors by which the rows of the table are found
    try:
        return runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library raises a class of its own for each cause
        raise ValueError(str(error)) from error


def _pooled(loaded: _Loaded, tokens: Sequence[int]) -> Floats:
    states = _states(loaded, tokens)[0].astype(np.float64)
    if states.ndim == 2:  # one state for each token; else the model has pooled them itself
        states = states[0] if loaded.pooling == "cls" else states.mean(axis=0)
    return (states / (np.linalg.norm(states) or 1.0)).astype(np.float32)


def _states(loaded: _Loaded, tokens: Sequence[int]) -> np.ndarray:
    wanted = [OWN] if loaded.pooling == "own" else None
    return loaded.session.run(wanted, _feeds(loaded.inputs, tokens))[0]


def _feeds(inputs: frozenset[str], tokens: Sequence[int]) -> dict[str, np.ndarray]:
    ids = np.array([tokens], np.int64)
    feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    return {name: feeds[name] for name in inputs if name in feeds}
