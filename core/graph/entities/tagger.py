"""The trained tagger: a window over static word vectors, one hidden layer, hashed features, and a chain of tags.

What a word adds to the hidden layer is computed once and remembered, so that most words cost a sum.
"""

import hashlib
import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.graph.entities.features import HASHED, REACH, ROW, Words, marks, word_features
from muisti.core.graph.entities.lists import Lists
from muisti.core.kernels import Doubles, Floats, Longs
from muisti.core.kernels.tagging import LANES, Shorts, remember, tag, times
from muisti.core.support.waiting import Lock

SHIPPED = Path(__file__).parent / "weights" / "tagger.safetensors"
TAGS = ("O", *(f"{begin}-{kind}" for kind in ("PER", "ORG", "LOC", "MISC") for begin in "BI"))
WORDS = 16_384  # remembered: 28 MB when there are so many
LONG = 64  # characters of a word that are read
PLACES = 2 * REACH + 1
_ENDS = np.cumsum(HASHED)  # of the hashed features of each place
VECTOR_SCALE = 4.0  # so that vectors vary as much as the other features


class Weights(Struct, frozen=True):
    """Arrays of a trained tagger. K tags, H hidden units."""

    lists: Lists
    mean: Floats  # (dimensions,) of the vectors of words
    axes: Floats  # (dimensions, VECTOR)
    window: Floats  # (ROW, PLACES * H)
    marked: Floats  # (MARKS + 1, H)
    hidden: Floats  # (H, LANES), of which K columns are not 0
    pairs: Floats  # (2, SHAPES², K)
    transitions: Doubles  # (K + 1, K)
    hashed: Floats  # (HASHES, K)
    knots: Doubles  # (2, n): shares of spans, ascending, and the precision measured there
    identity: str


class Tagger:
    """Tags of words. Thread-safe."""

    def __init__(self, weights: Weights, encoder: StaticEncoder) -> None:
        """`encoder` must be the model that the weights were trained with: the one that ships with Muisti."""
        self._weights, self._encoder = weights, encoder
        self._lock = Lock()
        self._slots: dict[str, int] = {}
        units, tags = len(weights.hidden), len(TAGS)
        self._table: Shorts = np.empty((256, PLACES, units + tags), np.int16)
        self._shapes: Longs = np.empty(256, np.int64)

    @property
    def identity(self) -> str:
        return self._weights.identity

    @property
    def lists(self) -> Lists:
        return self._weights.lists

    def tag(self, words: Sequence[str]) -> tuple[Longs, Doubles]:
        """Return the number in `TAGS` of each word's tag, and the probabilities (words, tags)."""
        weights = self._weights
        path, shares = np.empty(len(words), np.int64), np.empty((len(words), len(TAGS)))
        flags = marks(words, weights.lists)
        with self._lock:
            slots = self._remembered([word[:LONG] for word in words])
            table, shapes = self._table, self._shapes
            tag(
                slots, flags, table, shapes, weights.marked, weights.hidden, weights.pairs, weights.transitions, path,
                shares,
            )  # fmt: skip
        return path, shares

    def calibrated(self, share: float) -> float:
        """Return how often spans with such a probability are right, by the sets that the tagger was tuned on."""
        shares: Doubles = self._weights.knots[0]
        right: Doubles = self._weights.knots[1]
        place = int(np.searchsorted(shares, share))
        if place in (0, len(shares)):
            return float(right[min(place, len(right) - 1)])
        below, above = float(shares[place - 1]), float(shares[place])
        part = (share - below) / (above - below)
        return float(right[place - 1]) * (1 - part) + float(right[place]) * part

    def _remembered(self, words: Sequence[str]) -> Longs:
        known = self._slots
        new = [word for word in dict.fromkeys(words) if word not in known]
        if len(known) + len(new) > WORDS:
            known.clear()
            new = [*dict.fromkeys(words)]
        if new:
            self._learn(new)
        return np.array([known[word] for word in words], np.int64)

    def _learn(self, words: Sequence[str]) -> None:
        first, last = len(self._slots), len(self._slots) + len(words)
        if last > len(self._table):
            room = max(last, 2 * len(self._table))
            self._table = np.resize(self._table, (room, *self._table.shape[1:]))
            self._shapes = np.resize(self._shapes, room)
        found = word_features(words, self._weights.lists)
        own = rows(words, found, self._encoder, self._weights.mean, self._weights.axes)
        layer = product(own, self._weights.window)
        remember(layer, found.hashed, self._weights.hashed, _ENDS, self._table[first:last])
        self._shapes[first:last] = found.shapes
        self._slots.update(zip(words, range(first, last), strict=True))


def rows(words: Sequence[str], found: Words, encoder: StaticEncoder, mean: Floats, axes: Floats) -> Floats:
    """Return a row of numbers for each word, float32 (words, ROW)."""
    vectors = encoder.encode([word.lower() for word in words])
    out = np.empty((len(words), ROW), np.float32)
    out[:, : axes.shape[1]] = product(vectors - mean, axes) * VECTOR_SCALE
    out[:, axes.shape[1] :] = found.forms
    return out


def product(left: Floats, right: Floats) -> Floats:
    """Return the product of two matrices; for a few rows cheaper than that of a library, which starts threads."""
    out = np.empty((len(left), right.shape[1]), np.float32)
    times(left, right, out)
    return out


def load(content: bytes) -> Weights:
    """Read the weights of a tagger. Raises ValueError or KeyError when the file is not of that kind."""
    arrays = _arrays(content)
    window = arrays["window"].astype(np.float32) * arrays["window_scale"]
    return Weights(
        lists=Lists(np.ascontiguousarray(arrays["lists"])),
        mean=arrays["mean"],
        axes=arrays["axes"].astype(np.float32) * arrays["axes_scale"],
        window=np.ascontiguousarray(window.transpose(1, 0, 2).reshape(window.shape[1], -1)),
        marked=arrays["marked"],
        hidden=np.pad(arrays["hidden"], ((0, 0), (0, LANES - arrays["hidden"].shape[1]))),
        pairs=arrays["pairs"].astype(np.float32),
        transitions=arrays["transitions"].astype(np.float64),
        hashed=arrays["hashed"].astype(np.float32) * arrays["hashed_scale"],
        knots=arrays["knots"].astype(np.float64),
        identity=digest(content),
    )


def digest(content: bytes) -> str:
    """Return a hash of the weights: equal hashes give equal tags."""
    return hashlib.sha256(content).hexdigest()[:16]


def _arrays(content: bytes) -> Mapping[str, np.ndarray]:
    read: Any = importlib.import_module("safetensors.numpy").load
    try:
        return read(content)
    except Exception as error:  # the library raises plain `Exception`
        raise ValueError(str(error)) from error
