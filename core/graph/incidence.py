"""Which versions mention which entities, as arrays: made from the rows of a space when it is asked for."""

from collections import OrderedDict
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from muisti.core.graph.reading import Opened
from muisti.core.graph.sql import graph, graph_rows
from muisti.core.store.database import Database
from muisti.core.support.waiting import Lock

PAGE = 20_000  # versions that one statement reads
MOST = 2_000_000  # mentions of a space for which there are arrays
REMEMBERED = 4_000_000  # mentions of all arrays in memory, of 12 bytes each

Ids = npt.NDArray[np.int64]
Places = npt.NDArray[np.int32]


class Incidence(NamedTuple):
    """A bipartite graph. `versions` (m,) and `entities` (e,) ascend; edge n joins places `version[n]`, `entity[n]`.

    `total` counts the versions that are seen, also those that mention nothing.
    """

    versions: Ids
    entities: Ids
    version: Places
    entity: Places
    total: int

    @property
    def size(self) -> int:
        return len(self.version)


class Incidences:
    """The arrays of spaces, the last used ones in memory. Thread-safe."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: OrderedDict[tuple[object, ...], Incidence] = OrderedDict()
        self._lock = Lock()

    def of(self, opened: Opened) -> Incidence | None:
        """Return the arrays of what a caller sees of a space; None when it has more than `MOST` mentions."""
        space, shown = opened.space, opened.shown
        (state,) = self._database.read([graph_rows.state(space)])
        key = (space.id, space.seq, state[0][2], shown.category)
        with self._lock:
            known = self._known.get(key)
            if known is not None:
                self._known.move_to_end(key)
        return self._note(key, self._read(opened)) if known is None else known

    def _note(self, key: tuple[object, ...], made: Incidence | None) -> Incidence | None:
        if made is None:
            return None
        with self._lock:
            for old in [old for old in self._known if (old[0], old[3]) == (key[0], key[3])]:
                del self._known[old]
            self._known[key] = made
            while sum(one.size for one in self._known.values()) > REMEMBERED and len(self._known) > 1:
                self._known.popitem(last=False)
        return made

    def _read(self, opened: Opened) -> Incidence | None:
        pages: list[npt.NDArray[np.int64]] = []
        after, total, size = 0, 0, 0
        while True:
            (rows,) = self._database.read([graph.incidence(opened.space, opened.shown, after, PAGE)])
            if not rows:
                break
            page = np.array([(row[0], row[1] or 0) for row in rows], np.int64)  # ids of entities begin at 1
            after, seen = int(page[-1, 0]), len(np.unique(page[:, 0]))
            pages.append(page[page[:, 1] > 0])
            total, size = total + seen, size + len(pages[-1])
            if size > MOST:
                return None
            if seen < PAGE:
                break
        return _of(np.concatenate(pages) if pages else np.empty((0, 2), np.int64), total)


def of_pairs(pairs: list[tuple[int, int]], total: int) -> Incidence:
    """Return the arrays of pairs of version and entity."""
    return _of(np.array(pairs, np.int64).reshape(-1, 2), total)


def _of(pairs: npt.NDArray[np.int64], total: int) -> Incidence:
    pairs = np.unique(pairs, axis=0)
    versions, version = np.unique(pairs[:, 0], return_inverse=True)
    entities, entity = np.unique(pairs[:, 1], return_inverse=True)
    return Incidence(versions, entities, version.astype(np.int32), entity.astype(np.int32), total)


def places(sorted_ids: Ids, wanted: Ids) -> Ids:
    """Return the place of each wanted id among ids that ascend; -1 for one that is not there."""
    at = np.searchsorted(sorted_ids, wanted)
    at[at == len(sorted_ids)] = 0
    return np.where(sorted_ids[at] == wanted, at, -1) if len(sorted_ids) else np.full(len(wanted), -1, np.int64)
