"""Collection statistics for BM25: the rows of default visibility (active, not expired), updated change by change.

Lengths are whole numbers, so sums that were added to and taken from equal a fresh count to the last bit.
"""

import math
from dataclasses import dataclass, field, replace
from itertools import count

import numpy as np
import numpy.typing as npt

from muisti.core.index.columns import Buffer
from muisti.core.index.dialogue import OUTSIDE
from muisti.core.index.new_rows import NEVER
from muisti.core.index.postings import UNIT
from muisti.core.index.rows import Rows
from muisti.core.index.vector_columns import Vectors
from muisti.core.kernels import Codes, Longs, Mask
from muisti.core.kernels.pool import count_memories

# The rows of a snapshot that a search may return

# Sets of rows as words of 64 bits; the lowest bit of a word is its first row.
#
# Bits beyond the last row mean nothing in a set that was negated; those of `packed` flags are 0.

ROWS = 64  # of a word


def words_for(rows: int) -> int:
    """Return how many words have a bit for each of so many rows."""
    return -(-rows // ROWS)


def packed(flags: Mask) -> Codes:
    """Return the words of a flag for each row."""
    some = np.packbits(flags, bitorder="little")
    words = np.zeros(words_for(len(flags)), "<u8")
    words.view(np.uint8)[: len(some)] = some
    return words.astype(np.uint64, copy=False)


def unpacked(words: Codes, rows: int) -> Mask:
    """Return a flag for each of the first `rows` rows."""
    some = words.astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(some, count=rows, bitorder="little").view(np.bool_)


def count_bits(words: Codes) -> int:
    """Count the bits that are set."""
    return int(np.bitwise_count(words).sum(dtype=np.int64))


class Allowed:
    """A flag for each row of a snapshot, and how many are set. Immutable, except that it caches what derives from them.

    Two readers may both compute a derived value; they get the same.
    """

    __slots__ = ("_memories", "_with_vector", "_words", "count", "mask")

    def __init__(self, mask: Mask, count: int, *, words: Codes | None = None, memories: int | None = None) -> None:
        """Take the flags; `words` are the same as bits, `memories` how many memories the rows belong to, if known."""
        self.mask = mask
        self.count = count
        self._words = words
        self._memories = memories
        self._with_vector: dict[str | None, Codes] = {}  # by model: the arrays of a `Vectors` would be kept alive

    @property
    def words(self) -> Codes:
        """A bit for each row; the lowest bit is the first row."""
        if self._words is None:
            self._words = packed(self.mask)
        return self._words

    @property
    def nbytes(self) -> int:
        """Bytes of the flags, and of the bits that searches by two models derive from them."""
        return self.mask.nbytes + 3 * self.mask.nbytes // 8

    def memories(self, versions: Longs) -> int:
        """Return how many memories the rows belong to; `versions` has that of each row."""
        if self._memories is None:
            self._memories = count_memories(versions, self.mask)
        return self._memories

    def with_vector(self, vectors: Vectors) -> Codes:
        """Return a bit for each row, set when it is allowed and has one of `vectors`; the lowest bit is the first row.

        The sign bits of rows without a vector mean nothing. `vectors` are those of the snapshot, by one of its models.
        """
        if not vectors.blanks:
            return self.words
        found = self._with_vector.get(vectors.model)
        if found is None:
            found = self._with_vector[vectors.model] = packed(self.mask & (vectors.scales > 0))
        return found


RowNumbers = npt.NDArray[np.int64]

MOST_FRESH = 1_024  # rows with an expiry that may be unsorted

_serials = count(1)


@dataclass(frozen=True, slots=True, eq=False)
class CollectionStatistics:
    """Counts of the visible rows and of their memories; `total` and `squares` sum up their lengths in `UNIT`s.

    The counts hold for every time from `since` until `until`, in microseconds. `waiting` has rows that will expire,
    ordered by `times`; `fresh` has more of them, unsorted. Some of both may have ended since. `df` caches document
    frequencies by term code, `heard` whether a speaker has visible rows, and `turns` how many rows are turns.

    `mask` has a flag for each row, and is the beginning of `flags`. When rows are only added, `flags` grows at its end
    and nothing is copied. `serial` is a number that no other statistics of this process have.
    """

    mask: Mask
    flags: Buffer[np.bool_]
    rows: int
    memories: int
    total: int
    squares: int
    since: int
    until: int
    waiting: RowNumbers
    times: RowNumbers
    fresh: RowNumbers
    df: dict[int, int] = field(default_factory=dict[int, int], repr=False)
    heard: dict[int, bool] = field(default_factory=dict[int, bool], repr=False)
    turns: list[int] = field(default_factory=list[int], repr=False)
    allowed: Allowed = field(init=False, repr=False)
    serial: int = field(init=False, default_factory=_serials.__next__)

    def __post_init__(self) -> None:
        object.__setattr__(self, "allowed", Allowed(self.mask, self.rows, memories=self.memories))

    @property
    def average(self) -> float:
        """The mean length, in weighted terms; 0 when there are no rows."""
        return UNIT * self.total / self.rows if self.rows else 0.0

    def hears(self, rows: Rows, speaker: int) -> bool:
        """Return whether any visible row belongs to the speaker with this code."""
        if speaker not in self.heard:
            said = rows.dialogues.speaker()[: len(self.mask)] == speaker
            self.heard[speaker] = bool((said & self.mask[: len(said)]).any())
        return self.heard[speaker]

    def talks(self, rows: Rows) -> bool:
        """Return whether most visible rows are turns of dialogues; further passages of a long turn count as others."""
        if not rows.dialogues.linked:
            return False
        if not self.turns:
            linked = rows.dialogues.before()[: len(self.mask)] != OUTSIDE
            self.turns.append(int(np.count_nonzero(linked & self.mask[: len(linked)])))
        return 2 * self.turns[0] > self.rows

    @property
    def spread(self) -> float:
        """The coefficient of variation of the lengths."""
        return math.sqrt(self.rows * self.squares - self.total**2) / self.total if self.total else 0.0


def counted(rows: Rows, size: int, seq: int, now: int) -> CollectionStatistics:
    """Count the first `size` rows that are visible after change number `seq`, at the time `now`."""
    expires = rows.expires.view(size)
    living = lived(rows, size, seq) & rows.active.view(size)
    mask = living & (expires > now)
    lengths = rows.length.view(size)[mask]
    flags = _flags(mask)
    return _in_order(
        rows,
        CollectionStatistics(
            mask=flags.view(),
            flags=flags,
            rows=len(lengths),
            memories=_firsts(rows, mask),
            total=_sum(lengths),
            squares=_squares(lengths),
            since=int(expires[living & ~mask].max(initial=np.iinfo(np.int64).min)),
            until=NEVER,
            waiting=np.empty(0, np.int64),
            times=np.empty(0, np.int64),
            fresh=np.flatnonzero(mask & (expires < NEVER)),
        ),
    )


def within(population: CollectionStatistics, rows: Rows, chosen: Mask) -> CollectionStatistics:
    """Return the statistics of the chosen rows of a population, for the same times; `followed` and `aged` take none."""
    mask = population.mask & chosen
    flags, lengths = _flags(mask), rows.length.view(len(mask))[mask]
    return replace(
        population,
        mask=flags.view(),
        flags=flags,
        rows=len(lengths),
        memories=_firsts(rows, mask),
        total=_sum(lengths),
        squares=_squares(lengths),
        df={},
        heard={},
        turns=[],
    )


def lived(rows: Rows, size: int, seq: int) -> Mask:
    """Return a flag for each of the first `size` rows: whether its version had begun and not ended after `seq`."""
    return (rows.born.view(size) <= seq) & (rows.died.view(size) > seq)


def followed(before: CollectionStatistics, rows: Rows, size: int, seq: int, ended: RowNumbers) -> CollectionStatistics:
    """Update statistics after rows were added, up to `size`, and the versions of the `ended` rows ended."""
    old = len(before.mask)
    after = before
    left = ended[ended < old]
    left = left[before.mask[left]]
    if len(left) or len(before.flags) != old:  # another snapshot has lengthened it
        flags = _flags(before.mask)
        flags.view()[left] = False
        after = _without(replace(before, flags=flags, mask=flags.view()), rows, left)
    living = (rows.died.view(size)[old:] > seq) & rows.active.view(size)[old:]
    living &= rows.expires.view(size)[old:] > before.since
    after.flags.append(living)
    born = old + np.flatnonzero(living)
    lengths, expires = rows.length.view()[born], rows.expires.view()[born]
    expiring = born[expires < NEVER]
    after = CollectionStatistics(
        mask=after.flags.view(),
        flags=after.flags,
        rows=after.rows + len(born),
        memories=after.memories + _firsts(rows, born),
        total=after.total + _sum(lengths),
        squares=after.squares + _squares(lengths),
        since=after.since,
        until=min(after.until, int(expires.min(initial=NEVER))),
        waiting=after.waiting,
        times=after.times,
        fresh=np.append(after.fresh, expiring) if len(expiring) else after.fresh,
    )
    return after if len(after.fresh) <= MOST_FRESH else _in_order(rows, after)


def aged(before: CollectionStatistics, rows: Rows, now: int) -> CollectionStatistics:
    """Update statistics to a later time: leave out the rows that have expired by then."""
    due = int(np.searchsorted(before.times, now, side="right"))
    is_due = rows.expires.view()[before.fresh] <= now
    gone = np.append(before.waiting[:due], before.fresh[is_due])
    times, fresh = before.times[due:], before.fresh[~is_due]
    flags = _flags(before.mask)
    left = gone[before.mask[gone]]
    flags.view()[left] = False
    after = replace(
        before,
        mask=flags.view(),
        flags=flags,
        since=max(before.since, int(rows.expires.view()[gone].max(initial=before.since))),
        until=min(int(times.min(initial=NEVER)), int(rows.expires.view()[fresh].min(initial=NEVER))),
        waiting=before.waiting[due:],
        times=times,
        fresh=fresh,
        df={},
        heard={},
        turns=[],
    )
    return _without(after, rows, left)


def _flags(mask: Mask) -> Buffer[np.bool_]:
    """Copy a mask into a buffer that can grow."""
    flags = Buffer(np.bool_)
    flags.append(mask)
    return flags


def _without(population: CollectionStatistics, rows: Rows, left: RowNumbers) -> CollectionStatistics:
    lengths = rows.length.view()[left]
    return replace(
        population,
        turns=[],
        rows=population.rows - len(left),
        memories=population.memories - _firsts(rows, left),
        total=population.total - _sum(lengths),
        squares=population.squares - _squares(lengths),
    )


def _in_order(rows: Rows, population: CollectionStatistics) -> CollectionStatistics:
    """Sort the fresh rows in among the waiting ones, without rows that are no longer visible."""
    waiting = np.append(population.waiting, population.fresh)
    waiting = waiting[population.mask[waiting]]
    times = rows.expires.view()[waiting]
    order = np.argsort(times, kind="stable")
    return replace(
        population,
        until=int(times.min(initial=NEVER)),
        waiting=waiting[order],
        times=times[order],
        fresh=np.empty(0, np.int64),
    )


def _firsts(rows: Rows, chosen: RowNumbers | Mask) -> int:
    numbers = rows.number.view(len(chosen)) if chosen.dtype == np.bool_ else rows.number.view()
    return int(np.count_nonzero(numbers[chosen] == 0))


def _sum(lengths: npt.NDArray[np.int32]) -> int:
    return int(lengths.sum(dtype=np.int64))


def _squares(lengths: npt.NDArray[np.int32]) -> int:
    wide = lengths.astype(np.int64)
    return int(np.dot(wide, wide))
