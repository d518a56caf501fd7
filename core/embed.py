"""Text to vectors, by a static model2vec model. Loaded on first use: reading and deleting never need it."""

import hashlib
import importlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np

from core.errors import InvalidInput, ModelMismatch
from core.vectors import Vectors

SHIPPED = Path(__file__).parent / "model"
FILES = ("config.json", "model.safetensors", "tokenizer.json")


class Encoder(Protocol):
    """What turns texts into vectors. `identity` is a hash: equal identities give equal vectors."""

    @property
    def identity(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit-length rows, float32 (len(texts), dimensions); zeros for a text without known words."""
        ...


class StaticEncoder:
    """A model2vec model from a folder or, where a hub can be reached, by name. Thread-safe."""

    def __init__(self, model: str | None = None) -> None:
        """`model` is a path or a hub name; None is the model that ships with Muisti."""
        self._model = model
        self._loading = threading.Lock()
        self._loaded: tuple[Any, str] | None = None  # the model2vec object has no types

    @property
    def name(self) -> str:
        return self._model or "muisti-static-256"

    @property
    def identity(self) -> str:
        return self._load()[1]

    @property
    def dimensions(self) -> int:
        return int(self._load()[0].dim)

    @property
    def loaded(self) -> bool:
        return self._loaded is not None

    def encode(self, texts: Sequence[str]) -> Vectors:
        vectors = np.asarray(self._load()[0].encode(list(texts), max_length=None), np.float32)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return cast(Vectors, vectors / np.where(norms == 0, 1, norms))

    def _load(self) -> tuple[Any, str]:
        with self._loading:
            if self._loaded is None:
                folder = Path(self._model) if self._model else SHIPPED
                static_model = importlib.import_module("model2vec").StaticModel  # 0.2 s that most commands do not need
                try:
                    model = static_model.from_pretrained(str(folder) if folder.exists() else self._model)
                except (OSError, ValueError, KeyError) as error:
                    problem = f"{self.name!r} is no model2vec model that can be loaded: {error}"
                    raise InvalidInput.at("$.model", problem) from error
                # Texts come in passages already. model2vec sets the limit on the shared tokenizer before each call and
                # puts it back after, so a limit of the model's own would reach into the calls of other threads.
                model.max_length = None
                self._loaded = model, _digest_files(folder) if folder.exists() else _digest_weights(model)
            return self._loaded


def check_model(encoder: Encoder, space: str, generation: str) -> None:
    """Raise `ModelMismatch` unless the model that runs is the one that embedded the space."""
    if encoder.identity != generation:
        raise ModelMismatch(
            f"space {space!r} was embedded by model {generation[:12]}, this server runs {encoder.name!r} "
            f"({encoder.identity[:12]}); run `muisti reembed --space {space}` or name the old model by MUISTI_MODEL"
        )


def _digest_files(folder: Path) -> str:
    digest = hashlib.sha256()
    for name in FILES:
        digest.update((folder / name).read_bytes())
    return digest.hexdigest()[:32]


def _digest_weights(model: Any) -> str:
    digest = hashlib.sha256(np.ascontiguousarray(model.embedding).tobytes())
    digest.update(model.tokenizer.to_str().encode())
    return digest.hexdigest()[:32]
