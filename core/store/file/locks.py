"""Waiting for locks that another process has on a database file: for how long, and which process has them."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from muisti.core.support.waiting import may_wait

BUSY_SECONDS = 10.0
NOTICE_SECONDS = 1.0
PAUSE_SECONDS = 0.01
WRITE_LOCK = 120  # the byte of the shared index that a writing process locks
_LOCKS = Path("/proc/locks")  # exists on Linux only

Notice = Callable[[str], None]


class LockWait:
    """Busy handler of SQLite that waits, and reports once which process has the lock. One for each connection."""

    def __init__(self, path: Path, notice: Notice | None = None) -> None:
        """`notice` gets the name of the process that has the lock after one second of waiting."""
        self._path, self._notice = path, notice
        self._began = 0.0
        self.seconds = BUSY_SECONDS

    def __call__(self, tries: int) -> bool:
        """Wait briefly and return True; return False after `seconds`, or when this thread may not wait."""
        if not may_wait():
            return False
        now = time.monotonic()
        if tries == 0:
            self._began = now
        waited = now - self._began
        if waited >= self.seconds:
            return False
        if self._notice is not None and waited >= NOTICE_SECONDS:
            notice, self._notice = self._notice, None
            notice(holder(self._path))
        time.sleep(PAUSE_SECONDS)
        return True


def holder(path: Path) -> str:
    """Name the process that has a database file locked, such as `pid 123, muisti serve`, if the system shows it."""
    with suppress(OSError):
        for pid in _pids(path):
            return f"pid {pid}{_command(pid)}"
    return "another process"


def _pids(path: Path) -> Iterator[int]:
    """Yield other processes that have a lock on the file, or the write lock on its shared index."""
    index = Path(f"{path}-shm")
    shared = index.stat().st_ino if index.exists() else None
    whole = path.stat().st_ino
    for line in _LOCKS.read_text("ascii").splitlines():
        fields = line.split()
        if len(fields) != 8 or fields[3] != "WRITE" or int(fields[4]) in (0, os.getpid()):
            continue
        inode, first, last = int(fields[5].rpartition(":")[2]), int(fields[6]), fields[7]
        if inode == whole or (inode == shared and first <= WRITE_LOCK and (last == "EOF" or int(last) >= WRITE_LOCK)):
            yield int(fields[4])


def _command(pid: int) -> str:
    """Shorten a command line to program and command; empty when another user's process hides it."""
    with suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
        names = [Path(word).name for word in words if word]
        first = 1 if len(names) > 1 and names[0].startswith("python") else 0
        words = [name for name in names[first:] if not name.startswith("-")][:2]
        return f", {' '.join(words or names[:1])}" if names else ""
    return ""
