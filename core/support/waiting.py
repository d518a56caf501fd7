"""Code that must not block, such as the event loop: it takes what is free, or ends with `WouldWait`.

The rule is enforced where waiting happens: in the pool of readers, in `Lock`, and before work that takes long. So no
code in between can wait by mistake.
"""

import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from types import TracebackType
from typing import ClassVar
from weakref import WeakValueDictionary

from muisti.core.model.values import Seq

# Threads of slow work, which give way to requests that are answered quickly

NICENESS = 5  # that is added to that of the process, where the system has priorities of threads
PAUSE = 0.0005  # seconds between two looks
PATIENCE = 0.02  # seconds of a pause, at most
BRIEF = 0.1  # seconds that a request works before it gives way: most are answered by then
REST = 4  # a pause is at most so many times as long as the work before it


class _SlowThread(threading.local):
    is_slow = False
    began = 0.0  # of the request that it works on, of the monotonic clock
    resumed = 0.0  # end of the last pause, of the monotonic clock


_SLOW_THREAD = _SlowThread()


class Urgent:
    """A request that is under way and is answered quickly, until `end`. Only the event loop's thread changes it."""

    running: ClassVar[int] = 0  # of all servers in this process
    _current: ContextVar["Urgent | None"] = ContextVar("urgent", default=None)

    def __init__(self) -> None:
        self.counted = 1  # 0 while it waits, and from its end
        Urgent.running += 1
        self._current.set(self)

    def end(self) -> None:
        """End it, if it has not ended."""
        Urgent.running -= self.counted
        self.counted = 0

    @classmethod
    @contextmanager
    def waiting(cls) -> Generator[None]:
        """Return a context in which the request of this task only waits, and needs no processor."""
        request = cls._current.get()
        if request is None or not request.counted:
            yield
            return
        request.end()
        try:
            yield
        finally:
            request.counted = 1
            Urgent.running += 1


def work_slowly() -> None:
    """Mark this thread as one of slow work until it ends, and lower its priority."""
    _SLOW_THREAD.is_slow = True
    if sys.platform != "linux":  # elsewhere it would be that of the process
        return
    thread = threading.get_native_id()
    with suppress(OSError):  # a sandbox may forbid it
        os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + NICENESS)


def begin() -> None:
    """Note that this thread begins to work on a request."""
    _SLOW_THREAD.began = time.monotonic()


def give_way() -> None:
    """Pause a thread of slow work while urgent requests are under way. Call it after about a millisecond of work."""
    if not Urgent.running or not _SLOW_THREAD.is_slow:
        return
    now = time.monotonic()
    if now < _SLOW_THREAD.began + BRIEF:
        return
    end = now + min(PATIENCE, REST * (now - _SLOW_THREAD.resumed))
    while Urgent.running and now < end:
        time.sleep(PAUSE)
        now = time.monotonic()
    _SLOW_THREAD.resumed = now


Ring = Callable[[str, Seq], None]  # takes a space's name and seq; called by any thread, so it must not block


class ChangeNotifier:
    """Publisher of the newest seq of each changed space. Thread-safe."""

    def __init__(self) -> None:
        self._listeners: tuple[Ring, ...] = ()

    def listen(self, ring: Ring) -> None:
        self._listeners = (*self._listeners, ring)

    def ignore(self, ring: Ring) -> None:
        self._listeners = tuple(one for one in self._listeners if one != ring)

    def ring(self, space: str, at: Seq) -> None:
        for one in self._listeners:
            one(space, at)


class WouldWait(Exception):
    """Raised where this thread would have to wait and may not. A thread that may wait should repeat the call."""


class WouldCrowd(WouldWait):
    """Raised where this thread may do the work for a lone caller only."""


class Overtaken(Exception):
    """The store has changed since a write was prepared, so it must be prepared again."""


class _Here(threading.local):
    may_wait = True
    space: str | None = None


_HERE = _Here()


def may_wait() -> bool:
    """Return whether this thread may wait now."""
    return _HERE.may_wait


def refuse_long() -> None:
    """Raise `WouldWait` on a thread that may not wait. Call it before work of more than a few milliseconds."""
    if not _HERE.may_wait:
        raise WouldWait


class working_for:
    """Context in which this thread works for a space, or for none that is known. See `Turns`."""

    __slots__ = ("_before", "_space")

    def __init__(self, space: str | None) -> None:
        self._space = space

    def __enter__(self) -> None:
        self._before, _HERE.space = _HERE.space, self._space

    def __exit__(self, *_: object) -> None:
        _HERE.space = self._before


class Turns:
    """Lets at most `most` threads work at a time. Those that work for one space leave one place to the others.

    A single place goes to whoever comes first.
    """

    def __init__(self, most: int) -> None:
        self._most, self._share = most, max(1, most - 1)
        self._working = Counter[str | None]()
        self._changed = threading.Condition()

    @contextmanager
    def turn(self) -> Generator[None]:
        """Return a context in which this thread has a place; wait for one before."""
        space = _HERE.space
        with self._changed:
            self._changed.wait_for(lambda: self._is_free(space))
            self._working[space] += 1
        try:
            yield
        finally:
            with self._changed:
                self._working -= Counter({space: 1})
                self._changed.notify_all()

    def _is_free(self, space: str | None) -> bool:
        return self._working.total() < self._most and (space is None or self._working[space] < self._share)


class without_waiting:
    """Context in which this thread may not wait; `WouldWait` ends it instead. It must not contain an `await`."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before = _HERE.may_wait
        _HERE.may_wait = False

    def __exit__(self, *_: object) -> None:
        _HERE.may_wait = self._before


class Lock:
    """Lock that may be held during a read or a long computation. A thread that may not wait takes it only when free.

    A plain `threading.Lock` is for a few lines that only touch memory, since the event loop may wait for it.
    """

    __slots__ = ("__weakref__", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        if not self._lock.acquire(_HERE.may_wait):
            raise WouldWait

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    @contextmanager
    def within(self, seconds: float) -> Generator[bool]:
        """Return a context that tells whether the lock is held in it: another thread may keep it for longer."""
        is_held = self._lock.acquire(timeout=seconds) if _HERE.may_wait else self._lock.acquire(blocking=False)
        try:
            yield is_held
        finally:
            if is_held:
                self._lock.release()


class Locks:
    """A lock for each key, such as the name of a space. Who works on one key never waits for work on another."""

    __slots__ = ("_guard", "_locks")

    def __init__(self) -> None:
        self._locks = WeakValueDictionary[Hashable, Lock]()
        self._guard = threading.Lock()

    def of(self, key: Hashable) -> Lock:
        """Return the lock of a key. It exists as long as somebody holds it or waits for it."""
        with self._guard:
            return self._locks.setdefault(key, Lock())
