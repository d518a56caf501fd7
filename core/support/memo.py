"""Values kept in the process: memoised functions of texts, values computed once, and small files."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, TypeVar
from weakref import ref

from muisti.core.support.waiting import Lock, refuse_long

# Text of a small file that may change while Muisti runs, such as a token that is renewed


class Reread:
    """ASCII text of a file without white space around it, read again when the file has changed. Thread-safe."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._text = ""
        self._seen: tuple[int, int, int] | None = None
        self._lock = Lock()

    def current(self) -> str:
        """Return the text.

        Raises:
            OSError, UnicodeDecodeError: the file cannot be read.
        """
        with self._lock:
            state = self._file.stat()
            seen = (state.st_mtime_ns, state.st_size, state.st_ino)
            if seen != self._seen:
                self._text = self._file.read_text("ascii").strip()
                self._seen = seen
            return self._text


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


V = TypeVar("V")
F = TypeVar("F", bound=Callable[..., Any])

_HOLDING: list[tuple[ref[Any], str]] = []
_erased = 0


def holds_texts(holder: object, method: str) -> None:
    """Register an object that keeps texts of memories in the process, and its method that drops them all."""
    _HOLDING.append((ref(holder), method))


def erasures() -> int:
    """Return a number that changes with each erasure: what was computed from texts across one must not be kept."""
    return _erased


def forget_texts() -> None:
    """Drop the texts that this process keeps: something was erased. What still exists is computed again."""
    global _erased  # two of the same moment may count as one: each comes after what it erased
    _erased += 1
    _HOLDING[:] = [one for one in _HOLDING if one[0]() is not None]
    for holder, method in [*_HOLDING]:
        if (held := holder()) is not None:
            getattr(held, method)()


def memoised(most: int) -> Callable[[F], F]:
    """Return a decorator like `functools.lru_cache` for functions of texts."""

    def decorated(function: F) -> F:
        found = lru_cache(most)(function)
        holds_texts(found, "cache_clear")
        return found  # pyright: ignore[reportReturnType]  # it takes and returns the same

    return decorated


class Memo(dict[str, V], Generic[V]):
    """Cache of values by word, which is cleared when it is full. Words longer than `longest` are not kept.

    A look-up takes a third of the time of `functools.lru_cache`. Thread-safe: two threads may compute the same word.
    """

    def __init__(self, work_out: Callable[[str], V], most: int, longest: int) -> None:
        super().__init__()
        self._work_out, self._most, self._longest = work_out, most, longest
        holds_texts(self, "clear")

    def __missing__(self, word: str) -> V:
        found = self._work_out(word)
        if len(word) <= self._longest:
            if len(self) >= self._most:
                self.clear()
            self[word] = found
        return found
