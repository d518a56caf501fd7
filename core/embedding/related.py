"""Words of like meaning in the vocabulary of the model that ships with Muisti, found once by deploy/model/related.py.

The vector of a word is that of the model's table, so "film" is near to "movie". Which words a space has does not
matter here: the table is the same for all spaces, and changes with the model alone.
"""

import importlib
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from muisti.core.embedding.encoder import SHIPPED
from muisti.core.kernels import Codes, Doubles, Longs

FILE = SHIPPED / "related.safetensors"
STEPS = 255  # of a cosine of 1

Bytes = npt.NDArray[np.uint8]
Shorts = npt.NDArray[np.uint16]


class Related(NamedTuple):
    """Words related to those of a query: codes of stems, the place of the query's word, and the cosine of both.

    Words that are related to the same one are adjacent, the likest first.
    """

    codes: Codes
    places: Longs
    likeness: Doubles


NOTHING = Related(np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0))


class RelatedWords:
    """The related words of stems, by code."""

    def __init__(self, stems: Codes, counts: Bytes, related: Shorts, cosines: Bytes) -> None:
        """Take the table: each of the `stems` has as many places of related `stems` as `counts` says.

        Cosines are in steps of 1/`STEPS`.
        """
        self._stems: list[int] = stems.tolist()
        self._places = {code: place for place, code in enumerate(self._stems)}
        self._starts: list[int] = [0, *np.cumsum(counts, dtype=np.int64).tolist()]
        self._related, self._cosines = related, cosines
        self._known: dict[int, tuple[tuple[int, float], ...]] = {}

    def of(self, codes: Codes) -> Related:
        """Return the words related to each of the stems, without those that are among the stems themselves."""
        own: list[int] = codes.tolist()
        found = [
            (code, place, cosine)
            for place, stem in enumerate(own)
            if stem in self._places
            for code, cosine in self._one(stem)
            if code not in own
        ]
        if not found:
            return NOTHING
        related, places, cosines = zip(*found, strict=True)
        return Related(np.array(related, np.uint64), np.array(places, np.int64), np.array(cosines, np.float64))

    def _one(self, stem: int) -> tuple[tuple[int, float], ...]:
        """Return the words related to a stem of the table, with their cosines."""
        known = self._known.get(stem)
        if known is None:
            place = self._places[stem]
            span = slice(self._starts[place], self._starts[place + 1])
            related: list[int] = self._related[span].tolist()
            cosines: list[float] = (self._cosines[span] / STEPS).tolist()
            known = tuple((self._stems[one], cosine) for one, cosine in zip(related, cosines, strict=True))
            self._known[stem] = known  # two threads may both do this, with the same result
        return known


@cache
def related_words() -> RelatedWords:
    """Return the table that ships with Muisti."""
    load: Any = importlib.import_module("safetensors.numpy").load
    return RelatedWords(**load(FILE.read_bytes()))
