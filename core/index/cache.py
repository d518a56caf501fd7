"""The indexes of the spaces in use, within a memory cap: those that cost least to load again go first."""

import threading
from collections.abc import Callable
from contextlib import suppress
from time import perf_counter
from typing import NamedTuple

from muisti.core.index import mapped
from muisti.core.index.eviction import Credits
from muisti.core.index.snapshot import Snapshot
from muisti.core.index.space_index import Outdated, SpaceIndex
from muisti.core.model.errors import MuistiError, NotFound
from muisti.core.model.values import Seq
from muisti.core.store.database import Database
from muisti.core.store.sql import spaces
from muisti.core.store.sql.spaces import SpaceRow, space_row
from muisti.core.support.meters import Histogram
from muisti.core.support.waiting import ChangeNotifier, Lock, WouldWait, refuse_long

SOON = 2_000  # changes; so many are read in about 50 ms
LOOSE = 10_000  # unpacked rows of an index from which they are packed
PART = 8  # an index is saved again when a change was made for this part of its rows
SOME = 1_000  # changes for which an index is saved when the cache is closed
QUIET = 2.0  # seconds without a change of an index before it is saved


class _Key(NamedTuple):
    """The name of a space, and whether the index has all versions (`past`) or only the current ones."""

    name: str
    past: bool = False


