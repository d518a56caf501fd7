"""`make bench-remote`: searches and writes on a file, on sqld and on a replica of it, all on this machine, in turn."""

import argparse
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from deploy.cluster.sqld import Sqld
from loadtests import texts
from loadtests.timing import Engine as Measured
from loadtests.timing import interleaved
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.engine import Engine
from muisti.core.model.values import Draft
from muisti.core.query.query import Query
from muisti.core.store.database import Database, Rows, Statement
from muisti.core.store.file.database import FileDatabase
from muisti.core.store.remote.database import RemoteDatabase
from muisti.core.store.remote.http_client import Server, Token
from muisti.core.support.meters import StoreMeters

SIZE = 10_000
QUERIES = 400
WRITES = 200
BATCH = 500
SPACE = "default"
BOUND = 60.0  # seconds
SELECT = [Statement("SELECT 1")]


class Counting:
    """A database that counts round trips."""

    def __init__(self, inner: Database) -> None:
        self._inner = inner
        self.trips = 0

    @property
    def engine(self) -> str:
        return self._inner.engine

    @property
    def meters(self) -> StoreMeters:
        return self._inner.meters

    @property
    def primary(self) -> Database:
        return self._inner.primary

    def read(self, statements: Sequence[Statement]) -> list[Rows]:
        self.trips += 1
        return self._inner.read(statements)

    def write(self, statements: Sequence[Statement]) -> list[Rows]:
        return self._inner.write(statements)

    def close(self) -> None:
        self._inner.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-remote", description=__doc__)
    parser.add_argument("--size", type=int, default=SIZE, help="memories (default: %(default)s)")
    size: int = parser.parse_args().size
    memories, questions = texts.invented(size)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        primary = stack.enter_context(Sqld(folder / "primary"))
        replica = stack.enter_context(Sqld(folder / "replica", primary=primary))
        near, far = (Server(sqld.url, Token(), "default") for sqld in (replica, primary))
        databases = {
            "file": Counting(FileDatabase(folder / "muisti.db")),
            "sqld": Counting(RemoteDatabase(far)),
            "sqld and replica": Counting(RemoteDatabase(far, near)),
        }
        encoder = StaticEncoder()
        engines = {
            name: stack.enter_context(Engine(database, encoder, lambda: time.time_ns() // 1000))
            for name, database in databases.items()
        }
        for name in ("file", "sqld"):
            for start in range(0, size, BATCH):
                engines[name].owner.write.add(
                    SPACE, [Draft(content=text) for text in memories[start : start + BATCH]], on_conflict="keep"
                )
        console = Console(width=110)
        console.print(_searches(databases, engines, questions))
        console.print(_writes(databases, engines))


def _searches(databases: dict[str, Counting], engines: dict[str, Engine], questions: list[str]) -> Table:
    def search(name: str, age: float) -> Any:
        return lambda n: engines[name].owner.read.search(SPACE, Query(text=questions[n % len(questions)]), age)

    def again(name: str) -> Any:
        return lambda n: engines[name].owner.read.search(SPACE, Query(text=questions[n % 20]), BOUND)

    ways = [Measured(f"search, {name}", search(name, 0.0)) for name in databases]
    ways += [Measured(f"search again, bounded, {name}", again(name)) for name in databases]
    ways += [Measured(f"SELECT 1, {name}", lambda _, d=d: d.read(SELECT)) for name, d in databases.items()]
    for name, engine in engines.items():
        search(name, 0.0)(0)
        engine.settle()  # else packing is counted
    trips = {way.name: _trips(databases, way) for way in ways}
    table = Table("", "median ms", "p95 ms", "processor ms", "round trips")
    for name, times in interleaved(ways, QUERIES).items():
        found = times.summary()
        table.add_row(name, *(f"{found[figure]:.2f}" for figure in ("median", "p95", "cpu")), str(trips[name]))
    return table


def _trips(databases: dict[str, Counting], way: Measured[Any]) -> int:
    """Count the requests of one answer to the database, once all is warm."""
    for number in range(20):
        way.answer(number)
    before = sum(database.trips for database in databases.values())
    way.answer(0)
    return sum(database.trips for database in databases.values()) - before


def _writes(databases: dict[str, Counting], engines: dict[str, Engine]) -> Table:
    def add(name: str) -> Any:
        return lambda n: engines[name].owner.write.add(SPACE, [Draft(content=f"note {name} {n}")], on_conflict="keep")

    table = Table("one durable write, keep", "median ms", "p95 ms", "processor ms")
    for name, times in interleaved([Measured(name, add(name)) for name in databases], WRITES).items():
        found = times.summary()
        table.add_row(name, *(f"{found[figure]:.2f}" for figure in ("median", "p95", "cpu")))
    return table


if __name__ == "__main__":
    main()
