"""Drops every pair that shares a run of nine words with a text that the model will be judged on."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from deploy.model.values import Pair

RUN = 9  # words
WORD = re.compile(r"\w+")
BASE = np.uint64(0x9E3779B97F4A7C15)

Hashes = npt.NDArray[np.uint64]


class Contamination:
    """Hashes of all runs of `RUN` words in the texts of a folder of evaluation data."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._runs: Hashes = np.unique(np.concatenate([np.zeros(0, np.uint64), *map(runs, texts)]))

    @classmethod
    def of_folder(cls, folder: Path) -> "Contamination":
        """Raises `ValueError` when nothing could be read, since a wrong path must not pass for a clean build."""
        files = sorted(folder.rglob("*.jsonl"))
        found = cls(text for file in files for text in _texts_of_file(file))
        if not len(found):
            raise ValueError(f"no text to decontaminate against in {folder}")
        return found

    def __len__(self) -> int:
        return len(self._runs)

    def touches(self, text: str) -> bool:
        hashes = runs(text)
        if not len(hashes) or not len(self._runs):
            return False
        at = np.minimum(np.searchsorted(self._runs, hashes), len(self._runs) - 1)
        return bool(np.any(self._runs[at] == hashes))

    def clean(self, pairs: Iterable[Pair]) -> list[Pair]:
        return [pair for pair in pairs if not self.touches(pair.query) and not self.touches(pair.document)]


def runs(text: str) -> Hashes:
    """A polynomial hash of each run of `RUN` words (lower case, letters and digits only), modulo 2^64."""
    words = np.array([crc32(word.encode()) for word in WORD.findall(text.lower())], np.uint64)
    count = len(words) - RUN + 1
    if count <= 0:
        return np.zeros(0, np.uint64)
    hashes = np.zeros(count, np.uint64)
    with np.errstate(over="ignore"):
        for offset in range(RUN):
            hashes = hashes * BASE + words[offset : offset + count]
    return hashes


def _texts_of_file(file: Path) -> Iterator[str]:
    with file.open() as lines:
        for line in lines:
            if line.strip():
                yield from _texts(json.loads(line))


def _texts(value: Any) -> Iterator[str]:
    """Every string in a JSON value; a list of strings is also read as one text cut into words."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        if value and all(isinstance(inner, str) for inner in value):
            yield " ".join(value)
        for inner in value:
            yield from _texts(inner)
