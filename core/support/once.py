"""A value that is made when it is first needed, once."""

from collections.abc import Callable
from typing import Generic, TypeVar

from muisti.core.support.waiting import Lock, refuse_long

T = TypeVar("T")


class Once(Generic[T]):
    """Holds a value that takes long to make. Thread-safe; after an error the next call tries again.

    >>> greeting = Once(lambda: "hello")
    >>> greeting.made, greeting(), greeting.made
    (False, 'hello', True)
    """

    __slots__ = ("_lock", "_make", "_value")

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = Lock()
        self._value: T | None = None

    @property
    def made(self) -> bool:
        """Whether the value is there."""
        return self._value is not None

    def __call__(self) -> T:
        """Return the value. Raises `WouldWait` on a thread that may not wait while it has to be made."""
        if self._value is None:
            refuse_long()
            with self._lock:
                if self._value is None:
                    self._value = self._make()
        return self._value
