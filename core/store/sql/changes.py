"""The SQL of changes: who made which, which of them can be undone, and the change feed."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from muisti.core.identity.caller import Caller
from muisti.core.model.choices import ChangeKind
from muisti.core.model.ids import id_bytes, id_text
from muisti.core.model.outcomes import Planned
from muisti.core.model.values import Memory
from muisti.core.query.filters import Filter
from muisti.core.store.database import Row, Scalar, Statement, slots
from muisti.core.store.sql import inserting
from muisti.core.store.sql.filters import where
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import COLUMNS
from muisti.core.text.terms import fold

HOLDS = "c.undone IS NULL AND c.kind NOT IN ('undone', 'forked', 'expired') AND c.memory_id IS NOT NULL"
OPEN = f"{HOLDS} AND c.seq > (SELECT kept_from FROM spaces s WHERE s.id = c.space_id)"
_SELECT = (
    "SELECT c.seq, c.kind, c.memory_id, c.actor, v.version, v.supersedes, v.superseded_by, v.category, c.request "
    "FROM changes c JOIN versions v ON v.memory_id = c.memory_id AND v.version = c.version WHERE c.space_id = ?"
)


class Change(NamedTuple):
    """A change that is not undone, with the fields of its version that an undo needs."""

    seq: int
    kind: str
    memory_id: bytes
    actor: str | None
    version: int
    supersedes: bytes | None
    superseded_by: bytes | None
    category: str | None
    request: str | None

    @property
    def twin(self) -> int | None:
        """The seq of the other change of a supersession: of the old memory, or of the new one."""
        if self.kind == "superseded":
            return self.seq + 1
        return self.seq - 1 if self.kind == "created" and self.supersedes is not None else None


def change(row: Row) -> Change:
    """Read a row of `made_by`, `of_request`, `of_author` or `numbered`."""
    return Change._make(cast(tuple[Any, ...], row))


def record(
    space: SpaceRow, kind: ChangeKind, caller: Caller, memory: Memory | None = None, offset: int = 0
) -> Statement:
    """Add a change at the space's seq less `offset`; `memory` is the version that it made or ended."""
    what = (None, None) if memory is None else (id_bytes(memory.id), memory.version)
    return Statement(
        "INSERT INTO changes (space_id, seq, kind, memory_id, version, committed_at, actor, request) "
        "SELECT id, seq - ?, ?, ?, ?, committed_at, ?, ? FROM spaces WHERE id = ?",
        (offset, kind, *what, caller.actor, caller.request, space.id),
    )


def expiry(space: SpaceRow, memory: Memory, caller: Caller, offset: int) -> list[Statement]:
    """End a memory that has expired, as a change at the space's seq less `offset`."""
    return [
        inserting.refuse_stale(memory),
        inserting.end(space, memory, offset),
        record(space, "expired", caller, memory, offset),
    ]


def made_by(space: SpaceRow, actor: str, most: int) -> Statement:
    """Select the last changes of an actor that are not undone, newest first."""
    return _last(space, "c.actor = ?", actor, most)


def of_request(space: SpaceRow, request: str, most: int) -> Statement:
    """Select the last changes of a request that are not undone, newest first."""
    return _last(space, "c.request = ?", request, most)


def of_call(space: SpaceRow, request: str, actors: Sequence[str], most: int) -> Statement:
    """Select the last changes of a request by these actors that no import brought and no undo took back."""
    return Statement(
        f"{_SELECT} AND {OPEN} AND c.import_id IS NULL AND c.request = ? AND c.actor IN {slots(actors)} "
        "ORDER BY c.seq DESC LIMIT ?",
        (space.id, request, *actors, most),
    )


def first_of(space: SpaceRow, request: str) -> Statement:
    """Select the seq of the first change of a request."""
    return Statement("SELECT min(seq) FROM changes WHERE space_id = ? AND request = ?", (space.id, request))


def followed(space: SpaceRow, requests: Sequence[str], actor: str, after: int) -> Statement:
    """Select the changes by an actor after a seq, of some requests, that are not undone."""
    return Statement(
        f"{_SELECT} AND {OPEN} AND c.seq > ? AND c.actor = ? AND c.request IN (SELECT value FROM json_each(?))",
        (space.id, after, actor, json.dumps(list(requests))),
    )


def of_author(space: SpaceRow, author: str, most: int) -> Statement:
    """Select the last changes of an author's memories that are not undone, newest first."""
    return _last(space, "v.author_folded = ?", fold(author), most)


