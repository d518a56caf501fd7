"""Stands in for the writer of a file that can only be read: refuses every write, and says why."""

from collections.abc import Sequence
from typing import NoReturn

from muisti.core.model.errors import StoreReadOnly
from muisti.core.store.database import Ended, Statement
from muisti.core.support.meters import StoreMeters


class NoWriter:
    """Refuses what a `Writer` does."""

    def __init__(self, refusal: StoreReadOnly) -> None:
        self._refusal = str(refusal)
        self._closed = False
        self.connection = None
        self.meters = StoreMeters(waiting=lambda: 0)

    def put(self, statements: Sequence[Statement], ended: Ended, *, kept: bool = True) -> NoReturn:
        """Raise `StoreReadOnly`."""
        del statements, ended, kept
        raise StoreReadOnly(self._refusal)

    def empty_log(self) -> NoReturn:
        """Raise `StoreReadOnly`."""
        raise StoreReadOnly(self._refusal)

    def rewrite(self) -> NoReturn:
        """Raise `StoreReadOnly`."""
        raise StoreReadOnly(self._refusal)

    def expect(self, writes: int) -> None:
        """Expect nothing."""

    def hurry(self) -> None:
        """Wait for nobody as it is."""

    def close(self) -> bool:
        """Return whether it was open."""
        closed, self._closed = self._closed, True
        return not closed
