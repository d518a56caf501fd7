"""Working test implementations, and builders that fill in what a test is not about."""

import hashlib
import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from muisti.core.embedding.encoder import Encoder
from muisti.core.embedding.vectors import Vectors
from muisti.core.engine import MEMORY, Engine
from muisti.core.graph.extraction import Reader, usual_reader
from muisti.core.kernels import Floats
from muisti.core.model.spaces import CONTENT_ONLY, SpaceSettings
from muisti.core.model.values import Draft
from muisti.core.query.evidence import Calibration
from tests.stores import Store, at, migrated

NOON = 1_780_000_000_000_000  # microseconds; a day in 2026
SPACE = "s"


@lru_cache(maxsize=10_000)
def _direction(word: str, dimensions: int) -> npt.NDArray[np.float64]:
    digest = hashlib.sha256(word.encode()).digest()
    return np.random.default_rng(list(digest)).standard_normal(dimensions)


class WordEncoder:
    """Texts that share words get close vectors. Deterministic, no download, no network."""

    deferred = False

    def __init__(self, seed: str = "", dimensions: int = 64, name: str | None = None) -> None:
        self._seed = seed
        self._name = name or (f"words-{seed}" if seed else "words")
        self._dimensions = dimensions
        self.calls = 0

    @property
    def identity(self) -> str:
        return f"words-{self._seed}-{self._dimensions}"

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimensions(self) -> int:
        return self._dimensions

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        out = np.zeros((len(texts), self._dimensions), np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                out[row] += _direction(self._seed + word, self._dimensions)
        norms = np.linalg.norm(out, axis=1, keepdims=True)
        return (out / np.where(norms == 0, 1, norms)).astype(np.float32)

    def encode_query(self, text: str) -> Floats:
        return self.encode([text])[0]


class Clock:
    """Clock that a test advances, and that advances a microsecond at each reading."""

    def __init__(self, at: int = NOON) -> None:
        self.at = at
        self._looks = itertools.count()

    def __call__(self) -> int:
        return self.at + next(self._looks)

    def pass_days(self, days: float) -> None:
        self.at += int(days * 86_400_000_000)


def open_engine(
    store: Path | Store,
    *,
    encoder: Encoder | None = None,
    clock: Callable[[], int] | None = None,
    settings: SpaceSettings = CONTENT_ONLY,
    embeddings: bool = True,
    index_memory: int = MEMORY,
    others: Sequence[Encoder] = (),
    seconds: Mapping[str, Encoder] = {},
    graph_reader: Callable[[], Reader] = usual_reader,
    calibration: Calibration | None = None,
) -> Engine:
    """An engine on a store, or on that of a path, with a space `s` that indexes and embeds content only."""
    chosen = (encoder or WordEncoder()) if embeddings else None
    database = migrated(at(store) if isinstance(store, Path) else store)
    engine = Engine(
        database, chosen, clock or Clock(), index_memory=index_memory, others=others, seconds=seconds,
        graph_reader=graph_reader, calibration=calibration,
    )  # fmt: skip
    if SPACE not in {space.name for space in engine.spaces.list()}:
        engine.spaces.create(SPACE, settings)
    return engine


def add(engine: Engine, *texts: str, space: str = SPACE, **fields: object) -> list[str]:
    """Store texts, whatever is there already, and give their ids."""
    drafts = [Draft(content=text, **fields) for text in texts]  # pyright: ignore[reportArgumentType]  # test shorthand
    return [memory.id for memory in engine.owner.write.add(space, drafts, on_conflict="keep").memories]
