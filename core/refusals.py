"""What a batch is made of, and what its refusal means to the caller."""

from collections.abc import Sequence
from typing import cast

import msgspec

from core.conflicts.likeness import likeness
from core.errors import AddressTaken, Duplicate, InvalidInput, NotFound
from core.outcomes import Likeness, LikenessKind
from core.store import memories, spaces, version_rows
from core.store.database import Database, Refused, Row, Statement
from core.store.spaces import SpaceRow
from core.values import Memory, Seq


class Overtaken(Exception):
    """The store has moved on since the batch was prepared: look again."""


class Part(msgspec.Struct, frozen=True):
    """The statements that stand for one memory of a batch. `path` and `position` are its place in the request.

    `told`: the memory stands in the answer.
    """

    memory: Memory
    statements: Sequence[Statement]
    path: str = "$"
    position: int = 0
    told: bool = True


def part_of(statement: int, parts: Sequence[Part]) -> Part:
    """The part to which a statement belongs, counted from the first statement of the first part."""
    for part in parts:
        if statement < len(part.statements):
            return part
        statement -= len(part.statements)
    return parts[-1]


def explained(refused: Refused, database: Database, space: SpaceRow, part: Part | None, now: int) -> Exception:
    """What the caller is told; `Overtaken` when looking again will tell. `part` is None when a whole space changes."""
    if refused.code == "no_space":
        return NotFound("space", space.space.name)
    if refused.code in ("stale", "request_known", "model_mismatch"):
        return Overtaken()
    if part is None:
        return refused
    memory = part.memory
    if refused.code == "no_parent":
        return InvalidInput.at(f"{part.path}.parent_id", f"no memory {memory.parent_id} in this space")
    if refused.code == "duplicate":
        rows, state = database.read([memories.same_text(space, memory.content, now), spaces.state(space.id)])
        seq = Seq(cast(str, state[0][0]), cast(int, state[0][1])) if state else None
        return Duplicate(_alike(rows, space, "duplicate"), part.position, checked_at=seq)
    if refused.code == "address_taken":
        assert memory.category is not None and memory.key is not None
        (rows,) = database.read([memories.at_address(space, memory.category, memory.key)])
        return AddressTaken(memory.category, memory.key, _alike(rows, space, "address"), part.position)
    return refused


def _alike(rows: Sequence[Row], space: SpaceRow, kind: LikenessKind) -> list[Likeness]:
    return [likeness(version_rows.memory(row, space.space.name), kind) for row in rows]
