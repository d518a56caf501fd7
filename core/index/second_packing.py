"""Packs the vectors of a space's second model into segments of their own, so that an index loads them fast.

They cannot be in the segments of the passages, because they come later. A segment has the vectors of some versions. It
is read like a cache: what it lacks comes from the rows of the store.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

import msgspec
import numpy as np

from muisti.core.embedding.vectors import rows_of
from muisti.core.index.packing import PACKED, SEGMENT_BYTES, grouped
from muisti.core.index.rows import Rows
from muisti.core.index.vector_columns import VectorColumns
from muisti.core.kernels import Bytes, Ints, Longs
from muisti.core.store.database import Database, Refused
from muisti.core.store.sql import deferred, segments
from muisti.core.store.sql.spaces import SpaceRow

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


def pack(database: Database, space: SpaceRow, stopped: Callable[[], bool]) -> None:
    """Pack the vectors of current versions that are in no segment yet, oldest first; a small rest stays unpacked.

    `stopped` is asked before each step. The function returns silently when the space was recreated meanwhile.
    """
    with suppress(Refused):
        while not stopped():
            newest, marks = database.read([segments.last_second(space), deferred.second_marks(space)])
            first = cast(int | None, newest[0][0]) or 0
            if not marks:
                return
            upto, seen = cast(tuple[int, int], marks[0])
            (rows,) = database.read([segments.second_vectors(space, first, upto, PACKED)])
            found = cast(list[_Row], rows)
            if len({version for _, version, _, _ in found}) < PACKED:
                return
            for last, part in _parts(found, space.second_dimensions):
                database.write(segments.add_second(space, (first, last), seen, len(part), part.pack()))
                first = last


def load(database: Database, space: SpaceRow, rows: Rows, columns: VectorColumns) -> None:
    """Put the packed vectors of the second model into `columns`, for the `rows` that have a place for them.

    A damaged segment is skipped; `muisti doctor` names it.
    """
    (sizes,) = database.read([segments.second_chain(space)])
    known, numbers = rows.version.view(), rows.number.view()
    width = rows_of([None], columns.dimensions).shape[1]
    for firsts in grouped(cast(list[tuple[int, int]], sizes)):
        (found,) = database.read([segments.second_data(space, firsts)])
        for (data,) in cast(list[tuple[bytes]], found):
            packed = _unpacked(data)
            if not len(known) or packed.vectors.shape[1] != width:
                continue
            at = np.searchsorted(known, packed.versions) + packed.numbers
            there = (at >= 0) & (at < len(known))
            place = np.where(there, at, 0)
            there &= (known[place] == packed.versions) & (numbers[place] == packed.numbers)
            columns.put(at[there], packed.vectors[there])


def _unpacked(data: bytes) -> Packed:
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
