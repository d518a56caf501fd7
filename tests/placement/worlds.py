"""Several databases with a directory, and what must hold of their spaces however moves end."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from muisti.core.engine import Engine
from muisti.core.model.buckets import unit_of
from muisti.core.model.values import Draft
from muisti.core.placement.directory import Directory, Move, Target
from muisti.core.placement.holdings import hold_nothing
from muisti.core.placement.mover import Mover
from muisti.core.placement.rows import CARRIED
from muisti.core.store.database import Database, Rows, Statement
from tests.core.crashes import At, Deadly
from tests.core.fakes import SPACE, Clock, WordEncoder
from tests.service.conftest import Run
from tests.stores import at, migrated

ME = "tester"
_KEPT = "epoch, seq, created_at, committed_at, settings, memories, bytes, objects, kept_from, policy"


class World:
    """A directory `main` and databases `a` and `b`, each of which may crash."""

    def __init__(self, databases: list[Deadly]) -> None:
        self.databases = dict(enumerate(databases))
        self.engines = {id_: Engine(one, WordEncoder(), Clock()) for id_, one in self.databases.items()}
        self.directory = Directory(self.databases[0])
        for name in ("a", "b")[: len(databases) - 1]:
            target = self.directory.add(Target(id=-1, name=name, url=f"file:/{name}.db"), ME, 0)
            hold_nothing(self.databases[target.id])

    def mover(self, owner: str = ME) -> Mover:
        return Mover(self.directory, self.databases.__getitem__, owner)

    def ask(self, unit: str, target: str) -> Move:
        return self.directory.ask([unit], self.directory.load().named(target), "moved", ME, 0)[0]

    def move(self, unit: str, target: str) -> Move:
        asked = self.ask(unit, target)
        moved = self.mover().run(asked.id)
        assert moved is not None
        return moved

    def home(self, space: str) -> Engine:
        return self.engines[self.directory.load().of(space)]

    def abandon(self) -> None:
        """Let the leases of a process that was killed run out."""
        self.databases[0].write([Statement("UPDATE moves SET lease_until = 0")])

    def keepers(self, space: str) -> list[int]:
        """Return the databases in which callers would find a space."""
        return [id_ for id_, one in self.engines.items() if any(found.name == space for found in one.spaces.list())]


@contextmanager
def world(folder: Path, count: int = 3) -> Iterator[World]:
    folder.mkdir(exist_ok=True)
    opened: list[Database] = [migrated(at(folder / f"{number}.db")) for number in range(count)]
    made = World([Deadly(one) for one in opened])
    try:
        yield made
    finally:
        for engine in made.engines.values():
            engine.close()


def contents(engine: Engine, space: str) -> list[tuple[str, str]]:
    """Return the ids and texts of the current memories of a space, as its list and its index have them."""
    found = engine.owner.read.list(space, limit=100).items
    return sorted((one.id, one.content) for one in found)


def dump(database: Database, space: str) -> dict[str, Rows]:
    """Return all rows of a space that move with it, with the numbers of rows left out."""
    ((id_, *row),) = database.read([
        Statement(f"SELECT id, {_KEPT} FROM spaces WHERE name = ?", (space,))
    ])[0]  # fmt: skip
    found: dict[str, Rows] = {"spaces": [tuple(row)]}
    for one in CARRIED:
        columns = [name for name in one.table.columns if name not in one.numbers]
        ask = f"SELECT {', '.join(columns)} FROM {one.table.name} t WHERE {one.among}"
        found[one.table.name] = sorted(database.read([Statement(ask, (id_,))])[0], key=repr)
    return found


def spread(run: Run, folder: Path) -> None:
    """Let commands add the database `eu-1`, and move the space `acme` with a memory there."""
    assert run("space", "create", "acme").exit_code == 0
    assert run("add", "We deploy on Fridays", "--author", "ann", "--space", "acme").exit_code == 0
    assert run("add", "Trains are green", "--author", "ann", "--space", "default").exit_code == 0
    assert run("placement", "add", "eu-1", f"file:{folder / 'eu.db'}").exit_code == 0
    assert run("placement", "move", "acme", "--target", "eu-1", "--wait").exit_code == 0


__all__ = ["At", "SPACE", "Draft", "World", "contents", "dump", "spread", "unit_of", "world"]
