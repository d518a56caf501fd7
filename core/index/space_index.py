"""The index of one space: kept fresh from the store, read through immutable snapshots."""

from collections.abc import Callable, Iterator
from typing import cast

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from muisti.core.index import mapped
from muisti.core.index.columns import Column
from muisti.core.index.fields import Fields
from muisti.core.index.instructions import Instructions
from muisti.core.index.late_vectors import ArrivingVectors
from muisti.core.index.new_rows import Inserted
from muisti.core.index.packing import Group, built, pack, packed
from muisti.core.index.postings import Postings, build, in_units, keep, settled
from muisti.core.index.rows import ALIVE, Rows
from muisti.core.index.selections import Selections
from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.index.usage import FeedbackCounts, Recent, Refreshes
from muisti.core.kernels import Ints
from muisti.core.model.errors import NotFound
from muisti.core.model.spaces import SpaceSettings
from muisti.core.model.values import Seq
from muisti.core.store.database import Database, Row
from muisti.core.store.sql import index_rows, spaces
from muisti.core.store.sql.spaces import SpaceRow, space_row
from muisti.core.support.memo import forget_texts
from muisti.core.support.waiting import Lock, refuse_long
from muisti.core.text.terms import FIELDS

START_COST = 200  # rows that take as long to read one by one as what every load does besides
PACKED_COST = 0.4  # of a row in a segment, where one that is read alone costs 1
BESIDE_WEIGHT = 1.0  # of a word with its accents or a single character, for 1 of a word of the content
COMPACT_AT = 4_096  # useless rows above which an index is compacted, if they are also more than half of it
FIRST_PAGE = 500  # versions; long ones have hundreds of passages each
PAGE_ROWS = 20_000  # passages that a further page brings, about


class Outdated(Exception):
    """The index must be dropped: the space was recreated or embedded again, or the index lost its consistency."""


