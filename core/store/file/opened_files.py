"""Whether the files that SQLite opened are still the ones that their path names, with what SQLite wrote.

SQLite goes on with a file that somebody deleted, moved, replaced or wrote over: it reports success, and nobody finds
the commit again. Three kinds of evidence show it, each without reading pages:

- the device and inode of the database, its log and its shared index;
- the time and size of the database file, which only a checkpoint changes (checkpoints count in the log);
- the head of the log and of the frame that the last commit ended with, which have a salt in common.
"""

import os
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, NoReturn

import apsw

from muisti.core.model.errors import StoreReplaced
from muisti.core.store.file.opening import APPLICATION_ID
from muisti.core.store.file.pages import HEADER_BYTES, LOG_HEADER_BYTES, LOG_MAGIC, PAGE_BYTES

LOG, INDEX = "-wal", "-shm"
FRAME_HEADER_BYTES = 24
FRAME_BYTES = FRAME_HEADER_BYTES + PAGE_BYTES
GRACE_SECONDS = 5.0  # from the first page of another process's checkpoint until it counts its frames
GLANCE_SECONDS = 0.01  # between two checks for reads
LASTING_SECONDS = 60.0  # a change that is not accounted for by then is none of a checkpoint
LOOKS = 0.005  # seconds between two looks, while the writer waits for that word
ADVICE = "stop Muisti, put the file back or restore a backup, and start again"

_Inode = tuple[int, int]
_Head = bytes


class _Seen(NamedTuple):
    """The database file as it was after the last change that is accounted for."""

    time: int
    size: int
    head: _Head
    checkpoints: tuple[int, bytes]


