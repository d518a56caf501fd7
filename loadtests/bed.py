"""What a stage measures on: one corpus at one size, with the vectors, database and indexes made for it."""

import os
import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from core.embed import StaticEncoder
from core.text import ANALYZER
from core.vectors import Vectors
from loadtests import shelf
from loadtests.fill import fill
from loadtests.muisti import Muisti, opened
from loadtests.shelf import Shelf

PACKAGES = (
    "numpy", "numba", "usearch", "hnswlib", "faiss-cpu", "sqlite-vec", "apsw", "bm25s", "tantivy", "rank-bm25",
    "model2vec", "litestar", "uvicorn", "uvloop",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Bed:
    """`shelf` keeps what is made of the texts alone, `embedded` what also depends on the model.

    `peers` is False when Muisti is measured alone; `slow` allows builds that take many minutes.
    """

    texts: Sequence[str]
    asked: Sequence[str]
    shelf: Shelf
    embedded: Shelf
    peers: bool
    slow: bool

    @classmethod
    def of(cls, texts: Sequence[str], asked: Sequence[str], cache: Path, *, peers: bool, slow: bool) -> "Bed":
        kept = Shelf.of(cache, texts)
        return cls(texts, asked, kept, kept.below(StaticEncoder().identity[:8]), peers, slow)

    @property
    def size(self) -> int:
        return len(self.texts)

    def questions(self, count: int, first: int = 0) -> list[str]:
        """`count` questions, all distinct, from a place in the list; more than there are get a word of the next."""
        found: list[str] = []
        for number in range(first, first + count):
            lap, place = divmod(number, len(self.asked))
            following = self.asked[(place + lap) % len(self.asked)].split()
            found.append(self.asked[place] if lap == 0 else f"{self.asked[place]} {max(following, key=len)}")
        return found

    def directions(self, count: int, first: int = 0) -> Vectors:
        """The vectors of `questions`."""
        encoder = StaticEncoder()
        return np.stack([encoder.encode_query(question) for question in self.questions(count, first)])

    def unused(self, count: int, mark: str) -> list[str]:
        """Texts like the others that are not among them: `mark` and a number make them new."""
        return [f"{self.texts[row * 37 % self.size]} ({mark} {row})" for row in range(count)]

    def vectors(self) -> Vectors:
        return shelf.vectors(self.embedded, self.texts, StaticEncoder())

    def database(self) -> tuple[Path, float]:
        """The filled database, never to be written to, and the seconds that filling took."""
        return self.embedded.kept(f"muisti-{ANALYZER}.db", self._fill)

    def _fill(self, path: Path) -> None:
        fill(path, self.texts)

    @contextmanager
    def muisti(self) -> Iterator[Muisti]:
        """Muisti over the filled database, with an encoder that has seen no question yet."""
        with opened(self.database()[0], StaticEncoder()) as muisti:
            yield muisti


def machine() -> dict[str, str]:
    """What the figures were measured on."""
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
