"""The indexes of the spaces in use, within a memory cap: the least recently used go first."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from time import perf_counter

from core.errors import MuistiError, NotFound
from core.index.snapshot import Snapshot
from core.index.space_index import Outdated, SpaceIndex
from core.meters import Histogram
from core.store import spaces
from core.store.database import Database
from core.store.spaces import SpaceRow, space_row

SOON = 2_000  # changes; so many are read in about 50 ms
LOOSE = 10_000  # rows of an index that are not packed, before they are


class Indexes:
    """Opens, refreshes and forgets the index of each space. Thread-safe; a space that loads blocks no other."""

    def __init__(self, database: Database, load_seconds: Histogram, *, memory: int, vectors: bool) -> None:
        """`memory` in bytes for all indexes together; `vectors` is False when embeddings are off."""
        self._database = database
        self._load_seconds = load_seconds
        self._memory = memory
        self._vectors = vectors
        self._lock = threading.Lock()
        self._loading: dict[str, threading.Lock] = {}
        self._open: OrderedDict[str, SpaceIndex] = OrderedDict()
        self._written: dict[int, int] = {}
        self._warming: dict[str, threading.Thread] = {}
        self._packing: dict[str, threading.Thread] = {}
        self._closing = threading.Event()
        self._sizes: dict[str, int] = {}  # of the open ones, in bytes, as when they were last used
        self._evicted = 0

    @property
    def nbytes(self) -> int:
        with self._lock:
            return sum(index.nbytes for index in self._open.values())

    @property
    def loaded(self) -> int:
        """Spaces whose index is in memory."""
        return len(self._open)

    @property
    def loading(self) -> list[str]:
        """The spaces whose index is being loaded, by name."""
        with self._lock:
            return sorted(self._loading)

    @property
    def evicted(self) -> int:
        """How often an index was forgotten because all together took too much memory."""
        return self._evicted

    def note(self, space: SpaceRow, seq: int) -> None:
        """A change of this process: the next search must have seen it."""
        with self._lock:
            self._written[space.id] = max(seq, self._written.get(space.id, 0))

    def fresh(self, name: str, at_least: int = 0) -> tuple[SpaceIndex, Snapshot]:
        """The index of a space, as far as this process has written and at least to change number `at_least`.

        Raises:
            NotFound: there is no such space.
        """
        while True:
            index = self._get(name)
            with self._lock:
                wanted = max(at_least, self._written.get(index.space.id, 0))
            if index.snapshot.seq.number >= wanted:
                return index, index.snapshot
            try:
                snapshot = index.refresh(wanted)
            except (Outdated, NotFound):
                self.drop(name)
                continue
            self._evict(name)
            self._pack(name, index)
            return index, snapshot

    def at_once(self, name: str) -> tuple[SpaceIndex, Snapshot] | None:
        """The index of a space if it is open and has seen what this process has written."""
        with self._lock:
            index = self._open.get(name)
            if index is None or index.snapshot.seq.number < self._written.get(index.space.id, 0):
                return None
            self._open.move_to_end(name)
            return index, index.snapshot

    def at_hand(self, space: SpaceRow) -> tuple[SpaceIndex, Snapshot] | None:
        """The index as far as `space` says, when that takes no more than `SOON` changes to read.

        Otherwise None, and a thread brings it there meanwhile.
        """
        name, wanted = space.space.name, space.seq.number
        with self._lock:
            index = self._open.get(name)
        behind = wanted - (0 if index is None else index.snapshot.seq.number)
        if behind > SOON:
            self._warm(name, wanted)
            return None
        return self.fresh(name, wanted)

    def is_at_hand(self, space: SpaceRow, changes: int) -> bool:
        """Whether the index is at most so many changes behind `space`."""
        with self._lock:
            index = self._open.get(space.space.name)
        return index is not None and space.seq.number - index.snapshot.seq.number <= changes

    def settle(self) -> None:
        """Wait for what loads, and for what is packed, in the background."""
        for thread in [*self._warming.values(), *self._packing.values()]:
            thread.join()

    def close(self) -> None:
        """Wait for what loads in the background, and let packing rest."""
        self._closing.set()
        self.settle()

    def drop(self, name: str) -> None:
        """Forget the index of a space; the next use loads it again."""
        with self._lock:
            self._open.pop(name, None)
            self._sizes.pop(name, None)

    def _warm(self, name: str, wanted: int) -> None:
        """Load or refresh an index in a thread."""
        self._in_background(self._warming, name, lambda: self.fresh(name, wanted))

    def _pack(self, name: str, index: SpaceIndex) -> None:
        """Pack what the next load would find loose, in a thread, when it is much."""
        if index.loose >= LOOSE and not self._closing.is_set():
            self._in_background(self._packing, name, lambda: index.pack(self._closing.is_set))

    def _in_background(self, running: dict[str, threading.Thread], name: str, work: Callable[[], object]) -> None:
        """Run something in a thread, one at a time for each space."""

        def run() -> None:
            try:
                with suppress(MuistiError):  # whoever needs the index will meet the same, and say so
                    work()
            finally:
                with self._lock:
                    running.pop(name, None)

        with self._lock:
            if name in running:
                return
            thread = running[name] = threading.Thread(target=run, name=f"index {name}", daemon=True)
        thread.start()

    def _get(self, name: str) -> SpaceIndex:
        with self._lock:
            index = self._open.get(name)
            if index is not None:
                self._open.move_to_end(name)
                return index
            loading = self._loading.setdefault(name, threading.Lock())
        with loading:
            with self._lock:
                index = self._open.get(name)
            if index is not None:
                return index
            try:
                index = self._load(name)
            finally:
                with self._lock:
                    self._loading.pop(name, None)
            with self._lock:
                self._open[name] = index
        self._evict(name)
        self._pack(name, index)
        return index

    def _load(self, name: str) -> SpaceIndex:
        began = perf_counter()
        while True:
            (found,) = self._database.read([spaces.by_name(name)])
            if not found:
                raise NotFound("space", name)
            try:
                index = SpaceIndex(self._database, space_row(found[0]), vectors=self._vectors)
            except Outdated:
                continue  # made or embedded anew while it was read
            self._load_seconds.add(perf_counter() - began)
            return index

    def _evict(self, used: str) -> None:
        with self._lock:
            if used in self._open:
                self._sizes[used] = self._open[used].nbytes
            total = sum(self._sizes.values())
            for name in list(self._open):
                if total <= self._memory:
                    return
                if name != used:
                    del self._open[name]
                    total -= self._sizes.pop(name, 0)
                    self._evicted += 1
