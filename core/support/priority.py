"""Threads of slow work, which give way to requests that are answered quickly.

One interpreter runs one thread at a time. So a thread that computes for long pauses while short requests are under
way, and the system schedules it after the others. It works a fifth of the time even if they never end.
"""

import os
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import ClassVar

NICENESS = 5  # that is added to that of the process, where the system has priorities of threads
PAUSE = 0.0005  # seconds between two looks
PATIENCE = 0.02  # seconds of a pause, at most
BRIEF = 0.1  # seconds that a request works before it gives way: most are answered by then
REST = 4  # a pause is at most so many times as long as the work before it


class _Here(threading.local):
    is_slow = False
    began = 0.0  # of the request that it works on, of the monotonic clock
    resumed = 0.0  # end of the last pause, of the monotonic clock


_HERE = _Here()


class Urgent:
    """A request that is under way and is answered quickly, until `end`. Only the event loop's thread changes it."""

    running: ClassVar[int] = 0  # of all servers in this process
    _current: ContextVar["Urgent | None"] = ContextVar("urgent", default=None)

    def __init__(self) -> None:
        self._counted = 0
        self._count(1)
        self._current.set(self)

    def end(self) -> None:
        """End it, if it has not ended."""
        self._count(0)

    def _count(self, number: int) -> None:
        Urgent.running += number - self._counted
        self._counted = number

    @classmethod
    @contextmanager
    def waiting(cls) -> Generator[None]:
        """Return a context in which the request of this task only waits, and needs no processor."""
        request = cls._current.get()
        before = 0 if request is None else request._counted
        if request is None or not before:
            yield
            return
        request._count(0)
        try:
            yield
        finally:
            request._count(before)


def work_slowly() -> None:
    """Mark this thread as one of slow work until it ends, and lower its priority."""
    _HERE.is_slow = True
    if sys.platform != "linux":  # elsewhere it would be that of the process
        return
    thread = threading.get_native_id()
    with suppress(OSError):  # a sandbox may forbid it
        os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + NICENESS)


def begin() -> None:
    """Note that this thread begins to work on a request."""
    _HERE.began = time.monotonic()


def give_way() -> None:
    """Pause a thread of slow work while urgent requests are under way. Call it after about a millisecond of work."""
    if not Urgent.running or not _HERE.is_slow:
        return
    now = time.monotonic()
    if now < _HERE.began + BRIEF:
        return
    end = now + min(PATIENCE, REST * (now - _HERE.resumed))
    while Urgent.running and now < end:
        time.sleep(PAUSE)
        now = time.monotonic()
    _HERE.resumed = now
