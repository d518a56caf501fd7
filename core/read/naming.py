"""Find the memory that a caller names, by its id or by its category and key.

Every call that takes a name uses this module, so both kinds of name reach the same memories.
"""

from typing import cast

from muisti.core.identity.caller import Caller
from muisti.core.model.errors import NotFound
from muisti.core.model.ids import id_bytes, id_text
from muisti.core.model.values import Address, Memory, Name
from muisti.core.query.points import Point
from muisti.core.read.reading import current, read
from muisti.core.store.database import Database, Row, Rows, Statement
from muisti.core.store.sql import memories
from muisti.core.store.sql.spaces import SpaceRow


def missing(name: Name) -> NotFound:
    """Return the error that there is no memory of this name."""
    return NotFound("entry", str(name)) if isinstance(name, Address) else NotFound("memory", name)


def named(space: SpaceRow, name: Name, point: Point) -> Statement:
    """Return the SQL that reads the version that had a name at a point.

    Raises:
        NotFound: the name is not a valid id.
    """
    if isinstance(name, Address):
        return memories.stood_at_address(space, name.category, name.key, point)
    return memories.standing(space, _raw(name), point)


def shown(rows: Rows, space: str, name: Name, caller: Caller, now: int) -> Memory:
    """Return the memory that `named` has read.

    Raises:
        NotFound: the memory is missing, superseded, expired, or hidden from the caller.
    """
    try:
        return current(rows, space, str(name), caller, now)
    except NotFound:
        if isinstance(name, Address):
            raise missing(name) from None
        raise


def find(database: Database, space: SpaceRow, name: Name, caller: Caller, now: int) -> tuple[Row, Memory]:
    """Read the current memory of a name, with its row.

    Raises:
        NotFound: there is none for this caller.
    """
    (rows,) = database.read([named(space, name, Point(None, now))])
    memory = shown(rows, space.space.name, name, caller, now)
    return rows[0], memory


def id_of(database: Database, space: str, name: Name, caller: Caller, now: int) -> str:
    """Return the id of the current memory of a name. A given id is returned unchecked.

    Raises:
        NotFound: the caller sees no memory at the address.
    """
    if not isinstance(name, Address):
        return name
    found, (rows,) = read(database, space, lambda row: [named(row, name, Point(None, now))])
    return shown(rows, found.space.name, name, caller, now).id


def last_id(database: Database, space: SpaceRow, name: Name, caller: Caller) -> str:
    """Return the id of the memory that has an address, expired or not, or of the last one that had it.

    Memories that the caller may not see are ignored. A given id is returned unchecked.

    Raises:
        NotFound: no memory ever had the address.
    """
    if not isinstance(name, Address):
        return name
    rows = database.read([memories.held_address(space, name.category, name.key, caller.own_category)])[0]
    if not rows or not caller.shows(name.category):
        raise missing(name)
    return id_text(cast(bytes, rows[0][0]))


def _raw(memory_id: str) -> bytes:
    raw = id_bytes(memory_id)
    if raw is None:
        raise NotFound("memory", memory_id)
    return raw
