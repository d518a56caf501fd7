"""Dry run of a batch: a database as it would be after it. Each read runs the batch and rolls it back."""

from collections.abc import Sequence

from muisti.core.model.errors import StoreUnavailable
from muisti.core.store.database import Database, Ended, Rows, Scrubbed, Statement
from muisti.core.store.free_space import Traces
from muisti.core.support.meters import StoreMeters

ONLY_READ = "a dry run cannot be written to"


class Rehearsed:
    """A read-only `Database`. A read raises `Refused` when the batch is refused."""

    def __init__(self, inner: Database, batch: Sequence[Statement]) -> None:
        self._inner = inner
        self._batch = tuple(batch)

    @property
    def engine(self) -> str:
        return self._inner.engine

    @property
    def local(self) -> bool:
        return False

    @property
    def meters(self) -> StoreMeters:
        return self._inner.meters

    @property
    def primary(self) -> Database:
        return self

    def check(self) -> None:
        self._inner.check()

    def read(self, statements: Sequence[Statement]) -> list[Rows]:
        return self._inner.rehearse([*self._batch, *statements])[len(self._batch) :]

    def write(self, statements: Sequence[Statement]) -> list[Rows]:
        raise StoreUnavailable(ONLY_READ)

    def rehearse(self, statements: Sequence[Statement]) -> list[Rows]:
        return self.read(statements)

    def queue(self, statements: Sequence[Statement], ended: Ended) -> bool:
        return False

    def expect(self, writes: int) -> None:
        pass  # nothing is queued here

    def hurry(self) -> None:
        pass

    def scrub(self, traces: Traces) -> Scrubbed:
        raise StoreUnavailable(ONLY_READ)

    def close(self) -> None:
        """Do nothing: the inner database stays open."""


# Writes outside the history of a space, which may be tried


def written(database: Database, statements: Sequence[Statement], ask: Statement, *, dry_run: bool) -> Rows:
    """Write, and read afterwards; of a dry run what would be read, and nothing stays.

    Raises:
        Refused: a statement was refused; nothing of the batch is kept.
    """
    if dry_run:
        return database.rehearse([*statements, ask])[-1]
    database.write(statements)
    return database.primary.read([ask])[0]
