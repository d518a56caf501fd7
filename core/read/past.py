"""Read a space as of a point of its history."""

from collections.abc import Callable
from typing import cast

from msgspec.structs import replace

from muisti.core.model.errors import EpochGone, PastRetention, PointAhead
from muisti.core.model.times import from_us, to_us
from muisti.core.query.points import AsOf, Point
from muisti.core.read.reading import read
from muisti.core.store.database import Database, Rows, Statement
from muisti.core.store.sql import spaces
from muisti.core.store.sql.spaces import SpaceRow

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
