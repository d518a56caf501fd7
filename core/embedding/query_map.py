"""Maps of query vectors: from the vectors of one model to those of another, which then need not embed the query.

A map is linear: `map(v) = v @ matrix + offset`, scaled to length 1. Ridge regression fits it on texts that both models
have embedded (`deploy/model/query_map.py`). It is for those two models only.
"""

import importlib
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from muisti.core.kernels import Floats
from muisti.core.model.decoding import decoder
from muisti.core.model.errors import InvalidInput
from muisti.core.support.memo import Once

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
