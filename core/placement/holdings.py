"""Holdings of one database: the units, the epoch of each, and whether it takes writes.

The database itself says so, in the transaction of each write. What a process believes of the map does not matter.
"""

from typing import Literal, NamedTuple, cast

from muisti.core.model.buckets import EVERYTHING, bucket_of, in_unit, unit_of
from muisti.core.model.errors import AlreadyExists
from muisti.core.placement.directory import NOW, numbered
from muisti.core.store.database import Database, Refusal, Refused, Statement, refuse, slots

State = Literal["held", "following", "fenced", "gone", "arriving"]
HOLDS: frozenset[State] = frozenset(("held", "following", "fenced"))
FENCE_US = 1_000_000  # after which a fence may be lifted by whoever meets it


class Holding(NamedTuple):
    """Answer of a database about a unit. `over`: its fence has lasted for too long."""

    unit: str
    epoch: int
    state: State
    over: bool = False

    @property
    def holds(self) -> bool:
        return self.state in HOLDS


def holding(database: Database, name: str) -> Holding:
    """Return what a database says of the space of this name, or of a unit."""
    bucket = in_unit(name)
    units = (name, unit_of(bucket_of(name) if bucket is None else bucket), EVERYTHING)
    (rows,) = database.read([
        Statement(f"SELECT unit, epoch, state, until < {NOW} FROM holdings WHERE unit IN {slots(units)}", units)
    ])  # fmt: skip
    known = {str(row[0]): row for row in rows}
    for unit in units:
        if unit in known:
            _, epoch, state, over = known[unit]
            return Holding(unit, cast(int, epoch), cast(State, state), state == "fenced" and bool(over))
    return Holding(EVERYTHING, 0, "held")


def hold_nothing(database: Database) -> None:
    """Let a new database of a directory hold only what is moved to it."""
    database.write(
        [Statement("INSERT OR IGNORE INTO holdings (unit, epoch, state) VALUES (?, 0, 'gone')", (EVERYTHING,))]
    )


def give(source: Database, target: Database, name: str) -> None:
    """Let a database hold a name that no space has yet, and that belongs to another one by its bucket.

    Raises:
        AlreadyExists: there is such a space.
    """
    put = "INSERT OR REPLACE INTO holdings VALUES (?, 0, ?, 0)"
    taken = f"{refuse(Refusal.SPACE_EXISTS)} WHERE EXISTS (SELECT 1 FROM spaces WHERE name = ?)"
    try:
        source.write([Statement(taken, (name,)), Statement(put, (name, "gone"))])
    except Refused as refused:
        raise AlreadyExists(f"a space {name!r} exists already") from refused
    target.write([Statement(put, (name, "held"))])


def lift(database: Database, found: Holding) -> None:
    """End a fence that has lasted for too long; its move fences again when it goes on."""
    database.write(unfenced(found.epoch, over=True))


def unfenced(epoch: int, *, over: bool = False) -> list[Statement]:
    """Let the spaces that leave take writes again; with `over`, only when their fence has lasted for too long."""
    late = f" AND until < {NOW}" if over else ""
    fenced = f"EXISTS (SELECT 1 FROM holdings WHERE epoch = ?1 AND state = 'fenced'{late})"
    return [
        numbered(f"UPDATE leaving SET fenced = 0 WHERE epoch = ?1 AND {fenced}", (epoch,)),
        numbered(
            "UPDATE spaces SET placed = -1 - placed WHERE placed < 0 AND id IN (SELECT space_id FROM leaving WHERE "
            f"epoch = ?1) AND {fenced}",
            (epoch,),
        ),
        numbered(f"UPDATE holdings SET state = 'following' WHERE epoch = ?1 AND state = 'fenced'{late}", (epoch,)),
    ]
