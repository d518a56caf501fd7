"""Standing instructions of a space: memories of type `guard`, and those whose text the rule recognises.

They are derived from the store, each version once. The postings say which texts have a mark of an instruction, so that
few are read. Each has two vectors: that of its scope clause, and that of its sentence.
"""

import json
from collections.abc import Iterator
from typing import NamedTuple, cast

import msgspec
import numpy as np

from muisti.core.embedding.encoder import Encoder
from muisti.core.index.lexical import with_words
from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.kernels import Floats, Ints, Longs, Mask
from muisti.core.store.database import Database, Row
from muisti.core.store.sql import index_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.support.waiting import Lock, refuse_long
from muisti.core.text.standing import MARKS, READ, recognised, scope_of
from muisti.core.text.terms import tokenize

FEW = 64  # new rows whose texts are all read
BRIEF = 1_000  # rows that are looked at on the event loop, at most
NOWHERE = -1  # the start of a scope clause that is missing

_PHRASES = tuple(tuple(tokenize(mark)) for mark in MARKS)


class Known(msgspec.Struct, frozen=True):
    """The instructions among the versions up to id `upto`, by version id ascending.

    `typed` says which are of type `guard`. `everywhere` says which apply to everything. `scopes` (n, 2) are the places
    of the scope clauses in the contents, `NOWHERE` for none. `clauses` and `sentences` are vectors, zeros for none.
    """

    upto: int
    versions: Longs
    typed: Mask
    everywhere: Mask
    scopes: Ints
    clauses: Floats
    sentences: Floats

    @property
    def nbytes(self) -> int:
        parts = (self.versions, self.typed, self.everywhere, self.scopes, self.clauses, self.sentences)
        return sum(part.nbytes for part in parts)

    def only(self, kept: Mask) -> "Known":
        """Return the instructions for which a flag is set."""
        return Known(
            self.upto,
            self.versions[kept],
            self.typed[kept],
            self.everywhere[kept],
            self.scopes[kept],
            self.clauses[kept],
            self.sentences[kept],
        )

    def rows(self, snapshot: Snapshot) -> RowNumbers:
        """Return the first row of each version in a snapshot, -1 for one that it lacks."""
        known = snapshot.columns.version
        rows = np.searchsorted(known, self.versions)
        there = known.take(rows, mode="clip") == self.versions if len(known) else np.zeros(len(rows), np.bool_)
        return np.where(there, rows, -1)


class _Found(NamedTuple):
    version: int
    typed: bool
    everywhere: bool
    scope: tuple[int, int]
    clause: str
    sentence: str


class Instructions:
    """The instructions of a space, read from the store as far as searches have needed them. Thread-safe."""

    def __init__(self, database: Database, space: SpaceRow) -> None:
        self._database = database
        self._space = space
        self._known: Known | None = None
        self._growing = Lock()

    @property
    def nbytes(self) -> int:
        return 0 if self._known is None else self._known.nbytes

    def of(self, snapshot: Snapshot, encoder: Encoder) -> Known | None:
        """Return the instructions of a snapshot, perhaps with newer ones; None where there are no rows.

        Raises:
            WouldWait: many rows are new, and this thread may not wait.
        """
        versions = snapshot.columns.version
        if not len(versions):
            return None
        last, known = int(versions[-1]), self._known
        if known is not None and known.upto >= last:
            return known
        with self._growing:
            known = _none(encoder.dimensions) if self._known is None else self._known
            if known.upto < last:
                known = self._known = self._extended(known, snapshot, encoder, last)
            return known

    def keep(self, versions: Longs) -> None:
        """Forget all instructions but those of the versions, which ascend."""
        with self._growing:
            if self._known is not None:
                self._known = self._known.only(np.isin(self._known.versions, versions))

    def _extended(self, known: Known, snapshot: Snapshot, encoder: Encoder, last: int) -> Known:
        versions = snapshot.columns.version
        first = int(np.searchsorted(versions, known.upto, side="right"))
        if snapshot.size - first > BRIEF:
            refuse_long()
        few = snapshot.size - first <= FEW  # reading these is cheaper than looking for their words
        rows = np.arange(first, snapshot.size) if few else with_words(snapshot, _PHRASES, first)
        marked = np.unique(versions[rows]).tolist()
        (read,) = self._database.read([index_rows.instructions(self._space, known.upto, last, json.dumps(marked))])
        found = sorted(set(_recognised(read)))
        if not found:
            return msgspec.structs.replace(known, upto=last)
        there = np.isin([one.version for one in found], versions[first:]).tolist()
        found = [one for one, is_there in zip(found, there, strict=True) if is_there]
        clauses = encoder.encode([one.clause or one.sentence for one in found])
        return Known(
            last,
            np.concatenate([known.versions, np.array([one.version for one in found], np.int64)]),
            np.concatenate([known.typed, np.array([one.typed for one in found], np.bool_)]),
            np.concatenate([known.everywhere, np.array([one.everywhere for one in found], np.bool_)]),
            np.concatenate([known.scopes, np.array([one.scope for one in found], np.int32)]),
            np.concatenate([known.clauses, clauses]),
            np.concatenate([known.sentences, encoder.encode([one.sentence for one in found])]),
        )


def _none(dimensions: int) -> Known:
    flags, vectors = np.empty(0, np.bool_), np.empty((0, dimensions), np.float32)
    return Known(0, np.empty(0, np.int64), flags, flags, np.empty((0, 2), np.int32), vectors, vectors)


def _recognised(rows: list[Row]) -> Iterator[_Found]:
    """Yield the instructions among versions."""
    for version, type, kind, trust, author, content in cast(list[tuple[int, str, str, int, str | None, str]], rows):
        typed = type == "guard"
        found = recognised(content, kind=kind, trust=trust, author=author)
        if found is None and not typed:
            continue
        scope = found.scope if found is not None else scope_of(content)
        sentence = content[:READ] if found is None else content[found.sentence.start : found.sentence.stop]
        yield _Found(
            version,
            typed,
            found is not None and scope is None,
            (NOWHERE, NOWHERE) if scope is None else (scope.start, scope.stop),
            "" if scope is None else content[scope.start : scope.stop],
            sentence,
        )
