"""Writes in progress: the call, the prepared batch, the errors of refusals, and stored answers."""

from collections.abc import Sequence
from time import perf_counter
from typing import cast

import msgspec

from muisti.core.identity.caller import OWNER, Caller
from muisti.core.model.collisions import AddressTaken, Duplicate
from muisti.core.model.errors import Conflict, InvalidInput, NotFound, PlaceTaken
from muisti.core.model.ids import id_bytes
from muisti.core.model.outcomes import Flag, Likeness, LikenessKind, Tally
from muisti.core.model.places import name_of
from muisti.core.model.times import Clock
from muisti.core.model.values import Memory, RequestKey, Seq
from muisti.core.store.database import Database, Refusal, Refused, Row, Rows, Statement
from muisti.core.store.sql import memories, spaces, version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.support.waiting import Overtaken
from muisti.core.tasks.claim import UNFENCED, FencedCommit, over
from muisti.core.write.conflicts.check import NOT_CHECKED, Checked
from muisti.core.write.conflicts.comparing import likeness

# Store the answer of a request, so that a repeated request gets it again. Versions are named; the rest is JSON


class Remembered(msgspec.Struct, frozen=True, kw_only=True):
    """A stored answer. `memories` are hexadecimal ids and version numbers."""

    memories: tuple[tuple[str, int], ...]
    created: bool
    similar: tuple[Likeness, ...] = ()
    checked_at: Seq | None = None
    ended: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()

    @property
    def versions(self) -> list[tuple[bytes, int]]:
        return [(bytes.fromhex(memory_id), version) for memory_id, version in self.memories]


# Built at import: msgspec (0.22) analyses a type on first use, and crashes when several threads do that together.
_DECODER = msgspec.json.Decoder(Remembered)


def remember(
    memories: Sequence[Memory],
    *,
    created: bool,
    similar: tuple[Likeness, ...] = (),
    checked_at: Seq | None = None,
    ended: tuple[str, ...] = (),
    flags: tuple[Flag, ...] = (),
) -> bytes:
    """Return an answer as bytes."""
    versions = tuple(((id_bytes(memory.id) or b"").hex(), memory.version) for memory in memories)
    answer = Remembered(
        memories=versions, created=created, similar=similar, checked_at=checked_at, ended=ended, flags=flags
    )
    return msgspec.json.encode(answer)


def read_answer(answer: bytes) -> Remembered:
    """Return the answer in bytes that `remember` wrote.

    >>> read_answer(b'{"memories": [["0a", 1]], "created": true}').versions == [(bytes([10]), 1)]
    True
    """
    return _DECODER.decode(answer)


_LOOK_AGAIN = (Refusal.STALE, Refusal.REQUEST_KNOWN, Refusal.MODEL_MISMATCH)


class Part(msgspec.Struct, frozen=True):
    """Statements of a batch for one memory. `path` and `position` are its place in the request.

    `told`: the reply contains the memory.
    """

    memory: Memory
    statements: Sequence[Statement]
    path: str = "$"
    position: int = 0
    told: bool = True


def part_of(statement: int, parts: Sequence[Part]) -> Part:
    """Return the part to which a statement belongs. Statements are counted from the first part's first one."""
    for part in parts:
        if statement < len(part.statements):
            return part
        statement -= len(part.statements)
    return parts[-1]


def explained(refused: Refused, database: Database, space: SpaceRow, part: Part | None, now: int) -> Exception:
    """Return the error that explains a refusal, or `Overtaken` when a retry is needed.

    `part` is None when a whole space changes.
    """
    if (ended := over(refused)) is not None:
        return ended
    if refused.code == Refusal.NO_SPACE:
        return NotFound("space", space.space.name)
    if refused.code in _LOOK_AGAIN:
        return Overtaken()
    if refused.code == Refusal.INCOMPLETE:
        return Conflict(
            "nothing was done: it would leave a document without some of its chunks; take back the whole request that "
            "stored the document, or delete the document"
        )
    if part is None:
        return refused
    memory = part.memory
    if refused.code == Refusal.NO_PARENT:
        return InvalidInput.at(f"{part.path}.parent_id", f"no memory {memory.parent_id} in this space")
    if refused.code == Refusal.DUPLICATE:
        rows, state = database.read([memories.same_text(space, memory, now), spaces.state(space)])
        seq = Seq(cast(str, state[0][0]), cast(int, state[0][1])) if state else None
        return Duplicate(_alike(rows, space, "duplicate"), part.position, checked_at=seq)
    if refused.code == Refusal.PLACE_TAKEN:
        return PlaceTaken(memory.kind, name_of(memory), memory.turn)
    if refused.code == Refusal.ADDRESS_TAKEN:
        assert memory.category is not None and memory.key is not None
        (rows,) = database.read([memories.at_address(space, memory.category, memory.key)])
        return AddressTaken(memory.category, memory.key, _alike(rows, space, "address"), part.position)
    return refused


def _alike(rows: Sequence[Row], space: SpaceRow, kind: LikenessKind) -> list[Likeness]:
    return [likeness(version_rows.memory(row, space.space.name), kind) for row in rows]


class Call(msgspec.Struct, frozen=True):
    """Time and caller of a write, and the key that makes repeating it harmless. `now` is in microseconds.

    With `dry_run`, the batch is run, reported and rolled back in one step; it has no key. `fenced` is what the batch
    commits for the task that the write is part of; a write that changes nothing commits it alone.
    """

    now: int
    request: RequestKey | None = None
    caller: Caller = OWNER
    dry_run: bool = False
    fenced: FencedCommit = UNFENCED


class Calls(msgspec.Struct, frozen=True):
    """Stamp each call of one caller with the time. With `dry_run`, writes are rolled back.

    `fenced` is what the one write of these calls commits for a task.
    """

    caller: Caller
    clock: Clock
    dry_run: bool = False
    fenced: FencedCommit = UNFENCED

    def new(self, request: RequestKey | None = None) -> Call:
        """Return a call made now. A dry run never counts as a repetition of a request."""
        return Call(
            self.clock(),
            None if self.dry_run else request,
            self.caller,
            self.dry_run,
            UNFENCED if self.dry_run else self.fenced,
        )


class Begun(msgspec.Struct, frozen=True):
    """A prepared write. The first `head` statements of its batch precede the statements of the parts.

    `numbers` counts the changes of the parts, `beyond` those that their last statements make in bulk. `tally` is the
    position of the statements that count changes of a whole space. `embedded`: the versions have new texts. `at` is in
    seconds of `perf_counter`. `shared`: the batch has writes of other calls too.
    """

    space: SpaceRow
    head: int
    batch: Sequence[Statement]
    parts: Sequence[Part]
    call: Call
    created: bool
    checked: Checked = NOT_CHECKED
    ended: tuple[str, ...] = ()
    tally: int | None = None
    numbers: int = 0
    flags: tuple[Flag, ...] = ()
    beyond: int = 0
    embedded: bool = False
    at: float = msgspec.field(default_factory=perf_counter)
    shared: bool = False

    def tallied(self, results: Sequence[Rows]) -> Tally | None:
        """Return the changes of a whole space, as the results of the batch count them; None for memories by name."""
        if self.tally is None:
            return None
        added, changed, ended = (cast(int, rows[0][0]) for rows in results[self.tally : self.tally + 3])
        return Tally(added, changed, ended)