def numbered(space: SpaceRow, seqs: Sequence[int]) -> Statement:
    """Select those of the given changes that are not undone."""
    return Statement(f"{_SELECT} AND {OPEN} AND c.seq IN {slots(seqs)} ORDER BY c.seq", (space.id, *seqs))


def touches(space: SpaceRow, memory_id: bytes, after: int) -> Statement:
    """Select the seqs after `after` of the changes that made or ended a version of a memory."""
    return Statement(
        "SELECT born FROM versions WHERE memory_id = ? AND space_id = ? AND born > ? "
        "UNION SELECT died FROM versions WHERE memory_id = ? AND space_id = ? AND died > ?",
        (memory_id, space.id, after) * 2,
    )


def rewritten(space: SpaceRow, after: int) -> Statement:
    """Select a row when what was stored up to a change has been erased or redacted since."""
    return Statement(
        "SELECT 1 FROM changes WHERE space_id = ? AND seq > ? AND kind IN ('erased', 'redacted') LIMIT 1",
        (space.id, after),
    )


def before(space: SpaceRow, memory_id: bytes, seq: int) -> Statement:
    """Select the version of a memory just before a change."""
    return Statement(
        f"SELECT {COLUMNS} FROM versions v WHERE v.memory_id = ? AND v.space_id = ? AND v.born < ? "
        "AND (v.died IS NULL OR v.died >= ?)",
        (memory_id, space.id, seq, seq),
    )


def last(space: SpaceRow, most: int) -> Statement:
    """Select the last changes of a space, newest first; `planned` reads them."""
    return Statement(
        "SELECT seq, kind, memory_id, version FROM changes WHERE space_id = ? ORDER BY seq DESC LIMIT ?",
        (space.id, most),
    )


def planned(row: Row) -> Planned:
    """Read a row of `last`."""
    _, kind, memory_id, version = cast(tuple[int, str, bytes, int], row)
    return Planned(kind, id_text(memory_id), version)


def undo(space: SpaceRow, seqs: Sequence[int]) -> Statement:
    """Mark changes as undone by the last change of the space."""
    return Statement(
        "UPDATE changes SET undone = (SELECT seq FROM spaces WHERE id = ?) "
        f"WHERE space_id = ? AND seq IN {slots(seqs)}",
        (space.id, space.id, *seqs),
    )


def _last(space: SpaceRow, where: str, value: Scalar, most: int) -> Statement:
    return Statement(f"{_SELECT} AND {OPEN} AND {where} ORDER BY c.seq DESC LIMIT ?", (space.id, value, most))


# The SQL of the change feed: changes of a space in order, with the versions that each made and ended


class FeedRow(NamedTuple):
    """A change with the row ids of the versions that it made (`born`) and ended (`died`), and the bytes of both."""

    seq: int
    kind: str
    memory_id: bytes | None
    version: int | None
    committed_at: int
    actor: str | None
    request: str | None
    born: int | None
    died: int | None
    bytes: int


def after(
    space: SpaceRow, since: int, until: int, kinds: Sequence[str], filter: Filter | None, limit: int
) -> Statement:
    """Select changes after `since` up to `until`, oldest first, of these kinds (none: all).

    With a filter, select only changes of memories that pass it before or after the change.
    """
    tests, args = ["c.space_id = ? AND c.seq > ? AND c.seq <= ?"], [space.id, since, until]
    values: list[Scalar] = [*args]
    if kinds:
        tests.append(f"c.kind IN ({','.join('?' * len(kinds))})")
        values += kinds
    if filter is not None:
        condition, operands = where(filter)
        tests.append(f"EXISTS (SELECT 1 FROM versions v WHERE v.id IN (b.id, d.id) AND {condition})")
        values += operands
    return Statement(
        "SELECT c.seq, c.kind, c.memory_id, c.version, c.committed_at, c.actor, c.request, b.id, d.id, "
        "coalesce(b.bytes, 0) + coalesce(d.bytes, 0) FROM changes c "
        "LEFT JOIN versions b ON b.space_id = c.space_id AND b.born = c.seq "
        "LEFT JOIN versions d ON d.space_id = c.space_id AND d.died = c.seq AND d.memory_id = c.memory_id "
        f"WHERE {' AND '.join(tests)} ORDER BY c.seq LIMIT ?",
        (*values, limit),
    )


def standing(names: Sequence[str]) -> Statement:
    """Select name, epoch and seq of spaces."""
    return Statement(f"SELECT name, epoch, seq FROM spaces WHERE name IN {slots(names)}", tuple(names))
