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
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec
import numpy as np

from muisti.core.embedding.tokens import Tokens
from muisti.core.embedding.vectors import Vectors
from muisti.core.kernels import Floats, Longs
from muisti.core.kernels.pooling import Table, pool_tokens
from muisti.core.model.errors import InvalidInput
from muisti.core.support.memo import Once, memoised

SHIPPED = Path(__file__).parent / "weights"
FILES = ("config.json", "model.safetensors", "tokenizer.json")
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

    def __init__(self, model: str | None = None) -> None:
        """Choose a model by its path or its name on the hub; None is the model that ships with Muisti."""
        self._name = model
        self._load = Once(self._read)
        self._remembered = memoised(QUESTIONS)(self._encode_query)

    @property
    def name(self) -> str:
        return self._name or "muisti-static-256"

    @property
    def identity(self) -> str:
        return self._load().identity

    @property
    def dimensions(self) -> int:
        return int(self._load().table.shape[1])

    @property
    def deferred(self) -> bool:
        return False

    @property
    def loaded(self) -> bool:
        return self._load.made

    def encode(self, texts: Sequence[str]) -> Vectors:
        model = self._load()
        return _pooled(model, model.weights, texts)

    def encode_query(self, text: str) -> Floats:
        return self._remembered(text)

    def _encode_query(self, text: str) -> Floats:
        model = self._load()
        vector = _pooled(model, model.query_weights, [text])[0]
        vector.flags.writeable = False
        return vector

    def _read(self) -> _Model:
        try:
            return _read(_folder(self._name))
        except (OSError, ValueError, KeyError) as error:
            problem = f"{self.name!r} is no static model that can be loaded: {error}"
            raise InvalidInput.at("$.model", problem) from error


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
