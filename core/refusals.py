"""What a batch is made of, and what its refusal means to the caller."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from core.errors import AddressTaken, Duplicate, InvalidInput, NotFound
from core.ids import id_text
from core.store import memories
from core.store.database import Database, Refused, Statement
from core.store.spaces import SpaceRow
from core.values import Memory


class Overtaken(Exception):
    """The store has moved on since the batch was prepared: look again."""


@dataclass(frozen=True, slots=True)
class Part:
    """The statements that stand for one memory of a batch. `path` and `position` are its place in the request."""

    memory: Memory
    statements: Sequence[Statement]
    path: str = "$"
    position: int = 0


def part_of(statement: int, parts: Sequence[Part]) -> Part:
    """The part to which a statement belongs, counted from the first statement of the first part."""
    for part in parts:
        if statement < len(part.statements):
            return part
        statement -= len(part.statements)
    return parts[-1]


def explained(refused: Refused, database: Database, space: SpaceRow, part: Part, now: int) -> Exception:
    """What the caller is told; `Overtaken` when looking again will tell."""
    memory = part.memory
    if refused.code == "no_space":
        return NotFound("space", space.space.name)
    if refused.code == "no_parent":
        return InvalidInput.at(f"{part.path}.parent_id", f"no memory {memory.parent_id} in this space")
    if refused.code == "duplicate":
        return Duplicate(_ids(database, memories.same_text(space, memory.content, now)), part.position)
    if refused.code == "address_taken":
        assert memory.category is not None and memory.key is not None
        holders = _ids(database, memories.at_address(space, memory.category, memory.key), column=1)
        return AddressTaken(memory.category, memory.key, holders, part.position)
    if refused.code in ("stale", "request_known", "model_mismatch"):
        return Overtaken()
    return refused


def _ids(database: Database, statement: Statement, column: int = 0) -> list[str]:
    (rows,) = database.read([statement])
    return [id_text(cast(bytes, row[column])) for row in rows]
