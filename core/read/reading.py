"""Read a space, memories by name, and points of its past, each in one snapshot."""

from collections.abc import Callable
from typing import cast

from msgspec.structs import replace

from muisti.core.identity.caller import Caller
from muisti.core.model.errors import EpochGone, NotFound, PastRetention, PointAhead
from muisti.core.model.ids import id_bytes, id_text
from muisti.core.model.times import from_us, to_us
from muisti.core.model.values import Address, Memory, Name
from muisti.core.query.points import AsOf, Point
from muisti.core.store.database import Database, Row, Rows, Statement
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


AskAt = Callable[[SpaceRow, Point], list[Statement]]


def read_at(
    database: Database, name: str, as_of: AsOf | None, now: int, ask: AskAt
) -> tuple[SpaceRow, Point, list[Rows]]:
    """Read a space as of a point of its history; None means now. The `seq` of the returned space is that point.

    Raises:
        NotFound: there is no such space.
        EpochGone, PastRetention, PointAhead: the space cannot be read as of that point.
    """
    point = Point(None, now) if as_of is None else point_of(database, name, as_of, now)
    space, answers = read(database, name, lambda space: ask(space, point))
    return space if point.number is None else shown_at(database, space, point.number), point, answers


def point_of(database: Database, name: str, as_of: AsOf, now: int) -> Point:
    """Return the point that a caller names. `now` is in microseconds.

    Raises:
        NotFound: there is no such space.
        EpochGone: the space was erased and created again since the point.
        PastRetention: the point is older than the history that is kept.
        PointAhead: the point is in the future.
    """
    space, (rows,) = read(database, name, lambda space: [spaces.change(space, as_of)])
    if as_of.epoch not in (None, space.space.epoch):
        raise EpochGone(f"space {name!r} was erased and created again since {as_of.epoch}:{as_of.number}")
    if as_of.number is not None and as_of.number > space.space.seq and database is not database.primary:
        return point_of(database.primary, name, as_of, now)  # the replica may be behind
    _check_past(space, as_of, now)
    last, committed_at = cast(tuple[int, int], rows[0]) if rows else (0, to_us(space.space.created_at))
    number = last if as_of.number is None else as_of.number
    shown_at(database, space, number)
    return Point(number, committed_at if as_of.time is None else as_of.time)


def shown_at(database: Database, space: SpaceRow, number: int) -> SpaceRow:
    """Return the space as it was after a change.

    Raises:
        PastRetention: the change is older than the history that is kept.
    """
    if number < space.kept_from:
        (rows,) = database.read([spaces.committed(space, space.kept_from)])
        since = f" ({from_us(cast(int, rows[0][0])).isoformat()})" if rows else ""
        raise PastRetention(
            f"space {space.space.name!r} remembers what it showed from change {space.kept_from}{since} on"
        )
    return replace(space, space=replace(space.space, seq=number))


def _check_past(space: SpaceRow, as_of: AsOf, now: int) -> None:
    """Raise unless the space existed at that time."""
    name, made = space.space.name, space.space.created_at
    if as_of.number is not None and as_of.number > space.space.seq:
        raise PointAhead(f"space {name!r} is at change {space.space.seq}, not yet at {as_of.number}")
    if as_of.time is not None and as_of.time > now:
        raise PointAhead(f"{from_us(as_of.time).isoformat()} is in the future")
    if as_of.time is not None and as_of.time < to_us(made):
        raise PastRetention(f"space {name!r} was made at {made.isoformat()}; it has no earlier history")


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
