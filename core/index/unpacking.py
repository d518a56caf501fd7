"""Takes segments for an index: while the rows of some are taken over, a thread makes the posting lists of the next."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from muisti.core.index.inserted import Births
from muisti.core.index.postings import Postings, build
from muisti.core.kernels import Codes, Ints, Longs

GROUP_BYTES = 8 << 20  # packed; posting lists made together cost less than those that are merged afterwards


class Group(NamedTuple):
    """Rows in order, with their posting lists and the length of each in units."""

    births: Sequence[Births]
    pieces: Sequence[Postings]
    lengths: Ints


def built(segments: Iterator[Births], units: Ints) -> Iterator[Group]:
    """All rows of the segments; `units` has the lexical weight of each field."""
    first = 0
    with ThreadPoolExecutor(1, "postings") as maker:
        before = None
        for births in _groups(segments):
            coming = births, maker.submit(build, first, *_codes(births), units)
            first += sum(map(len, births))
            if before is not None:
                yield Group(before[0], *before[1].result())
            before = coming
        if before is not None:
            yield Group(before[0], *before[1].result())


def _groups(segments: Iterator[Births]) -> Iterator[list[Births]]:
    group: list[Births] = []
    for births in segments:
        group.append(births)
        if sum(one.nbytes for one in group) >= GROUP_BYTES:
            yield group
            group = []
    if group:
        yield group


def _codes(births: Sequence[Births]) -> tuple[Codes, Longs]:
    """The term codes of all rows, and where those of each begin, with the end of the last."""
    starts = np.cumsum(np.concatenate([[0], *(one.term_counts for one in births)]), dtype=np.int64)
    return np.concatenate([one.terms for one in births]), starts
