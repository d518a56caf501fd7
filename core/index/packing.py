"""Packs what an index is made from into segments, so that the next load reads few large rows instead of many small."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import NamedTuple, cast

import numpy as np

from muisti.core.index.inserted import Inserted
from muisti.core.store.database import Database, Refused, Rows, Statement
from muisti.core.store.sql import index_rows, segments, spaces
from muisti.core.store.sql.spaces import SpaceRow

PACKED = 1_000  # versions, so many of which are packed or none: 340 MB in memory if each were as long as it may be
SEGMENT_BYTES = 2 << 20  # sqld holds no value of 5 MB, and an answer of more than 10 MB takes another round trip
READ_BYTES = 4 << 20  # of segments in one read


class Segment(NamedTuple):
    """Inserted rows that were packed: up to `last`, alive at change `seen`."""

    inserted: Inserted
    last: int
    seen: int


def pack(database: Database, space: SpaceRow, generation: int | None, stopped: Callable[[], bool]) -> None:
    """Pack the living versions that are in no segment yet, oldest first; fewer than `PACKED` stay as they are."""
    with suppress(Refused):  # the space was made anew
        while not stopped():
            (newest,) = database.read([segments.last(space, generation)])
            first = cast(int | None, newest[0][0]) or 0
            state, living = database.read([spaces.state(space.id), index_rows.living(space, generation, first, PACKED)])
            inserted = Inserted.of(living, space.dimensions if generation else 0)
            if not state or state[0][0] != space.space.epoch or inserted.versions < PACKED:
                return
            seen = cast(int, state[0][1])
            for part in inserted.parts(SEGMENT_BYTES):
                last = int(part.born[-1])
                database.write(segments.add(space, generation, (first, last), seen, len(part), part.pack()))
                first = last


def repack(database: Database, space: SpaceRow) -> int:
    """Write the segments anew that hold erased versions, without these and all that died. Gives how many.

    Others may do the same at once. A segment from which all is gone stays, empty: behind a gap none would be read.
    """
    count = 0
    while True:
        (found,) = database.read([segments.with_erased(space)])
        if not found:
            return count
        generation, first, seen, data = cast(tuple[int, int, int, bytes], found[0])
        state, deaths = database.read([spaces.state(space.id), index_rows.deaths(space, seen)])
        if not state:
            return count
        gone = np.array([row[0] for row in deaths], np.int64)
        kept = Inserted.unpack(data).without(gone)
        number = cast(int, state[0][1])
        over = [] if database.local else segments.overwrite(space, generation, first, seen)
        database.write([*over, segments.rewrite(space, generation, first, seen, number, len(kept), kept.pack())])
        count += 1


def packed(database: Database, space: SpaceRow, generation: int | None) -> tuple[int, Iterator[Segment]]:
    """How many passages are packed, and the segments in order, up to the first gap."""
    (known,) = database.read([segments.chain(space, generation)])
    sizes = cast(list[tuple[int, int, int]], known)
    return sum(passages for _, passages, _ in sizes), _read(database, space, generation, sizes)


def _read(
    database: Database, space: SpaceRow, generation: int | None, sizes: Sequence[tuple[int, int, int]]
) -> Iterator[Segment]:
    end = 0
    for (rows,) in _ahead(database.read, ([segments.data(space, generation, firsts)] for firsts in _groups(sizes))):
        for first, last, seen, data in cast(list[tuple[int, int, int, bytes]], rows):
            if first != end:
                return  # what is behind a gap is of no use
            yield Segment(Inserted.unpack(data), last, seen)
            end = last


def _ahead(read: Callable[[Sequence[Statement]], list[Rows]], asked: Iterable[list[Statement]]) -> Iterator[list[Rows]]:
    """The answers in order: while one is used, the next is on its way, so that a server need not wait for us."""
    with ThreadPoolExecutor(1, "segments") as reader:
        coming = deque[Future[list[Rows]]]()
        for statements in asked:
            coming.append(reader.submit(read, statements))
            if len(coming) > 1:
                yield coming.popleft().result()
        for last in coming:
            yield last.result()


def _groups(sizes: Sequence[tuple[int, int, int]]) -> Iterator[list[int]]:
    """Where the segments begin that are read together."""
    firsts: list[int] = []
    size = 0
    for first, _, nbytes in sizes:
        if firsts and size + nbytes > READ_BYTES:
            yield firsts
            firsts, size = [], 0
        firsts.append(first)
        size += nbytes
    if firsts:
        yield firsts
