"""Damage that reads and writes of a database have met. After that nothing more is written to it."""

from collections.abc import Generator
from contextlib import contextmanager

import apsw

from muisti.core.model.errors import StoreCorrupt

ADVICE = "stop Muisti and run `muisti doctor`, which says what is damaged and how to save the rest"


class Health:
    """Record of damage. Thread-safe."""

    def __init__(self) -> None:
        self.damaged = False

    def check(self) -> None:
        """Raise `StoreCorrupt` when damage was met."""
        if self.damaged:
            raise StoreCorrupt(f"the database file is damaged, so nothing is written to it: {ADVICE}")

    @contextmanager
    def noting(self) -> Generator[None]:
        """Remember damage that ends the code inside. A text that is not UTF-8 is no damage of the file."""
        try:
            yield
        except StoreCorrupt as error:
            self.damaged = self.damaged or isinstance(error.__cause__, apsw.CorruptError | apsw.NotADBError)
            raise