class SpaceIndex:
    """The passages of the current versions of a space in memory. Refreshes are serial; readers never wait for them.

    With `past` the index has the passages of all kept versions, so that `Snapshot.as_of` can return earlier points.
    """

    def __init__(self, database: Database, space: SpaceRow, *, vectors: bool = True, past: bool = False) -> None:
        """Load the space, with its vectors or without.

        Raises:
            Outdated: the space changed its identity while it was loaded.
        """
        self.space = space
        self.recent = Recent(0) if past else Recent()  # versions of the past may be erased unnoticed
        self.refreshes = Refreshes(database, space)
        self.feedback_counts = FeedbackCounts(database, space)
        self.instructions = Instructions(database, space)
        self.loose = 0  # rows that are in no segment
        self._database = database
        self._units = field_units(space.space.settings)
        self._refreshing = Lock()
        self._generation = space.generation if vectors else None
        self._rows = Rows(space.dimensions if vectors else 0)
        self._arriving = ArrivingVectors(database, self._generation)
        self._pieces: list[Postings] = []
        self._fields = Fields(database, space, self._rows)
        self._useless = self._unembedded = 0
        self._past = past
        self._kept_from = space.kept_from
        self._erased = False  # whether rows of erased versions are still in memory
        self._whole = True
        self.snapshot = Snapshot(space.seq, self._rows, 0, (), 0)
        self._saved = 0  # the change at which the index was saved, or mapped from a file
        born, seen = (0, space.seq.number) if past else self._map() or self._unpack()
        self._arriving.exchange(space, self._rows)
        self._marks = spaces.Marks(0, space.second, 0)
        self.snapshot = self._pull(after_born=born, ended_after=min(seen, space.seq.number))
        self.snapshot = self._fill(self.snapshot, self._marks)

    @property
    def unsaved(self) -> int:
        """Number of changes since the index was saved in a file; 0 for one that need not be."""
        worth = not self._past and self._database.indexes is not None and len(self._rows) >= mapped.LEAST
        return self.snapshot.seq.number - self._saved if worth else 0

    @property
    def to_load(self) -> float:
        """Cost of reading the index again, in rows that are read one by one: `loadtests.scale` has measured it."""
        rows = len(self._rows)
        read = self.loose + PACKED_COST * max(rows - self.loose, 0)
        return START_COST + (min(read, self.snapshot.seq.number - self._saved) if self._saved else read)

    @property
    def loose_second(self) -> int:
        """Number of vectors by the second model that were not in its segments."""
        return self._arriving.loose

    @property
    def nbytes(self) -> int:
        kept = (
            self._rows,
            *self._pieces,
            self._fields,
            self.recent,
            self.refreshes,
            self.feedback_counts,
            self.instructions,
        )
        return sum(each.nbytes for each in kept)

    @property
    def filter_nbytes(self) -> int:
        """The part of `nbytes` that remembered rows of filters take."""
        return self._fields.selections.nbytes

    def refresh(self, at_least: int) -> Snapshot:
        """Return a snapshot that has seen change number `at_least`, after reading newer changes if necessary.

        Raises:
            Outdated: the index must be dropped.
            NotFound: the space is gone.
        """
        with self._refreshing:
            if not self._whole:
                raise Outdated
            seen = self.snapshot.seq.number
            if seen < at_least:
                self.snapshot = self._pull(after_born=seen, ended_after=seen)
                if self._erased or (self._useless > COMPACT_AT and self._useless > len(self._rows) // 2):
                    self._compact()
            return self.snapshot

    def take_vectors(self, marks: spaces.Marks) -> bool:
        """Read the vectors that were stored after their passages; return whether any were missing here.

        Another second model than before is taken over too.
        """
        if not self._arriving.lacks(marks, self.space):
            return False
        refuse_long()
        with self._refreshing:
            if not self._whole or not self._arriving.lacks(marks, self.space):
                return False
            before = self.snapshot
            if marks.second != self.space.second:
                self._exchange_second()
            self.snapshot = self._fill(self.snapshot, marks)
        return self.snapshot is not before

    def _fill(self, snapshot: Snapshot, marks: spaces.Marks) -> Snapshot:
        """Give rows without a vector the one that the store has; return the snapshot after that."""
        if not self._arriving.fill(self._rows, marks):
            return snapshot
        self._unembedded = self._rows.unembedded()
        return self._unchanged(snapshot)

    def _unchanged(self, snapshot: Snapshot) -> Snapshot:
        return snapshot.followed_by(snapshot.seq, self._pieces, np.empty(0, np.int64), self._unembedded)

    def _exchange_second(self) -> None:
        """Take over the second model that the space has now, with its packed vectors."""
        (found,) = self._database.read([spaces.by_name(self.space.space.name)])
        if found:
            now_is = space_row(found[0])
            self.space = replace(
                self.space,
                space=replace(self.space.space, second=now_is.space.second),
                second=now_is.second,
                second_dimensions=now_is.second_dimensions,
            )
            self._arriving.exchange(self.space, self._rows)
        self.snapshot = self._unchanged(self.snapshot)

    def become(self, space: SpaceRow) -> None:
        """Take another row of the space, whose model is the shadow that this index was loaded for."""
        self.space = space
        self._arriving.look_again()

    def column(self, snapshot: Snapshot, field: str) -> Column:
        """Return the values of a filter field for the rows of a snapshot, built on first use."""
        return self._fields_of(snapshot).column(field, snapshot.size)

    def selections(self, snapshot: Snapshot) -> Selections:
        """Return what evaluates filters over the rows of a snapshot."""
        return self._fields_of(snapshot).selections

    def _fields_of(self, snapshot: Snapshot) -> Fields:
        fields = self._fields
        if fields.rows is snapshot.rows:
            return fields
        return Fields(self._database, self.space, snapshot.rows)  # the snapshot was taken before a compaction

    def pack(self, stopped: Callable[[], bool]) -> None:
        """Pack the rows that are in no segment, so that the next load is faster. Other processes may do the same."""
        pack(self._database, self.space, self._generation, stopped)
        self.loose = 0
        self._arriving.pack(self.space, stopped)

    def save(self) -> None:
        """Save the index in a file, which the next start maps.

        Raises:
            OSError: the file cannot be written.
        """
        folder, chain = self._database.indexes, index_rows.sealed_chain(self.space, self._generation)
        with self._refreshing:
            if folder is None or not self._whole or self._erased:
                return
            seq = self.snapshot.seq.number
            image = mapped.image(chain, seq, self._rows, self._pieces, self._units)
            self._saved = seq
        mapped.save(self._database, folder, self.space, image)

    def _map(self) -> tuple[int, int] | None:
        """Map the file in which the index was saved; return its change twice, None without a file."""
        folder, chain = self._database.indexes, index_rows.sealed_chain(self.space, self._generation)
        found = None if folder is None else mapped.load(self._database, folder, chain, self._rows, self._units)
        if found is None:
            return None
        self._pieces, self._saved = found.pieces, found.seq
        self._unembedded = self._rows.unembedded()
        self._useless = int(np.count_nonzero(self._rows.died.view() != ALIVE))
        (last,) = self._database.read([index_rows.last_segment(index_rows.own_chain(self.space, self._generation))])
        self.loose = int(np.count_nonzero(self._rows.born.view() > cast(int, last[0][0] or 0)))
        return found.seq, found.seq

    def _unpack(self) -> tuple[int, int]:
        """Load the segments; return the change of the last packed version, and the one after which some may have ended.

        Both are change numbers of the space.
        """
        rows, segments = packed(self._database, self.space, self._generation)
        self._rows.reserve(rows + rows // 16)  # some more, so that the first write need not copy all
        ends: list[tuple[int, int]] = [(0, self.space.seq.number)]

        def noted() -> Iterator[Inserted]:
            for inserted, last, seen in segments:
                ends.append((last, seen))
                yield inserted

        for group in built(noted(), self._units):
            self._take_over(group)
        self.loose = 0
        return ends[-1][0], min(seen for _, seen in ends)

    def _pull(self, after_born: int, ended_after: int) -> Snapshot:
        """Read new versions and the ends of old ones from the store, and return the snapshot after them.

        The last read of new versions and of ends is one batch, so the snapshot is consistent.
        """
        page = FIRST_PAGE
        passages = index_rows.every if self._past else index_rows.living
        second = self._rows.second
        while True:
            state, current, ended = self._database.read(
                [
                    spaces.state(self.space),
                    passages(self.space, self._generation, after_born, page, self._arriving.second),
                    index_rows.ended(self.space, ended_after),
                ]
            )
            seq = self._check(state, ended_after)
            inserted = Inserted.of(current, self._rows.dimensions, None if second is None else second.dimensions)
            self._append(inserted)
            if inserted.versions < page:
                break
            after_born = int(inserted.born[-1])
            page = max(PAGE_ROWS * inserted.versions // len(inserted), 1)
        self._whole = False  # see `_append`
        marked = self._mark_ended(ended)
        snapshot = self.snapshot.followed_by(seq, self._pieces, marked, self._unembedded)
        self._whole = True
        return snapshot

    def _mark_ended(self, ended: list[Row]) -> RowNumbers:
        if not ended:
            return np.empty(0, np.int64)
        versions, seqs, erased = (np.array(column, np.int64) for column in zip(*ended, strict=True))
        marked = self._rows.mark_ended(versions, seqs)
        if erased.any():
            self._give_up(versions[erased == 1])
        if not self._past:
            self._useless += len(marked)
        self._unembedded -= len(marked) - int(np.count_nonzero(self._rows.vectors.embedded.view()[marked]))
        return marked

    def _give_up(self, versions: npt.NDArray[np.int64]) -> None:
        """Drop cached memories because `versions` were erased; their rows go with the next compaction.

        Raises:
            Outdated: this is an index of all versions, which must be dropped for that.
        """
        self.recent.forget()
        forget_texts()
        self._erased = bool(np.isin(self._rows.version.view(), versions).any())
        if self._erased and self._past:
            raise Outdated

    def _check(self, state: list[Row], ended_after: int) -> Seq:
        if not state:
            raise NotFound("space", self.space.space.name)
        epoch, number, generation, kept_from = cast(tuple[str, int, int | None, int], state[0][:4])
        placed = max(self.space.placed, -1 - self.space.placed)
        if (epoch, generation, state[0][9]) != (self.space.space.epoch, self.space.generation, placed):
            raise Outdated
        if kept_from > ended_after:  # versions that ended since may be erased, so the store no longer lists them
            raise Outdated
        if self._past and kept_from > self._kept_from:
            self._useless = int(np.count_nonzero(self._rows.died.view() <= kept_from))
        self._kept_from = kept_from
        self._marks = spaces.marks_of(state[0])
        return Seq(epoch, number)

    def _append(self, inserted: Inserted) -> None:
        known = self._rows.version.view()
        if len(known):  # a pull that failed half-way may have appended some already
            inserted = inserted.newer_than(int(known[-1]))
        if not len(inserted):
            return
        self._take_over(Group([inserted], *build(len(self._rows), inserted.terms, inserted.term_starts, self._units)))

    def _take_over(self, group: Group) -> None:
        pieces = settled([*self._pieces, *group.pieces])
        self._whole = False  # if memory runs out in between, columns have unlike lengths and the index is dropped
        start = 0
        for inserted in group.inserted:
            self._rows.append(inserted, group.lengths[start : start + len(inserted)])
            self._unembedded += int(np.count_nonzero((inserted.died == ALIVE) & ~inserted.embedded))
            start += len(inserted)
        self._pieces = pieces
        self.loose += start
        self._whole = True

    def _compact(self) -> None:
        """Rebuild the index without the rows that no search can return. Earlier snapshots keep the old arrays."""
        self._erased = False
        died = self._rows.died.view()
        needed = died > self._kept_from if self._past else died == ALIVE
        new_row = np.concatenate([[0], np.cumsum(needed)])
        kept = [keep(p, needed[p.first : p.first + p.rows], int(new_row[p.first])) for p in self._pieces]
        self._rows, self._pieces, self._useless = self._rows.only(needed), settled([p for p in kept if p.rows]), 0
        self._fields = Fields(self._database, self.space, self._rows)
        self.instructions.keep(self._rows)
        seq = self.snapshot.seq
        self.snapshot = Snapshot(seq, self._rows, len(self._rows), self._pieces, self._unembedded)


def field_units(settings: SpaceSettings) -> Ints:
    """Return the lexical weight of each field in units, by the field's code, and that of terms beside the content."""
    weights = [settings.lexical_weights.get(field, 0.0) for field in FIELDS]
    return in_units(np.array([*weights, BESIDE_WEIGHT * weights[0]], np.float32))
