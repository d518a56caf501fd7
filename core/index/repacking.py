"""Rewrites segments that hold erased versions, those of an index and those with vectors of second models."""

from typing import Protocol, Self, cast

import msgspec
import numpy as np

from muisti.core.index.inserted import Inserted
from muisti.core.index.second_packing import Packed
from muisti.core.kernels import Longs
from muisti.core.store.database import Database
from muisti.core.store.sql import index_rows, segments, spaces
from muisti.core.store.sql.segments import Kept
from muisti.core.store.sql.spaces import SpaceRow


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
        (found,) = database.read([segments.with_erased(space)])
        if not found:
            return count
        generation, format, first, seen, data = cast(tuple[int, int, int, int, bytes], found[0])
        state, ended = database.read([spaces.state(space), index_rows.ended(space, seen)])
        if not state:
            return count
        gone = np.array([row[0] for row in ended], np.int64)
        kept = _unpacked(format, data).without(gone)
        one = Kept(space.id, generation, format, first, seen)
        over = [] if database.local else segments.overwrite(one)
        database.write([*over, segments.rewrite(one, cast(int, state[0][1]), len(kept), kept.pack())])
        count += 1


def _unpacked(format: int, data: bytes) -> _Rows:
    """Return the rows of a segment; none of one with second vectors that is damaged, which loads would skip."""
    if format == segments.FORMAT:
        return Inserted.unpack(data)
    try:
        return Packed.unpack(data)
    except (msgspec.DecodeError, ValueError):
        return Packed.empty()
