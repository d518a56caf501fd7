"""Packs the rows of an index into segments, so that the next load reads few large rows instead of many small ones."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple, Protocol, Self, cast

import msgspec
import numpy as np

from muisti.core.embedding.vectors import rows_of
from muisti.core.index.new_rows import Inserted
from muisti.core.index.postings import Postings, build
from muisti.core.index.rows import Rows
from muisti.core.index.vector_columns import VectorColumns
from muisti.core.kernels import Bytes, Codes, Ints, Longs
from muisti.core.store.database import Database, Refused, Row, Statement
from muisti.core.store.sql import generations, index_rows, spaces
from muisti.core.store.sql.index_rows import Chain, KeptSegment
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
    chain = index_rows.own_chain(space, generation)
    with suppress(Refused):
        while not stopped():
            (newest,) = database.read([index_rows.last_segment(chain)])
            first = cast(int | None, newest[0][0]) or 0
            state, living = database.read([spaces.state(space), index_rows.living(space, generation, first, PACKED)])
            inserted = Inserted.of(living, space.dimensions if generation else 0)
            if not state or state[0][0] != space.space.epoch or inserted.versions < PACKED:
                return
            seen = cast(int, state[0][1])
            for part in inserted.parts(SEGMENT_BYTES):
                last = int(part.born[-1])
                database.write(index_rows.add_segment(space, chain, (first, last), seen, len(part), part.pack()))
                first = last


def packed(database: Database, space: SpaceRow, generation: int | None) -> tuple[int, Iterator[Segment]]:
    """Return how many passages are packed, and an iterator over the segments in order, up to the first gap."""
    chain = index_rows.own_chain(space, generation)
    (known,) = database.read([index_rows.segments(chain)])
    sizes = cast(list[tuple[int, int, int]], known)
    return sum(passages for _, passages, _ in sizes), _read(database, chain, sizes)


def _read(database: Database, chain: Chain, sizes: Sequence[tuple[int, int, int]]) -> Iterator[Segment]:
    end = 0
    groups = grouped((first, nbytes) for first, _, nbytes in sizes)
    for (rows,) in _ahead(database.read, ([index_rows.segment_data(chain, firsts)] for firsts in groups)):
        for first, last, seen, data in cast(list[tuple[int, int, int, bytes]], rows):
            if first != end:
                return  # a gap: rows must be appended in order
            yield Segment(Inserted.unpack(data), last, seen)
            end = last


def _ahead(
    read: Callable[[Sequence[Statement]], list[list[Row]]], asked: Iterable[list[Statement]]
) -> Iterator[list[list[Row]]]:
    """Yield the answers in order. A thread reads the next one while the caller uses the last."""
    with ThreadPoolExecutor(1, "segments") as reader:
        coming = deque[Future[list[list[Row]]]]()
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


# Unpacks segments for an index. While the rows of some are appended, a thread builds the posting lists of the next

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


# Rewrites segments that hold erased versions, those of an index and those with vectors of second models


class _Rows(Protocol):
    """Packed rows of versions."""

    def __len__(self) -> int: ...

    def without(self, versions: Longs, /) -> Self: ...

    def pack(self) -> bytes: ...


def repack(database: Database, space: SpaceRow) -> int:
    """Rewrite the segments that hold erased versions without any version that has ended; return how many.

    Several processes may do this at the same time. An emptied segment stays, because no segment behind a gap is read.
    """
    count = 0
    while True:
        (found,) = database.read([index_rows.segments_with_erased(space)])
        if not found:
            return count
        generation, format, first, seen, data = cast(tuple[int, int, int, int, bytes], found[0])
        state, ended = database.read([spaces.state(space), index_rows.ended(space, seen)])
        if not state:
            return count
        gone = np.array([row[0] for row in ended], np.int64)
        kept = _unpacked(format, data).without(gone)
        one = KeptSegment(space.id, generation, format, first, seen)
        over = [] if database.local else index_rows.overwrite_segment(one)
        database.write([*over, index_rows.rewrite_segment(one, cast(int, state[0][1]), len(kept), kept.pack())])
        count += 1


def _unpacked(format: int, data: bytes) -> _Rows:
    """Return the rows of a segment; none of one with second vectors that is damaged, which loads would skip."""
    return Inserted.unpack(data) if format == index_rows.FORMAT else _unpacked_second(data)


# Packs the vectors of a space's second model into segments of their own, so that an index loads them fast.
#
# They cannot be in the segments of the passages, because they come later. A segment has the vectors of some versions.
# It is read like a cache: what it lacks comes from the rows of the store.

_Row = tuple[int, int, int | None, bytes | None]  # born, version id, number and vector


@dataclass(frozen=True, slots=True)
class Packed:
    """Vectors of passages: the version and the number of each, and the stored vector."""

    versions: Longs
    numbers: Ints
    vectors: Bytes

    @classmethod
    def empty(cls) -> "Packed":
        return cls(np.empty(0, np.int64), np.empty(0, np.int32), np.empty((0, 0), np.int8))

    def __len__(self) -> int:
        return len(self.versions)

    def without(self, versions: Longs) -> "Packed":
        """Return all vectors but those of `versions`."""
        kept = ~np.isin(self.versions, versions)
        return Packed(self.versions[kept], self.numbers[kept], self.vectors[kept])

    def pack(self) -> bytes:
        columns = (self.versions.astype("<i8"), self.numbers.astype("<i4"), self.vectors)
        return msgspec.msgpack.encode([column.tobytes() for column in columns])

    @classmethod
    def unpack(cls, data: bytes) -> "Packed":
        """Return the vectors of a segment.

        Raises:
            msgspec.DecodeError, ValueError: the segment is damaged.
        """
        versions, numbers, vectors = msgspec.msgpack.decode(data, type=tuple[bytes, bytes, bytes])
        count = len(versions) // 8
        found = cls(
            np.frombuffer(versions, "<i8"),
            np.frombuffer(numbers, "<i4"),
            np.frombuffer(vectors, np.int8).reshape(count, len(vectors) // max(count, 1)),
        )
        if len(found.numbers) != count:
            raise ValueError(f"{count} versions and {len(found.numbers)} numbers")
        return found


def pack_second(database: Database, space: SpaceRow, stopped: Callable[[], bool]) -> None:
    """Pack the vectors of current versions that are in no segment yet, oldest first; a small rest stays unpacked.

    `stopped` is asked before each step. The function returns silently when the space was recreated meanwhile.
    """
    chain = index_rows.second_chain(space)
    with suppress(Refused):
        while not stopped():
            newest, marks = database.read([index_rows.last_segment(chain), generations.second_marks(space)])
            first = cast(int | None, newest[0][0]) or 0
            if not marks:
                return
            upto, seen = cast(tuple[int, int], marks[0])
            (rows,) = database.read([index_rows.second_vectors(space, first, upto, PACKED)])
            found = cast(list[_Row], rows)
            if len({version for _, version, _, _ in found}) < PACKED:
                return
            for last, part in _parts(found, space.second_dimensions):
                database.write(index_rows.add_segment(space, chain, (first, last), seen, len(part), part.pack()))
                first = last


def load_second(database: Database, space: SpaceRow, rows: Rows, columns: VectorColumns) -> None:
    """Put the packed vectors of the second model into `columns`, for the `rows` that have a place for them.

    A damaged segment is skipped; `muisti doctor` names it.
    """
    chain = index_rows.second_chain(space)
    (sizes,) = database.read([index_rows.segments(chain)])
    known, numbers = rows.version.view(), rows.number.view()
    width = rows_of([None], columns.dimensions).shape[1]
    for firsts in grouped((first, nbytes) for first, _, nbytes in cast(list[tuple[int, int, int]], sizes)):
        (found,) = database.read([index_rows.segment_data(chain, firsts)])
        for *_, data in cast(list[tuple[int, int, int, bytes]], found):
            packed = _unpacked_second(data)
            if not len(known) or packed.vectors.shape[1] != width:
                continue
            at = np.searchsorted(known, packed.versions) + packed.numbers
            there = (at >= 0) & (at < len(known))
            place = np.where(there, at, 0)
            there &= (known[place] == packed.versions) & (numbers[place] == packed.numbers)
            columns.put(at[there], packed.vectors[there])


def _unpacked_second(data: bytes) -> Packed:
    try:
        return Packed.unpack(data)
    except (msgspec.DecodeError, ValueError):
        return Packed.empty()


def _parts(rows: list[_Row], dimensions: int) -> Iterator[tuple[int, Packed]]:
    """Yield stretches of whole versions, each of about `SEGMENT_BYTES`, with the change of the last version."""
    start, size = 0, 0
    for place, (born, _, _, vector) in enumerate(rows):
        size += len(vector or b"")
        ends = place + 1 == len(rows) or rows[place + 1][0] != born
        if ends and (size >= SEGMENT_BYTES or place + 1 == len(rows)):
            yield born, _packed(rows[start : place + 1], dimensions)
            start, size = place + 1, 0


def _packed(rows: list[_Row], dimensions: int) -> Packed:
    there = [row for row in rows if row[3] is not None]
    return Packed(
        np.array([row[1] for row in there], np.int64),
        np.array([row[2] for row in there], np.int32),
        rows_of([row[3] for row in there], dimensions),
    )
