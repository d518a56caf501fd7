"""Damage that reads and writes of a database have met. After that nothing more is written to it."""

from types import TracebackType

import apsw

from muisti.core.model.errors import StoreCorrupt

ADVICE = "stop Muisti and run `muisti doctor`, which says what is damaged and how to save the rest"


class Health:
    """Record of damage. Thread-safe.

    As a context it remembers damage that ends the code inside. A text that is not UTF-8 is no damage of the file.
    """

    __slots__ = ("damaged",)

    def __init__(self) -> None:
        self.damaged = False

    def check(self) -> None:
        """Raise `StoreCorrupt` when damage was met."""
        if self.damaged:
            raise StoreCorrupt(f"the database file is damaged, so nothing is written to it: {ADVICE}")

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, StoreCorrupt) and isinstance(error.__cause__, apsw.CorruptError | apsw.NotADBError):
            self.damaged = True
