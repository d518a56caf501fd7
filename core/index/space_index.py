"""The index of one space: kept fresh from the store, read through immutable snapshots."""

import threading
from typing import cast

import numpy as np

from core.columns import Column
from core.errors import NotFound
from core.index.fields import Fields
from core.index.postings import Postings, build, in_units, keep, settled
from core.index.recent import Recent
from core.index.rows import ALIVE, Rows
from core.index.snapshot import RowNumbers, Snapshot
from core.kernels import Ints
from core.store import index_rows, spaces
from core.store.database import Database, Row
from core.store.spaces import SpaceRow
from core.text import FIELDS
from core.values import Seq, SpaceSettings

COMPACT_AT = 4_096  # dead rows, when they are also most of the index


class Outdated(Exception):
    """The space was made anew or embedded anew, or a refresh broke off: this index can only be thrown away."""


class SpaceIndex:
    """The living passages of a space in memory. Refreshing is serial; readers never wait for it."""

    def __init__(self, database: Database, space: SpaceRow, *, vectors: bool = True) -> None:
        """Load the space, with its vectors or without.

        Raises:
            Outdated: the space changed its identity while it was loaded.
        """
        self.space = space
        self.recent = Recent()
        self._database = database
        self._units = field_units(space.space.settings)
        self._refreshing = threading.Lock()
        self._generation = space.generation if vectors else None
        self._rows = Rows(space.dimensions if vectors else 0)
        self._pieces: list[Postings] = []
        self._fields = Fields(database, space, self._rows)
        self._dead = self._unembedded = 0
        self._whole = True
        self._snapshot = Snapshot(space.seq, self._rows, 0, (), 0)
        self._snapshot = self._pull(after_born=0, deaths_after=space.seq.number)

    @property
    def snapshot(self) -> Snapshot:
        return self._snapshot

    @property
    def nbytes(self) -> int:
        return (
            self._rows.nbytes + sum(piece.nbytes for piece in self._pieces) + self._fields.nbytes + self.recent.nbytes
        )

    def refresh(self, at_least: int) -> Snapshot:
        """A snapshot that has seen change number `at_least`.

        Raises:
            Outdated: the space changed its identity.
        """
        with self._refreshing:
            if not self._whole:
                raise Outdated
            seen = self._snapshot.seq.number
            if seen < at_least:
                self._snapshot = self._pull(after_born=seen, deaths_after=seen)
                if self._dead > COMPACT_AT and self._dead > len(self._rows) // 2:
                    self._compact()
            return self._snapshot

    def column(self, snapshot: Snapshot, field: str) -> Column:
        """The values of a filter field for the rows of a snapshot, built on first use."""
        return self._fields_of(snapshot).column(field, snapshot.size)

    def _fields_of(self, snapshot: Snapshot) -> Fields:
        fields = self._fields
        if fields.rows is snapshot.rows:
            return fields
        return Fields(self._database, self.space, snapshot.rows)  # the snapshot was taken before a compaction

    def _pull(self, after_born: int, deaths_after: int) -> Snapshot:
        """Append what was born and bury what died; the deaths are those up to the state that the snapshot names."""
        while True:
            state, living, deaths = self._database.read(
                [
                    spaces.state(self.space.id),
                    index_rows.living(self.space, self._generation, after_born),
                    index_rows.deaths(self.space, deaths_after),
                ]
            )
            seq = self._check(state)
            self._append(living)
            if len({row[0] for row in living}) < index_rows.PAGE_VERSIONS:
                break
            after_born = cast(int, living[-1][2])
        self._whole = False  # see `_append`
        buried = self._bury(deaths)
        snapshot = self._snapshot.followed_by(seq, self._pieces, buried, self._unembedded)
        self._whole = True
        return snapshot

    def _bury(self, deaths: list[Row]) -> RowNumbers:
        if not deaths:
            return np.empty(0, np.int64)
        versions, seqs = (np.array(column, np.int64) for column in zip(*deaths, strict=True))
        buried = self._rows.bury(versions, seqs)
        self._dead += len(buried)
        self._unembedded -= len(buried) - int(np.count_nonzero(self._rows.embedded.view()[buried]))
        return buried

    def _check(self, state: list[Row]) -> Seq:
        if not state:
            raise NotFound("space", self.space.space.name)
        epoch, number, generation = cast(tuple[str, int, int | None], state[0])
        if epoch != self.space.space.epoch or generation != self.space.generation:
            raise Outdated
        return Seq(epoch, number)

    def _append(self, living: list[Row]) -> None:
        known = self._rows.version.view()
        if len(known):  # a pull that failed half-way may have brought some already; version ids ascend
            living = [row for row in living if cast(int, row[0]) > int(known[-1])]
        if not living:
            return
        blobs = [cast(bytes, row[11]) for row in living]
        codes = np.frombuffer(b"".join(blobs), "<u8").astype(np.uint64)
        self._whole = False  # should memory run out in between, nobody goes on with columns of unlike lengths
        starts = np.concatenate([[0], np.cumsum([len(blob) // 8 for blob in blobs])]).astype(np.int64)
        pieces, lengths = build(len(self._rows), codes, starts, self._units)
        pieces = settled([*self._pieces, *pieces])
        before = len(self._rows)
        self._rows.append(living, lengths)
        self._unembedded += len(living) - int(np.count_nonzero(self._rows.embedded.view()[before:]))
        self._pieces = pieces
        self._whole = True

    def _compact(self) -> None:
        """Drop the dead rows. Snapshots taken before keep the old arrays."""
        alive = self._rows.died.view() == ALIVE
        new_row = np.concatenate([[0], np.cumsum(alive)])
        kept = [keep(p, alive[p.first : p.first + p.rows], int(new_row[p.first])) for p in self._pieces]
        self._rows, self._pieces, self._dead = self._rows.only(alive), settled([p for p in kept if p.rows]), 0
        self._fields = Fields(self._database, self.space, self._rows)
        seq = self._snapshot.seq
        self._snapshot = Snapshot(seq, self._rows, len(self._rows), self._pieces, self._unembedded)


def field_units(settings: SpaceSettings) -> Ints:
    """The lexical weight of each field, by its code."""
    return in_units(np.array([settings.lexical_weights.get(field, 0.0) for field in FIELDS], np.float32))
