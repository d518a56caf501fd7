"""Packs the rows of an index into segments, so that the next load reads few large rows instead of many small ones."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import NamedTuple, cast

from muisti.core.index.inserted import Inserted
from muisti.core.store.database import Database, Refused, Rows, Statement
from muisti.core.store.sql import index_rows, segments, spaces
from muisti.core.store.sql.spaces import SpaceRow

PACKED = 1_000  # versions packed together, never fewer: 340 MB in memory if each had the largest allowed content
SEGMENT_BYTES = 2 << 20  # sqld refuses values of 5 MB, and an answer of more than 10 MB takes another round trip
READ_BYTES = 4 << 20  # of segments in one read


class Segment(NamedTuple):
    """Packed versions, the last of which began at change `last`; all were current at change `seen`."""

    inserted: Inserted
    last: int
    seen: int


def pack(database: Database, space: SpaceRow, generation: int | None, stopped: Callable[[], bool]) -> None:
    """Pack the current versions that are in no segment yet, oldest first, `PACKED` at a time; a rest stays unpacked.

    `stopped` is asked before each step. The function returns silently when the space was recreated meanwhile.
    """
    with suppress(Refused):
        while not stopped():
            (newest,) = database.read([segments.last(space, generation)])
            first = cast(int | None, newest[0][0]) or 0
            state, living = database.read([spaces.state(space), index_rows.living(space, generation, first, PACKED)])
            inserted = Inserted.of(living, space.dimensions if generation else 0)
            if not state or state[0][0] != space.space.epoch or inserted.versions < PACKED:
                return
            seen = cast(int, state[0][1])
            for part in inserted.parts(SEGMENT_BYTES):
                last = int(part.born[-1])
                database.write(segments.add(space, generation, (first, last), seen, len(part), part.pack()))
                first = last


def packed(database: Database, space: SpaceRow, generation: int | None) -> tuple[int, Iterator[Segment]]:
    """Return how many passages are packed, and an iterator over the segments in order, up to the first gap."""
    (known,) = database.read([segments.chain(space, generation)])
    sizes = cast(list[tuple[int, int, int]], known)
    return sum(passages for _, passages, _ in sizes), _read(database, space, generation, sizes)


def _read(
    database: Database, space: SpaceRow, generation: int | None, sizes: Sequence[tuple[int, int, int]]
) -> Iterator[Segment]:
    end = 0
    groups = grouped((first, nbytes) for first, _, nbytes in sizes)
    for (rows,) in _ahead(database.read, ([segments.data(space, generation, firsts)] for firsts in groups)):
        for first, last, seen, data in cast(list[tuple[int, int, int, bytes]], rows):
            if first != end:
                return  # a gap: rows must be appended in order
            yield Segment(Inserted.unpack(data), last, seen)
            end = last


def _ahead(read: Callable[[Sequence[Statement]], list[Rows]], asked: Iterable[list[Statement]]) -> Iterator[list[Rows]]:
    """Yield the answers in order. A thread reads the next one while the caller uses the last."""
    with ThreadPoolExecutor(1, "segments") as reader:
        coming = deque[Future[list[Rows]]]()
        for statements in asked:
            coming.append(reader.submit(read, statements))
            if len(coming) > 1:
                yield coming.popleft().result()
        for last in coming:
            yield last.result()


def grouped(sizes: Iterable[tuple[int, int]]) -> Iterator[list[int]]:
    """Yield groups of segments to read together, by their first changes: at most `READ_BYTES`, or one segment."""
    firsts: list[int] = []
    size = 0
    for first, nbytes in sizes:
        if firsts and size + nbytes > READ_BYTES:
            yield firsts
            firsts, size = [], 0
        firsts.append(first)
        size += nbytes
    if firsts:
        yield firsts
