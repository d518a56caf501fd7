"""Standing instructions of a space: memories of type `guard`, and those whose text the rule recognises.

They are derived from the store, each version once. The postings say which texts have a mark of an instruction, so that
few are read. Each has two vectors: that of its scope clause, or of its sentence without one, and that of its sentence.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import compress
from typing import NamedTuple, cast

import msgspec
import numpy as np
from msgspec.structs import astuple

from muisti.core.embedding.encoder import Encoder
from muisti.core.embedding.vectors import TwoLevelVectors, quantise, rotate
from muisti.core.index.lexical import with_words
from muisti.core.index.rows import Rows
from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.kernels import Longs, Mask
from muisti.core.store.database import Database, Row
from muisti.core.store.sql import index_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.support.waiting import Lock, refuse_long
from muisti.core.text.standing_instructions import MARKS, READ, asked_of, recognised, scope_of
from muisti.core.text.terms import tokenize

FEW = 64  # new rows whose texts are all read
BRIEF = 1_000  # rows that are looked at on the event loop, at most
ENTRY = 150  # bytes of a scope and a flag in lists, about
NOWHERE = -1  # the start of a scope clause that is missing

_PHRASES = tuple(tuple(tokenize(mark)) for mark in MARKS)


class Known(msgspec.Struct, frozen=True):
    """The instructions among the versions up to id `upto`, by version id ascending.

    `rows` has the first row of each version in `numbering`. `typed` says which are of type `guard`. `everywhere` says
    which apply to everything. `scopes` are the places of the scope clauses in the contents, `NOWHERE` for none.
    `vectors` has two rows for each: the scope clause, and the sentence.
    """

    upto: int
    numbering: Rows
    rows: RowNumbers
    versions: Longs
    typed: list[bool]
    everywhere: Mask
    scopes: list[tuple[int, int]]
    vectors: TwoLevelVectors

    @property
    def nbytes(self) -> int:
        parts = (self.rows, self.versions, self.everywhere, *astuple(self.vectors))
        return sum(part.nbytes for part in parts) + ENTRY * len(self.scopes)

    def only(self, numbering: Rows) -> "Known":
        """Return the instructions among other rows."""
        rows = _rows(self.versions, numbering.version.view())
        kept = rows >= 0
        return Known(
            self.upto,
            numbering,
            rows[kept],
            self.versions[kept],
            [*compress(self.typed, kept)],
            self.everywhere[kept],
            [*compress(self.scopes, kept)],
            _joined([self.vectors], kept.repeat(2)),
        )

    def rows_in(self, snapshot: Snapshot) -> RowNumbers:
        """Return the first row of each version in a snapshot, -1 where it has none."""
        same = snapshot.rows is self.numbering  # else rows without use were removed meanwhile
        return self.rows if same else _rows(self.versions, snapshot.columns.version)


_Read = tuple[int, str, str, int, str | None, str, str | None]


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
            known = _none(snapshot.rows, encoder.dimensions) if self._known is None else self._known
            if known.upto < last:
                known = self._known = self._extended(known, snapshot, encoder, last)
            return known

    def keep(self, rows: Rows) -> None:
        """Forget all instructions but those that have one of the rows, which will be those of snapshots."""
        with self._growing:
            if self._known is not None:
                self._known = self._known.only(rows)

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
        texts = [text for one in found for text in (one.clause or one.sentence, one.sentence)]
        every = np.concatenate([known.versions, np.array([one.version for one in found], np.int64)])
        return Known(
            last,
            snapshot.rows,
            _rows(every, versions),
            every,
            [*known.typed, *(one.typed for one in found)],
            np.concatenate([known.everywhere, np.array([one.everywhere for one in found], np.bool_)]),
            [*known.scopes, *(one.scope for one in found)],
            _joined([known.vectors, quantise(rotate(encoder.encode(texts)))]),
        )


def _none(numbering: Rows, dimensions: int) -> Known:
    vectors, numbers = quantise(np.empty((0, dimensions), np.float32)), np.empty(0, np.int64)
    return Known(0, numbering, numbers, numbers, [], np.empty(0, np.bool_), [], vectors)


def _joined(parts: Sequence[TwoLevelVectors], kept: Mask | slice = slice(None)) -> TwoLevelVectors:
    """Return the kept vectors of all parts, in arrays that loops take."""
    columns = zip(*map(astuple, parts), strict=True)
    return TwoLevelVectors(*(np.ascontiguousarray(np.concatenate(arrays)[kept]) for arrays in columns))


def _rows(wanted: Longs, versions: Longs) -> RowNumbers:
    """Return the first row of each wanted version, -1 where there is none; `versions` has that of each row."""
    rows = np.searchsorted(versions, wanted)
    there = versions.take(rows, mode="clip") == wanted if len(versions) else np.zeros(len(rows), np.bool_)
    return np.where(there, rows, -1)


def _recognised(rows: list[Row]) -> Iterator[_Found]:
    for version, type, kind, trust, author, content, structure in cast(list[_Read], rows):
        typed = type == "guard"
        said = asked_of(kind, content, author, json.loads(structure) if kind == "exchange" and structure else {})
        text, start = said.text, said.start
        found = recognised(text, kind=kind, trust=trust, author=said.speaker)
        if found is None and not typed:
            continue
        scope = found.scope if found is not None else scope_of(text)
        sentence = text[:READ] if found is None else text[found.sentence.start : found.sentence.stop]
        yield _Found(
            version,
            typed,
            found is not None and scope is None,
            (NOWHERE, NOWHERE) if scope is None else (start + scope.start, start + scope.stop),
            "" if scope is None else text[scope.start : scope.stop],
            sentence,
        )
