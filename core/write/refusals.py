"""Translate the refusal of a batch into an error for the caller."""

from collections.abc import Sequence
from typing import cast

import msgspec

from muisti.core.model.collisions import AddressTaken, Duplicate
from muisti.core.model.conversations import name_of
from muisti.core.model.errors import Conflict, InvalidInput, NotFound, PlaceTaken
from muisti.core.model.outcomes import Likeness, LikenessKind
from muisti.core.model.values import Memory, Seq
from muisti.core.store.database import Database, Refusal, Refused, Row, Statement
from muisti.core.store.sql import memories, spaces, version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.support.waiting import Overtaken
from muisti.core.tasks.fenced_commit import over
from muisti.core.write.conflicts.likeness import likeness

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
