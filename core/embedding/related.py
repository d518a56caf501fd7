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
from muisti.core.kernels.related import find_related

FILE = SHIPPED / "related.safetensors"
STEPS = 255  # of a cosine of 1

Bytes = npt.NDArray[np.uint8]
Shorts = npt.NDArray[np.uint16]


class Related(NamedTuple):
    """Words related to those of a query: codes of stems, the place of the query's word, and the cosine of both.

    Words that are related to the same one are adjacent, the likest first. `df` has a place for the rows with each word,
    which are not counted yet: -1.
    """

    codes: Codes
    places: Longs
    likeness: Doubles
    df: Longs


NONE = Related(np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64))


class RelatedWords:
    """The related words of stems, by code."""

    def __init__(self, stems: Codes, counts: Bytes, related: Shorts, cosines: Bytes) -> None:
        """Take the table: each of the `stems`, ascending, has as many places of related `stems` as `counts` says.

        Cosines are in steps of 1/`STEPS`.
        """
        starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int32)]).astype(np.int32)
        self._most = int(counts.max(initial=0))
        self._table = (stems.copy(), starts, stems[related], cosines / STEPS)  # loops take no arrays that are read-only

    def of(self, codes: Codes) -> Related:
        """Return the words related to each of the stems, without those that are among the stems themselves."""
        most = self._most * len(codes)
        room = Related(np.empty(most, np.uint64), np.empty(most, np.int64), np.empty(most), np.empty(most, np.int64))
        found = find_related(*self._table, codes, *room)
        return Related(room.codes[:found], room.places[:found], room.likeness[:found], room.df[:found])


@cache
def related_words() -> RelatedWords:
    """Return the table that ships with Muisti."""
    load: Any = importlib.import_module("safetensors.numpy").load
    return RelatedWords(**load(FILE.read_bytes()))
