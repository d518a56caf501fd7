"""Cache of what takes long to make: texts, vectors, databases and the peers' indexes, under `runs/cache`.

Folder names contain a digest of the corpus and of the model, so nothing stale is ever found.
"""

import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

import numpy as np

from muisti.core.embedding.encoder import Encoder
from muisti.core.embedding.vectors import Vectors

T = TypeVar("T")

CHUNK = 5_000  # texts of a batch


@dataclass(frozen=True, slots=True)
class Shelf:
    """Cache folder for what derives from one corpus, or from one corpus by one model."""

    folder: Path

    @classmethod
    def of(cls, cache: Path, texts: Sequence[str]) -> "Shelf":
        digest = blake2b(digest_size=4)
        for text in texts:
            digest.update(text.encode())
        return cls(cache).below(f"{len(texts)}-{digest.hexdigest()}")

    def below(self, name: str) -> "Shelf":
        """Return the cache in a subfolder, which is created."""
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        return Shelf(folder)

    def has(self, name: str) -> bool:
        return (self.folder / f"{name}.json").exists()

    def kept(self, name: str, make: Callable[[Path], None]) -> tuple[Path, float]:
        """The file or folder of this name, and the seconds that `make` took when it was made."""
        path, note = self.folder / name, self.folder / f"{name}.json"
        if not note.exists():
            _remove(path)  # unfinished; what can go on where it was keeps its beginnings under another name
            began = time.perf_counter()
            make(path)
            took = {"seconds": time.perf_counter() - began, "load": os.getloadavg()[0]}
            note.write_text(json.dumps(took), "utf-8")
        return path, float(json.loads(note.read_text("utf-8"))["seconds"])


def weight(folder: Path) -> int:
    """Return the bytes of the files in a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


def vectors(shelf: Shelf, texts: Sequence[str], encoder: Encoder) -> Vectors:
    """Return unit float32 vectors of the texts, from the cache. An interrupted computation resumes."""
    part, done = shelf.folder / "vectors.npy", shelf.folder / "vectors.done"
    shape = (len(texts), encoder.dimensions)
    first = int(done.read_text()) if done.exists() else 0
    if first < len(texts):
        mode = "r+" if first else "w+"
        out = np.lib.format.open_memmap(part, mode=mode, dtype=np.float32, shape=shape)
        for start in range(first, len(texts), CHUNK):
            out[start : start + CHUNK] = encoder.encode(texts[start : start + CHUNK])
            out.flush()
            done.write_text(str(min(start + CHUNK, len(texts))))
    return np.load(part)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
