"""New rows of an index as columns, from rows of the store or from the bytes of a packed segment."""

from collections.abc import Iterator, Sequence
from typing import Any, cast

import msgspec
import numpy as np
from msgspec.structs import fields

from muisti.core.embedding.vectors import rows_of
from muisti.core.index.dialogue import Scalar
from muisti.core.kernels import Bytes, Codes, Ints, Longs, Mask
from muisti.core.store.database import Row
from muisti.core.text.terms import fold

NEVER = np.iinfo(np.int64).max

# Types of the packed columns, little-endian on every machine.
_TYPES = {
    "version": "<i8",
    "born": "<i8",
    "ids": "<u8",
    "active": "?",
    "importance": "i1",
    "at": "<i8",
    "expires": "<i8",
    "text": "<u8",
    "number": "<i4",
    "start": "<i4",
    "stop": "<i4",
    "terms": "<u8",
    "term_counts": "<i4",
    "vectors": "i1",
    "embedded": "?",
}


class Inserted(msgspec.Struct, frozen=True):
    """Passages in the order in which their versions were inserted; those of a version are adjacent.

    `ids` are the halves of the memories' ids, (n, 2). `terms` has the term codes of all rows, `term_counts[r]` of row
    r. `vectors` are stored vectors (`embedding.vectors`), zeros for none. `died` is the change that ended a version,
    `NEVER` for a current one; packed versions always have `NEVER`. `sessions` and `turns` are empty when no row has a
    session, `speakers` (folded) when no row has a speaker. `second` are vectors of the second model, None when they
    were not read; they are never packed.
    """

    version: Longs
    born: Longs
    ids: Codes
    active: Mask
    importance: Bytes
    at: Longs
    expires: Longs
    text: Codes
    number: Ints
    start: Ints
    stop: Ints
    terms: Codes
    term_counts: Ints
    vectors: Bytes
    embedded: Mask
    died: Longs
    sessions: Sequence[Scalar]
    turns: Sequence[Scalar]
    speakers: Sequence[str | None]
    second: Bytes | None = None
    has_second: Mask | None = None

    def __len__(self) -> int:
        return len(self.version)

    @property
    def versions(self) -> int:
        """Number of versions."""
        return int(np.count_nonzero(np.diff(self.version))) + (len(self) > 0)

    @property
    def term_starts(self) -> Longs:
        """The places in `terms` where those of each row begin, and the end of the last."""
        return np.concatenate([[0], np.cumsum(self.term_counts, dtype=np.int64)]).astype(np.int64)

    @property
    def nbytes(self) -> int:
        """The size in bytes of the packed rows, without sessions, turns and speakers."""
        return sum(getattr(self, name).nbytes for name in _TYPES)

    def rows(self, start: int, stop: int) -> "Inserted":
        """Return the rows from `start` to `stop`, which is exclusive."""
        ends = self.term_starts
        cut: dict[str, Any] = {}
        for field in fields(self):
            column = getattr(self, field.name)
            cut[field.name] = None if column is None else column[start:stop]
        cut["terms"] = self.terms[ends[start] : ends[stop]]
        return Inserted(**cut)

    def newer_than(self, version: int) -> "Inserted":
        """Return the rows of versions with a larger id; version ids ascend."""
        first = int(np.searchsorted(self.version, version, side="right"))
        return self.rows(first, len(self)) if first else self

    def without(self, versions: Longs) -> "Inserted":
        """Return all rows but those of `versions`."""
        kept = ~np.isin(self.version, versions)
        cut: dict[str, Any] = {}
        for field in fields(self):
            column = getattr(self, field.name)
            cut[field.name] = column[kept] if isinstance(column, np.ndarray) and field.name != "terms" else column
        for name in ("sessions", "turns", "speakers"):
            cut[name] = [value for value, keep in zip(getattr(self, name), kept.tolist(), strict=False) if keep]
        cut["terms"] = self.terms[np.repeat(kept, self.term_counts)]
        return Inserted(**cut)

    def parts(self, nbytes: int) -> Iterator["Inserted"]:
        """Yield stretches of whole versions, each of about `nbytes` bytes when packed."""
        each = self.nbytes / max(len(self), 1)
        firsts = np.concatenate([[0], np.flatnonzero(np.diff(self.version)) + 1]) if len(self) else np.empty(0, int)
        start = 0
        for first, end in zip(firsts.tolist(), [*firsts[1:].tolist(), len(self)], strict=True):
            if first > start and (end - start) * each > nbytes:
                yield self.rows(start, first)
                start = first
        if len(self):
            yield self.rows(start, len(self))

    def pack(self) -> bytes:
        columns = {name: np.ascontiguousarray(getattr(self, name), kind).tobytes() for name, kind in _TYPES.items()}
        return msgspec.msgpack.encode((columns, self.sessions, self.turns, self.speakers))

    @classmethod
    def unpack(cls, data: bytes) -> "Inserted":
        columns, sessions, turns, speakers = msgspec.msgpack.decode(data, type=_Packed)
        arrays: dict[str, Any] = {name: np.frombuffer(columns[name], kind) for name, kind in _TYPES.items()}
        rows = len(arrays["version"])
        arrays["ids"] = arrays["ids"].reshape(rows, 2)
        arrays["vectors"] = arrays["vectors"].reshape(rows, len(columns["vectors"]) // max(rows, 1))
        return cls(**arrays, died=np.full(rows, NEVER), sessions=sessions, turns=turns, speakers=speakers)

    @classmethod
    def of(cls, rows: Sequence[Row], dimensions: int, second_dimensions: int | None = None) -> "Inserted":
        """Return new rows from the result of `index_rows.living` or `index_rows.every`.

        `second_dimensions` are those of the second model, None when its vectors were not read.
        """
        columns = cast(Any, list(zip(*rows, strict=True)) if rows else [()] * 18)
        version, memory_id, born, status, importance, at, expires, text, number, start, stop, *rest = columns
        terms, vector, sessions, turns, speaker, died, *second = rest
        speakers = [fold(name) if isinstance(name, str) else None for name in speaker] if _any(speaker) else []
        return cls(
            version=np.array(version, np.int64),
            born=np.array(born, np.int64),
            ids=np.frombuffer(b"".join(memory_id), ">u8").reshape(-1, 2).astype(np.uint64),
            active=np.array([s == "active" for s in status], np.bool_),
            importance=np.array(importance, np.int8),
            at=np.array(at, np.int64),
            expires=np.array([NEVER if e is None else e for e in expires], np.int64),
            text=np.frombuffer(b"".join(text), np.uint64)[::2],
            number=np.array(number, np.int32),
            start=np.array(start, np.int32),
            stop=np.array(stop, np.int32),
            terms=np.frombuffer(b"".join(terms), "<u8").astype(np.uint64, copy=False),
            term_counts=np.array([len(blob) // 8 for blob in terms], np.int32),
            vectors=rows_of(vector, dimensions),
            embedded=np.array([v is not None for v in vector], np.bool_),
            died=np.array([NEVER if seq is None else seq for seq in died], np.int64),
            sessions=sessions if _any(sessions) else (),
            turns=turns if _any(sessions) else (),
            speakers=speakers,
            second=None if second_dimensions is None else rows_of(second[0], second_dimensions),
            has_second=None if second_dimensions is None else np.array([v is not None for v in second[0]], np.bool_),
        )


_Packed = tuple[dict[str, bytes], list[Scalar], list[Scalar], list[str | None]]


def _any(values: Sequence[object]) -> bool:
    return values.count(None) < len(values)