class OpenedFiles:
    """The files of one database. Thread-safe; each thread passes a connection that is in no transaction."""

    def __init__(self, path: Path, connection: apsw.Connection) -> None:
        """Note the files that a connection has just opened."""
        self._path = str(path)
        self._log, self._index = self._path + LOG, self._path + INDEX
        self._noting = threading.RLock()
        self._refusal: str | None = None
        self._doubt_since: float | None = None
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # opens the log where there was none
        self._log_file = os.open(self._log, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        self._inodes = tuple(number for name in self._names for number in _inode(os.stat(name)))
        self._sound_at = 0.0
        self._seen = self._look(connection)

    @property
    def _names(self) -> tuple[str, str, str]:
        return self._path, self._log, self._index

    def check(self, connection: apsw.Connection, *, frames: int = 0, wait: bool = False) -> None:
        """Raise `StoreReplaced` unless the files are ours, and end with a commit that made the log `frames` long.

        `wait`: until a change of the database file is accounted for; else a recent one is no reason to refuse.
        """
        if self._refusal is not None:
            raise StoreReplaced(self._refusal)
        counted, moved = connection.wal_checkpoint(mode=_COUNT)  # first: what is counted later has changed the file
        head = self._read_log(0, LOG_HEADER_BYTES) if frames else b""
        found = self._found()
        if found is None:
            self._missing()
        inodes, changed, size, log_size = found
        if inodes != self._inodes:
            self._replaced(inodes)
        short = counted > 0 and log_size < LOG_HEADER_BYTES + counted * FRAME_BYTES
        if short or (frames and not self._ends_with(frames, head)):
            least = counted if short else frames
            if connection.wal_checkpoint(mode=_COUNT)[0] >= least:  # else another process began it again
                self._refuse(f"{Path(self._log).name} was written over while it was open")
        seen = self._seen
        if changed != seen.time or size != seen.size:
            self._account(connection, wait=wait)
        elif frames and seen.checkpoints != (moved, head[16:24]):  # the log has begun again since
            with self._noting:
                if self._seen is seen:
                    self._seen = seen._replace(checkpoints=(moved, head[16:24]))
        self._sound_at = time.monotonic()

    def glance(self, connection: apsw.Connection) -> None:
        """Check, for a read: not when that was done a moment ago."""
        if self._refusal is not None or time.monotonic() - self._sound_at > GLANCE_SECONDS:
            self._sound_at = 0.0
            self.check(connection)

    def note(self, connection: apsw.Connection) -> None:
        """Take the database file as it is now: a checkpoint of ours has changed it."""
        with self._noting, suppress(OSError, apsw.Error):
            self._seen, self._doubt_since = self._look(connection), None

    @property
    def ours(self) -> bool:
        """Whether nothing is known that speaks against closing the files as usual."""
        found = self._found()
        settled = self._refusal is None and self._doubt_since is None
        return settled and found is not None and found[0] == self._inodes

    def close(self) -> None:
        """Close the log; call it after the connections are closed.

        When another whole database has our name, our log gets another one: SQLite would add it to that database.
        """
        with suppress(OSError):
            if not self.ours and _inode(os.stat(self._log)) == self._inodes[2:4] and self._is_another_database():
                os.rename(self._log, f"{self._path}.left-{time.time_ns() // 1_000_000_000}{LOG}")
                if _inode(os.stat(self._index)) == self._inodes[4:]:
                    os.unlink(self._index)
        os.close(self._log_file)

    def _look(self, connection: apsw.Connection) -> _Seen:
        """Read the count of checkpoints first: one that ends meanwhile then counts as later than its change."""
        checkpoints, head = self._checkpoints(connection), self._head()
        found = os.stat(self._path)
        return _Seen(found.st_mtime_ns, found.st_size, head, checkpoints)

    def _checkpoints(self, connection: apsw.Connection) -> tuple[int, bytes]:
        """Frames that were moved into the file, and the salt of the log they are of: every checkpoint changes one."""
        _, moved = connection.wal_checkpoint(mode=_COUNT)
        return moved, self._read_log(16, 8)

    def _head(self) -> _Head:
        """Read through SQLite's own layer: whoever else closes the file lets go of the locks that SQLite has on it."""
        file = apsw.VFSFile("", self._path, [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
        try:
            return file.xRead(HEADER_BYTES, 0)
        except apsw.IOError:  # it is shorter
            return b""
        finally:
            file.xClose()

    def _found(self) -> tuple[tuple[int, ...], int, int, int] | None:
        """The inodes of the files, time and size of the database, and size of the log; None when one is missing."""
        try:
            one, log, index = os.stat(self._path), os.stat(self._log), os.stat(self._index)
        except OSError:
            return None
        inodes = (one.st_dev, one.st_ino, log.st_dev, log.st_ino, index.st_dev, index.st_ino)
        return inodes, one.st_mtime_ns, one.st_size, log.st_size

    def _ends_with(self, frames: int, head: bytes) -> bool:
        """Whether the log has a head, and the frame that a commit ended with has its salt."""
        frame = self._read_log(LOG_HEADER_BYTES + (frames - 1) * FRAME_BYTES, FRAME_HEADER_BYTES)
        sound = int.from_bytes(head[:4], "big") in LOG_MAGIC
        return sound and len(frame) == FRAME_HEADER_BYTES and frame[8:16] == head[16:24]

    def _read_log(self, offset: int, length: int) -> bytes:
        if hasattr(os, "pread"):
            return os.pread(self._log_file, length, offset)
        with self._noting:
            return _sought(self._log_file, offset, length)

    def _account(self, connection: apsw.Connection, *, wait: bool) -> None:
        """Find the checkpoint of another process that changed the database file.

        It writes pages first and counts them afterwards. Only a change that it does not count in time is none of its.
        """
        began = time.monotonic()
        while True:
            with self._noting:
                seen = self._look(connection)
                if seen.checkpoints != self._seen.checkpoints or seen[1:3] == self._seen[1:3]:
                    self._seen, self._doubt_since = seen, None
                    return
                since = self._doubt_since = self._doubt_since or began
            passed = time.monotonic() - since
            if passed >= GRACE_SECONDS or self._is_hopeless(seen):
                lasting = passed >= LASTING_SECONDS or self._is_hopeless(seen)
                self._refuse(f"{Path(self._path).name} was written over while it was open", lasting=lasting)
            if not wait:
                return
            time.sleep(LOOKS)

    def _is_hopeless(self, seen: _Seen) -> bool:
        """Whether the file is none of Muisti's any more: no checkpoint leaves it so."""
        before, now = self._seen.head, seen.head
        program = int.from_bytes(now[68:72], "big")
        stranger = program != APPLICATION_ID and now[68:72] != before[68:72]
        return seen.size < PAGE_BYTES or now[:24] != before[:24] or stranger

    def _is_another_database(self) -> bool:
        """Whether the file that has our path now is a whole database."""
        head, size = self._head(), os.stat(self._path).st_size
        same = head[:18] == self._seen.head[:18] and int.from_bytes(head[68:72], "big") == APPLICATION_ID
        return same and int.from_bytes(head[28:32], "big") * PAGE_BYTES == size

    def _replaced(self, inodes: tuple[int, ...]) -> NoReturn:
        place = next(place for place in range(6) if inodes[place] != self._inodes[place])
        self._refuse(f"{Path(self._names[place // 2]).name} was replaced while it was open", lasting=False)

    def _missing(self) -> NoReturn:
        name = next((name for name in self._names if not os.path.exists(name)), self._path)
        self._refuse(f"{Path(name).name} was deleted or moved while it was open", lasting=False)

    def _refuse(self, what: str, *, lasting: bool = True) -> NoReturn:
        """`lasting`: the file cannot come back as it was."""
        told = f"{what}; what is written now may be lost: {ADVICE}"
        if lasting:
            self._refusal = told
        raise StoreReplaced(told)


_COUNT = getattr(apsw, "SQLITE_CHECKPOINT_NOOP", -1)  # counts frames, moves none


def _inode(found: os.stat_result) -> _Inode:
    return found.st_dev, found.st_ino


def _sought(file: int, offset: int, length: int) -> bytes:
    """Return bytes of an open file where the system has no `pread`; nobody else may use the file meanwhile."""
    os.lseek(file, offset, os.SEEK_SET)
    return os.read(file, length)
