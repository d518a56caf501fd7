"""Read a space and any other rows in one snapshot."""

from collections.abc import Callable

from muisti.core.identity.caller import Caller
from muisti.core.model.errors import NotFound
from muisti.core.model.values import Memory
from muisti.core.store.database import Database, Rows, Statement
from muisti.core.store.sql import memories, spaces, version_rows
from muisti.core.store.sql.spaces import SpaceRow, space_row

Ask = Callable[[SpaceRow], list[Statement]]


def find_space(database: Database, name: str) -> SpaceRow:
    """Return the space of this name.

    Raises:
        NotFound: there is no such space.
    """
    (rows,) = database.read([spaces.by_name(name)])
    if not rows:
        raise NotFound("space", name)
    return space_row(rows[0])


def read(database: Database, name: str, ask: Ask) -> tuple[SpaceRow, list[Rows]]:
    """Return the space and the results of the statements that `ask` makes for it, from one snapshot."""
    while True:
        before = find_space(database, name)
        state, *answers = database.read([spaces.by_name(name), *ask(before)])
        after = space_row(state[0]) if state else None
        if after is not None and after.id == before.id and after.space.epoch == before.space.epoch:
            return after, answers


def current(rows: Rows, space: str, memory_id: str, caller: Caller, now: int) -> Memory:
    """Return the memory that `memories.living` has read.

    Raises:
        NotFound: the memory is missing, superseded, expired, or hidden from the caller.
    """
    memory = version_rows.memory(rows[0], space) if rows else None
    if memory is None or not caller.shows(memory.category) or memories.is_expired(memory, now):
        raise NotFound("memory", memory_id)
    if memory.superseded_by is not None:
        raise NotFound("memory", memory_id, f"{memory.superseded_by!r} has superseded it")
    return memory
