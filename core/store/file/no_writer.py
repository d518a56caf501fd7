"""Takes the place of the writer of a read-only file: refuses every write with the reason."""

from collections.abc import Sequence
from typing import NoReturn

from muisti.core.model.errors import StoreReadOnly
from muisti.core.store.database import Ended, Statement
from muisti.core.support.meters import StoreMeters


class NoWriter:
    """Writer that refuses all work."""

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
        """Do nothing."""

    def hurry(self) -> None:
        """Do nothing."""

    def close(self) -> bool:
        """Return whether this is the first call."""
        closed, self._closed = self._closed, True
        return not closed
