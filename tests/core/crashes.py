"""A database on which the process of a task crashes at a chosen write, and tasks that such crashes interrupt."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.model.tasks import Task
from muisti.core.store.database import Database, Rows, Statement
from tests.core.fakes import open_engine
from tests.service.fakes import Breakable
from tests.stores import Store


class Died(BaseException):
    """Ends a thread as the end of its process would."""


class Deadly(Breakable):
    """A database on which the process crashes at the write number `last`: before it, or when it is committed."""

    last: int | None = None
    committed = False
    writes = 0

    def write(self, statements: Sequence[Statement]) -> list[Rows]:
        self.writes += 1
        if self.last == self.writes and not self.committed:
            raise Died
        rows = super().write(statements)
        if self.last == self.writes:
            raise Died
        return rows

    @contextmanager
    def crash(self, last: int | None, *, committed: bool = True) -> Iterator[None]:
        """Count writes, and crash at the write number `last`; None: do not crash."""
        self.writes, self.last, self.committed = 0, last, committed
        if last is None:
            yield
        else:
            with pytest.raises(Died):
                yield
        self.last = None


class At:
    """A store that opens a given database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def open(self) -> Database:
        return self._database


@contextmanager
def opened(store: Store, **options: Any) -> Iterator[tuple[Deadly, Engine]]:
    """Open a database to crash on, with its engine."""
    database = Deadly(store.open())
    with open_engine(At(database), **options) as engine:
        yield database, engine


def run(engine: Engine, task: Task) -> Task:
    """Run what waits in one process, and return the task."""
    engine.runner(60, 9).run_one()
    return engine.tasks.get(task.space, task.id, OWNER)


def lose_lease(engine: Engine, task: Task) -> None:
    """Let the lease of a task run out."""
    engine._database.write([Statement("UPDATE tasks SET lease_until = 0 WHERE id = ?", (task.id,))])


def run_with_a_crash(deadly: tuple[Deadly, Engine], task: Task, last: int | None, *, committed: bool) -> Task:
    """Run a task in a process that crashes at the write number `last`, and then in another one.

    With None there is no crash, and `writes` has the number of writes in all.
    """
    database, engine = deadly
    with database.crash(last, committed=committed):
        ended = run(engine, task)
    if last is None:
        return ended
    lose_lease(engine, task)
    return run(engine, task)
