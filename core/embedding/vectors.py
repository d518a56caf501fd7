"""Vectors as the store and the index keep them: two-level int8, exact to about 1e-5 of the cosine.

Vectors are rotated first. Models that come out of a PCA have few large components, which make rounding imprecise and
sign bits meaningless. A rotated unit vector is `scale * codes + fine_scale * fine`: a scan reads `codes`, and `fine`
is the remainder after rounding.
"""

import importlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from muisti.core.kernels import Bytes, Floats, pooling
from muisti.core.kernels.dense import rotate as hadamard
from muisti.core.model.decoding import decoder
from muisti.core.model.errors import InvalidInput
from muisti.core.support.memo import Once

Vectors = npt.NDArray[
    np.float32
]  # (n, dimensions), one unit-length row a text; a zero row for a text without known words
Vector = npt.NDArray[np.float32]  # (dimensions,), of length 1
Scales = npt.NDArray[np.float32]  # (n,)


class TwoLevelVectors(msgspec.Struct, frozen=True):
    """Quantised vectors, one row each. A zero scale marks a row without a vector."""

    codes: Bytes
    scales: Scales
    fine: Bytes
    fine_scales: Scales


@lru_cache(maxsize=4)
def signs(dimensions: int) -> npt.NDArray[np.float64]:
    """Return 1 or -1 for each component: pseudo-random, and the same on every machine."""
    return np.where(np.random.PCG64(20261122).random_raw(dimensions) >> np.uint64(63), 1.0, -1.0)


def rotate(vectors: Vectors) -> Vectors:
    """Return the vectors in the coordinates of the index. Lengths and cosines do not change.

    The rotation multiplies by random signs and applies a Walsh-Hadamard transform. A dimension that is no power of two
    is cut into blocks. Sums are float64 in a fixed order, so a text has the same codes in every batch. Randomised
    Hadamard transform: Ailon and Chazelle, "The fast Johnson-Lindenstrauss transform", 2009.
    """
    turned = vectors.astype(np.float64)
    hadamard(turned, signs(vectors.shape[1]))
    return turned.astype(np.float32)


def quantise(vectors: Vectors) -> TwoLevelVectors:
    """Quantise each row to two-level int8.

    >>> p = quantise(np.array([[0.6, -0.8]], np.float32))
    >>> np.allclose(p.codes * p.scales[:, None] + p.fine * p.fine_scales[:, None], [[0.6, -0.8]], atol=1e-5)
    True
    """
    return planes_of(_packed(vectors))


def pack(vectors: Vectors) -> list[bytes]:
    """Rotate and quantise. One blob a row: scale, fine scale (little-endian float32), codes, fine codes."""
    return [row.tobytes() for row in _packed(rotate(vectors))]


def unpack(blobs: Sequence[bytes | None], dimensions: int) -> TwoLevelVectors:
    """Return the two-level vectors in blobs; None gives a row of zeros."""
    return planes_of(rows_of(blobs, dimensions))


def restored(blobs: Sequence[bytes | None], dimensions: int) -> Vectors:
    """Return the rotated vectors in blobs, as float32; zeros for None."""
    rows = rows_of(blobs, dimensions)
    out = np.empty((len(rows), dimensions), np.float32)
    pooling.restore(rows, _heads(rows), out)
    return out


def _packed(vectors: Vectors) -> Bytes:
    count, dimensions = vectors.shape
    rows, scales = np.empty((count, pooling.HEAD + 2 * dimensions), np.int8), np.empty((count, 2), np.float32)
    pooling.quantise(vectors, scales, rows)
    rows[:, : pooling.HEAD] = scales.astype("<f4").view(np.int8)
    return rows


def rows_of(blobs: Sequence[bytes | None], dimensions: int) -> Bytes:
    """Stack blobs as rows; None gives a row of zeros."""
    width = pooling.HEAD + 2 * dimensions
    empty = bytes(width)
    return np.frombuffer(bytearray().join([blob or empty for blob in blobs]), np.int8).reshape(len(blobs), width)


def _heads(rows: Bytes) -> npt.NDArray[np.float32]:
    return np.ascontiguousarray(rows[:, : pooling.HEAD]).view("<f4").astype(np.float32)


def planes_of(rows: Bytes) -> TwoLevelVectors:
    """Return the two-level vectors in stacked blobs."""
    fine = (pooling.HEAD + rows.shape[1]) // 2
    heads = _heads(rows)
    return TwoLevelVectors(rows[:, pooling.HEAD : fine], heads[:, 0], rows[:, fine:], heads[:, 1])


# Maps of query vectors: from the vectors of one model to those of another, which then need not embed the query.
#
# A map is linear: `map(v) = v @ matrix + offset`, scaled to length 1. Ridge regression fits it on texts that both
# models have embedded (`deploy/model/query_map.py`). It is for those two models only.

SHIPPED = Path(__file__).parent / "query_maps"
MODELS, MATRIX = "models.json", "map.safetensors"


class Between(msgspec.Struct, frozen=True):
    """The identities of the models of a map: it takes vectors of `source`, and returns ones like those of `target`."""

    source: str
    target: str


class QueryMap(msgspec.Struct, frozen=True):
    """A map, and the models that it is for."""

    between: Between
    matrix: Floats
    offset: Floats

    def of(self, vector: Floats) -> Floats:
        """Return the vector that the second model would give the query, about; zeros stay zeros."""
        if not vector.any():
            return np.zeros_like(self.offset)
        mapped = vector @ self.matrix + self.offset
        return mapped / (np.linalg.norm(mapped) or 1.0)


class QueryMaps:
    """The maps in the folders below a folder. They load on first use. Thread-safe."""

    def __init__(self, folder: Path = SHIPPED) -> None:
        self._folder = folder
        self._load = Once(self._read)

    def find(self, source: str | None, target: str | None) -> QueryMap | None:
        """Return the map between two models, None where there is none."""
        return next((one for one in self._load() if one.between == Between(source or "", target or "")), None)

    def _read(self) -> tuple[QueryMap, ...]:
        return tuple(read(file.parent) for file in sorted(self._folder.glob(f"*/{MODELS}")))


def read(folder: Path) -> QueryMap:
    """Return the map in a folder.

    Raises:
        InvalidInput: the files are none of a map.
    """
    load: Any = importlib.import_module("safetensors.numpy").load_file
    try:
        between = decoder(Between).decode((folder / MODELS).read_bytes())
        arrays = load(folder / MATRIX)
        matrix = arrays["matrix"].astype(np.float32) * arrays["scales"].astype(np.float32)
        offset = arrays["offset"].astype(np.float32)
    except Exception as error:  # safetensors raises plain `Exception`
        raise InvalidInput.at("$.second_model", f"{folder}: no map of query vectors: {error}") from error
    return QueryMap(between, matrix, offset)
