"""Interface of a vector search library, for the dense stage."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from loadtests.shelf import Shelf
from muisti.core.embedding.vectors import Vectors

Found = npt.NDArray[np.int64]
Search = Callable[[npt.NDArray[np.float32], int], Found]  # (query, k) to row numbers, in any order


@dataclass(frozen=True, slots=True)
class Selection:
    """A filter: the rows with `metadata.a < percent`, as each library likes it."""

    percent: int
    groups: npt.NDArray[np.int64]  # of all rows
    mask: npt.NDArray[np.bool_]
    rows: Found


@dataclass(frozen=True, slots=True)
class DenseEngine:
    """An index ready to search. `filtered` is None where the library has no filter; `bytes` is its own index."""

    name: str
    search: Search
    filtered: Callable[[Selection], Search] | None
    seconds: float  # to build
    bytes: int
    every: int = 1  # answers only every n-th query, being slow


class DensePeer(Protocol):
    """A module that builds engines over unit vectors."""

    def engines(self, vectors: Vectors, shelf: Shelf, *, slow: bool) -> list[DenseEngine]:
        """Return ready engines. A build that takes more than minutes needs `slow`, unless `shelf` has it cached."""
        ...


def patience(rows: int, fast: int) -> int:
    """Return n such that an engine answers every n-th query, given that it is fast up to `fast` rows.

    >>> patience(10_000, 100_000), patience(1_000_000, 100_000)
    (1, 5)
    """
    return 1 if rows <= fast else 5
