"""Interface of a keyword search library, for the lexical stage: tokenise a question and search the OR of its words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from loadtests.shelf import Shelf

Search = Callable[[str, int], npt.NDArray[np.int64]]  # (question, k) to memory numbers, best first


@dataclass(frozen=True, slots=True)
class LexicalEngine:
    """An index ready to search; `bytes` is its own size."""

    name: str
    search: Search
    seconds: float  # to build
    bytes: int | None
    every: int = 1  # answers only every n-th query, being slow


class LexicalPeer(Protocol):
    """A module that builds engines over texts."""

    def engines(self, texts: Sequence[str], shelf: Shelf) -> list[LexicalEngine]:
        """Ready engines; none where there are more texts than the library can serve."""
        ...