class Indexes:
    """Opens, refreshes and forgets the indexes of each space. Thread-safe; one that loads blocks no other."""

    def __init__(
        self,
        database: Database,
        load_seconds: Histogram,
        notifier: ChangeNotifier | None = None,
        *,
        memory: int,
        vectors: bool,
        shadows: bool = False,
    ) -> None:
        """Make an empty cache of at most `memory` bytes; `vectors` is False when embeddings are off.

        `notifier` hears of each change that this process makes. With `shadows`, spaces are shown as their shadow would
        answer.
        """
        self._database = database
        self._notifier = notifier or ChangeNotifier()
        self._load_seconds = load_seconds
        self._memory = memory
        self._vectors = vectors
        self._shadows = shadows
        self._lock = threading.Lock()
        self._loading: dict[_Key, Lock] = {}
        self._open: dict[_Key, SpaceIndex] = {}
        self._credits: Credits[_Key] = Credits()
        self._written: dict[int, int] = {}
        self._warming: dict[str, threading.Thread] = {}
        self._packing: dict[str, threading.Thread] = {}
        self._saving: dict[str, threading.Thread] = {}
        self._closing = threading.Event()
        self._hurry = threading.Event()
        self._sizes: dict[_Key, int] = {}  # bytes of each open index when it was last used or grew
        self._total = 0  # bytes of all
        self._evicted = 0

    def limit(self, memory: int) -> None:
        """Let the indexes take so many bytes from now on."""
        self._memory = memory

    def on(self, database: Database) -> "Indexes":
        """Return an empty cache of the indexes of another database, which it never writes to."""
        made = Indexes(database, self._load_seconds, memory=self._memory, vectors=self._vectors)
        made._closing.set()
        return made

    def of_shadows(self) -> "Indexes":
        """Return an empty cache of the indexes that the shadows of spaces would have. It packs nothing."""
        made = Indexes(self._database, self._load_seconds, memory=self._memory, vectors=self._vectors, shadows=True)
        made._closing.set()
        return made

    @property
    def nbytes(self) -> int:
        with self._lock:
            return sum(index.nbytes for index in self._open.values())

    @property
    def filter_nbytes(self) -> int:
        """The part of `nbytes` that remembered rows of filters take."""
        with self._lock:
            return sum(index.filter_nbytes for index in self._open.values())

    @property
    def loaded(self) -> int:
        """Number of spaces that have an index in memory."""
        with self._lock:
            return len({key.name for key in self._open})

    @property
    def loading(self) -> list[str]:
        """The spaces whose index is being loaded, by name."""
        with self._lock:
            return sorted({key.name for key in self._loading})

    @property
    def evicted(self) -> int:
        """Number of indexes that were dropped because all together took too much memory."""
        return self._evicted

    def note(self, space: SpaceRow, seq: int) -> None:
        """Record a change that this process made, so that the next search sees it, and notify listeners."""
        with self._lock:
            self._written[space.id] = max(seq, self._written.get(space.id, 0))
        self._notifier.ring(space.space.name, Seq(space.space.epoch, seq))

    def fresh(self, name: str, at_least: int = 0) -> tuple[SpaceIndex, Snapshot]:
        """Return the index of a space and a snapshot that has seen what this process wrote, and change `at_least`.

        Raises:
            NotFound: there is no such space.
        """
        return self._reached(_Key(name), at_least)

    def past(self, name: str, at_least: int) -> tuple[SpaceIndex, Snapshot]:
        """Return the index of all versions that a space keeps, and a snapshot that has seen change `at_least`.

        Raises:
            NotFound: there is no such space.
        """
        return self._reached(_Key(name, past=True), at_least)

    def _reached(self, key: _Key, at_least: int) -> tuple[SpaceIndex, Snapshot]:
        while True:
            index = self._get(key)
            with self._lock:
                written = 0 if key.past else self._written.get(index.space.id, 0)
            wanted = max(at_least, written)
            if index.snapshot.seq.number >= wanted:
                return index, index.snapshot
            try:
                snapshot = index.refresh(wanted)
            except (Outdated, NotFound):
                self.drop(key.name, index)
                continue
            self._evict(key)
            self._pack(key, index)
            return index, snapshot

    def at_once(self, name: str) -> tuple[SpaceIndex, Snapshot]:
        """Return the index of a space and its snapshot, as they are in memory.

        Raises:
            WouldWait: the index is not open, or has not seen what this process has written.
        """
        with self._lock:
            index = self._open.get(_Key(name))
            snapshot = None if index is None else index.snapshot
            if index is None or snapshot is None or snapshot.seq.number < self._written.get(index.space.id, 0):
                raise WouldWait
            self._credits.use(_Key(name))
            return index, snapshot

    def at_hand(self, space: SpaceRow) -> tuple[SpaceIndex, Snapshot] | None:
        """Return the index and a snapshot that has seen all that `space` has, if at most `SOON` changes are missing.

        Otherwise return None and let a thread load or refresh the index.
        """
        name, wanted = space.space.name, space.seq.number
        with self._lock:
            index = self._open.get(_Key(name))
        behind = wanted - (0 if index is None else index.snapshot.seq.number)
        if behind > SOON:
            self._warm(name, wanted)
            return None
        return self.fresh(name, wanted)

    def grew(self, index: SpaceIndex, by: int) -> None:
        """Count bytes that a search has added to an index of current versions."""
        key = _Key(index.space.space.name)
        with self._lock:
            if self._open.get(key) is index and key in self._sizes:
                self._sizes[key] += by
                self._total += by
                if self._total > self._memory:
                    self._drop_others(key)

    def fits(self, index: SpaceIndex) -> bool:
        """Return whether an index takes no more than all may take."""
        return index.nbytes <= self._memory

    def is_open(self, name: str) -> bool:
        """Return whether the index of a space is in memory."""
        return _Key(name) in self._open

    def is_at_hand(self, space: SpaceRow, changes: int) -> bool:
        """Return whether the index is in memory and at most so many changes behind `space`."""
        with self._lock:
            index = self._open.get(_Key(space.space.name))
        return index is not None and space.space.seq - index.snapshot.seq.number <= changes

    def settle(self) -> None:
        """Wait until loading, packing and saving in the background have ended."""
        self._hurry.set()
        for thread in [*self._warming.values(), *self._packing.values(), *self._saving.values()]:
            thread.join()
        self._hurry.clear()

    def close(self) -> None:
        """Stop packing, wait for what runs in the background, and save the indexes that were changed."""
        only_reads = self._closing.is_set()
        self._closing.set()
        self.settle()
        for index in [] if only_reads else list(self._open.values()):
            if index.unsaved >= SOME:
                _save(index)

    def sweep(self) -> int:
        """Remove the saved indexes that may no longer be used; return how many files could not be removed."""
        return 0 if self._database.indexes is None else mapped.sweep(self._database.primary, self._database.indexes)

    def drop(self, name: str, only: SpaceIndex | None = None) -> None:
        """Drop the indexes of a space, or one of them if it still is in use; the next use loads it again."""
        with self._lock:
            for key in (_Key(name), _Key(name, past=True)):
                if only is None or self._open.get(key) is only:
                    self._open.pop(key, None)
                    self._credits.drop(key)
                    self._total -= self._sizes.pop(key, 0)

    def replace(self, space: SpaceRow, index: SpaceIndex) -> None:
        """Let searches use an index that was loaded for the shadow, which is the model of the space now."""
        index.become(space)
        with self._lock:
            self._open[_Key(space.space.name)] = index
            self._weigh(_Key(space.space.name))
        self._evict(_Key(space.space.name))

    def _warm(self, name: str, wanted: int) -> None:
        self._in_background(self._warming, name, lambda: self.fresh(name, wanted))

    def _pack(self, key: _Key, index: SpaceIndex) -> None:
        """Pack the index in a thread when it has at least `LOOSE` rows, or vectors of its second model, unpacked.

        Save it in another one when a part of it has changed, and it is no longer changed all the time.
        """
        if self._closing.is_set() or key.past:
            return
        if max(index.loose, index.loose_second) >= LOOSE:
            self._in_background(self._packing, key.name, lambda: index.pack(self._closing.is_set))
        if _is_due(index):
            self._in_background(self._saving, key.name, lambda: self._save_when_quiet(index))

    def _save_when_quiet(self, index: SpaceIndex) -> None:
        before = None
        while index.snapshot is not before and not self._hurry.is_set():
            before = index.snapshot
            self._hurry.wait(QUIET)
        if _is_due(index):
            _save(index)

    def _in_background(self, running: dict[str, threading.Thread], name: str, work: Callable[[], object]) -> None:
        """Run `work` in a thread, unless one is `running` for the space."""

        def run() -> None:
            try:
                with suppress(MuistiError):  # the next request that needs the index raises the same error
                    work()
            finally:
                with self._lock:
                    running.pop(name, None)

        with self._lock:
            if name in running:
                return
            thread = running[name] = threading.Thread(target=run, name=f"index {name}", daemon=True)
        thread.start()

    def _get(self, key: _Key) -> SpaceIndex:
        with self._lock:
            index = self._open.get(key)
            if index is not None:
                self._credits.use(key)
                return index
            refuse_long()
            loading = self._loading.setdefault(key, Lock())
        with loading:
            with self._lock:
                index = self._open.get(key)
            if index is not None:
                return index
            try:
                index = self._load(key)
            finally:
                with self._lock:
                    self._loading.pop(key, None)
            with self._lock:
                self._open[key] = index
                self._weigh(key)
        self._evict(key)
        self._pack(key, index)
        return index

    def _load(self, key: _Key) -> SpaceIndex:
        began = perf_counter()
        while True:
            (found,) = self._database.read([spaces.by_name(key.name)])
            if not found:
                raise NotFound("space", key.name)
            row = space_row(found[0])
            if self._shadows:
                row = spaces.exchanged(row)
            try:
                index = SpaceIndex(self._database, row, vectors=self._vectors, past=key.past)
            except Outdated:
                continue  # the space was recreated or embedded again while it was read
            self._load_seconds.add(perf_counter() - began)
            return index

    def _evict(self, used: _Key) -> None:
        with self._lock:
            if used in self._open:
                self._weigh(used)
            self._drop_others(used)

    def _weigh(self, key: _Key) -> None:
        """Note what an index takes now, and what loading it again would cost; the caller has the lock."""
        index = self._open[key]
        size = index.nbytes
        self._total += size - self._sizes.get(key, 0)
        self._sizes[key] = size
        self._credits.put(key, index.to_load, size)

    def _drop_others(self, used: _Key) -> None:
        """Drop the cheapest indexes, but for one, until all fit; the caller has the lock."""
        if self._total <= self._memory:
            return
        self._credits.drop(used)
        while self._total > self._memory and len(self._open) > (used in self._open):
            key = self._credits.pop_cheapest()
            del self._open[key]
            self._total -= self._sizes.pop(key, 0)
            self._evicted += 1
        if used in self._open:
            self._weigh(used)


def _is_due(index: SpaceIndex) -> bool:
    return index.unsaved > index.snapshot.size // PART


def _save(index: SpaceIndex) -> None:
    with suppress(MuistiError, OSError):  # without the file, the next start takes longer
        index.save()
