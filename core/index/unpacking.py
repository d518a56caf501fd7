"""Unpacks segments for an index. While the rows of some are appended, a thread builds the posting lists of the next."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from muisti.core.index.inserted import Inserted
from muisti.core.index.postings import Postings, build
from muisti.core.kernels import Codes, Ints, Longs

GROUP_BYTES = 8 << 20  # packed; building posting lists together costs less than merging them afterwards


class Group(NamedTuple):
    """Rows in order, with their posting lists and the length of each in units."""

    inserted: Sequence[Inserted]
    pieces: Sequence[Postings]
    lengths: Ints


def built(segments: Iterator[Inserted], units: Ints) -> Iterator[Group]:
    """Yield all rows of the segments, in groups; `units` has the lexical weight of each field."""
    first = 0
    with ThreadPoolExecutor(1, "postings") as maker:
        before = None
        for inserted in _groups(segments):
            coming = inserted, maker.submit(build, first, *_codes(inserted), units)
            first += sum(map(len, inserted))
            if before is not None:
                yield Group(before[0], *before[1].result())
            before = coming
        if before is not None:
            yield Group(before[0], *before[1].result())


def _groups(segments: Iterator[Inserted]) -> Iterator[list[Inserted]]:
    group: list[Inserted] = []
    for inserted in segments:
        group.append(inserted)
        if sum(one.nbytes for one in group) >= GROUP_BYTES:
            yield group
            group = []
    if group:
        yield group


def _codes(inserted: Sequence[Inserted]) -> tuple[Codes, Longs]:
    """Return the term codes of all rows, and the places where those of each row begin, with the end of the last."""
    starts = np.cumsum(np.concatenate([[0], *(one.term_counts for one in inserted)]), dtype=np.int64)
    return np.concatenate([one.terms for one in inserted]), starts
