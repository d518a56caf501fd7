"""The test bed of a stage: one corpus at one size, with its vectors, database and indexes."""

import os
import platform
from collections.abc import Sequence
from contextlib import ExitStack
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Self

import numpy as np

from loadtests import shelf
from loadtests.fill import fill
from loadtests.muisti import Muisti, opened
from loadtests.shelf import Shelf
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.embedding.vectors import Vectors
from muisti.core.text.terms import ANALYZER

PACKAGES = (
    "numpy", "numba", "usearch", "hnswlib", "faiss-cpu", "sqlite-vec", "zvec", "qdrant-edge-py", "apsw", "bm25s",
    "tantivy", "rank-bm25", "model2vec", "litestar", "uvicorn", "uvloop",
)  # fmt: skip


class Bed:
    """Corpus of a stage. `shelf` caches what derives from the texts alone, `embedded` what also depends on the model.

    `peers` is False when Muisti is measured alone; `slow` allows builds that take many minutes. `model` is a path, None
    for the model that ships with Muisti. `unseen` are texts of the same kind that are not in the corpus.
    """

    def __init__(
        self,
        texts: Sequence[str],
        asked: Sequence[str],
        cache: Path,
        *,
        peers: bool = True,
        slow: bool = False,
        model: str | None = None,
        unseen: Sequence[str] = (),
    ) -> None:
        self.unseen = unseen
        self.texts, self.peers, self.slow, self.model = texts, peers, slow, model
        self.shelf = Shelf.of(cache, texts)
        self.embedded = self.shelf.below(self.encoder().identity[:8])
        self._asked = asked
        self._closing = ExitStack()
        self._open: Muisti | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    @property
    def size(self) -> int:
        return len(self.texts)

    def encoder(self) -> StaticEncoder:
        """An encoder that has seen no question yet."""
        return StaticEncoder(self.model)

    def questions(self, count: int, first: int = 0) -> list[str]:
        """`count` questions, all distinct, from a place in the list; more than there are get a word of the next."""
        found: list[str] = []
        for number in range(first, first + count):
            lap, place = divmod(number, len(self._asked))
            following = self._asked[(place + lap) % len(self._asked)].split()
            found.append(self._asked[place] if lap == 0 else f"{self._asked[place]} {max(following, key=len)}")
        return found

    def directions(self, count: int, first: int = 0) -> Vectors:
        """The vectors of `questions`."""
        encoder = self.encoder()
        return np.stack([encoder.encode_query(question) for question in self.questions(count, first)])

    def unused(self, count: int, mark: str) -> list[str]:
        """Texts like the others that are not among them: `mark` and a number make them new."""
        return [f"{self.texts[row * 37 % self.size]} ({mark} {row})" for row in range(count)]

    def vectors(self) -> Vectors:
        return shelf.vectors(self.embedded, self.texts, self.encoder())

    def database(self) -> tuple[Path, float]:
        """The filled database, never to be written to, and the seconds that filling took."""
        return self.embedded.kept(f"muisti-{ANALYZER}.db", self._fill)

    def _fill(self, path: Path) -> None:
        fill(path, self.texts, self.model)

    def muisti(self) -> Muisti:
        """Muisti over the filled database; opened by the first stage that needs it, and shared by those after."""
        if self._open is None:
            self._open = self._closing.enter_context(opened(self.database()[0], self.encoder()))
        return self._open


def machine() -> dict[str, str]:
    """Describe the machine and the package versions that the figures were measured on."""
    cpu = next((line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")), "")
    memory = next((line.split()[1] for line in _lines("/proc/meminfo") if line.startswith("MemTotal")), "0")
    return {
        "processor": f"{os.cpu_count()} x {cpu or platform.processor()}",
        "memory": f"{int(memory) / (1 << 20):.0f} GB",
        "system": f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
        "versions": ", ".join(f"{name} {found}" for name in PACKAGES if (found := _version(name))),
    }


def _lines(path: str) -> list[str]:
    return Path(path).read_text("utf-8").splitlines() if Path(path).exists() else []


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
