"""Checks that the files which SQLite opened are still those at their path, with the pages that SQLite wrote.

SQLite does not notice when its file is deleted, moved, replaced or overwritten. It reports success, and the commit is
lost. Four kinds of evidence show it; only the last reads pages, and only after a checkpoint:

- the device and inode of the database, its log and its shared index;
- the time and size of the database file, which only a checkpoint changes (the log counts checkpoints);
- the header of the log and of the frame that ended the last commit, which have a salt in common;
- the pages that a checkpoint moved last, which are the same in the log and the database file.
"""

import os
import struct
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, NoReturn

import apsw

from muisti.core.model.errors import StoreReplaced
from muisti.core.store.file.opening import APPLICATION_ID
from muisti.core.store.file.pages import HEADER_BYTES, LOG_HEADER_BYTES, LOG_MAGIC, PAGE_BYTES

# Reads a write-ahead log beside SQLite: its head, its frames, and the pages that a checkpoint moved last.
#
# The format is described in https://www.sqlite.org/fileformat2.html#walformat.

FRAME_HEADER_BYTES = 24
FRAME_BYTES = FRAME_HEADER_BYTES + PAGE_BYTES
SAMPLED_PAGES = 8
_HAS_PREAD = hasattr(os, "pread")
_SALT = slice(16, 24)  # of the header of a log


class _Frame(NamedTuple):
    """The page in a frame, and the size of the database in pages after it; 0 unless the frame ends a commit."""

    page: int
    size: int


class LogFile:
    """An open log. Thread-safe. SQLite's locks are on other files, so opening and closing this one releases none."""

    def __init__(self, path: Path) -> None:
        """Raises `OSError` when there is no such file."""
        self._path = path
        self._file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))

    def close(self) -> None:
        os.close(self._file)

    def salt(self) -> bytes:
        """Read eight bytes that change whenever the log restarts; of an empty log, the time when it was emptied."""
        head = self.read(0, LOG_HEADER_BYTES)
        return salt_of(head) if len(head) == LOG_HEADER_BYTES else os.fstat(self._file).st_mtime_ns.to_bytes(8)

    def ends_with(self, frames: int, head: bytes) -> bool:
        """Check that the header is valid, and that the frame which ended a commit belongs to the log."""
        frame = self.read(LOG_HEADER_BYTES + (frames - 1) * FRAME_BYTES, FRAME_HEADER_BYTES)
        sound = int.from_bytes(head[:4]) in LOG_MAGIC
        return sound and len(frame) == FRAME_HEADER_BYTES and frame[8:16] == head[_SALT]

    def moved_pages(self, moved: int, frames: int, salt: bytes) -> dict[int, bytes] | None:
        """Read the last pages among the first `moved` of the `frames` of a log.

        These pages are in the database, by number from 1, because no later frame changes them. None: the log
        has restarted, or is cut short.
        """
        last, end = self._frame(moved, salt), self._frame(frames, salt)
        if last is None or end is None:
            return None
        size = min(last.size, end.size)  # the file may have been cut since
        later = {self._frame(place, salt) for place in range(moved + 1, frames + 1)}
        seen = {frame.page for frame in later if frame is not None}
        pages: dict[int, bytes] = {}
        for place in range(moved, 0, -1):
            frame = self._frame(place, salt)
            if frame is None or len(pages) == SAMPLED_PAGES:
                break
            if frame.page not in seen and frame.page <= size:
                pages[frame.page] = self.read(_offset(place) + FRAME_HEADER_BYTES, PAGE_BYTES)
            seen.add(frame.page)
        return pages if self.salt() == salt else None

    def _frame(self, place: int, salt: bytes) -> _Frame | None:
        """Read the header of a frame; None when it belongs to another log."""
        header = self.read(_offset(place), FRAME_HEADER_BYTES)
        return _Frame(*struct.unpack(">II", header[:8])) if header[8:16] == salt else None

    def read(self, offset: int, length: int) -> bytes:
        if _HAS_PREAD:
            return os.pread(self._file, length, offset)
        with self._path.open("rb") as file:  # Windows lets nobody replace a file that is open
            file.seek(offset)
            return file.read(length)


def salt_of(head: bytes) -> bytes:
    return head[_SALT]


def follows(salt: bytes, before: bytes) -> bool:
    """Check that a log restarted once between two salts: SQLite adds one to the first half."""
    return int.from_bytes(salt[:4]) == (int.from_bytes(before[:4]) + 1) % (1 << 32)


def _offset(place: int) -> int:
    """Return where a frame begins; places count from 1."""
    return LOG_HEADER_BYTES + (place - 1) * FRAME_BYTES


LOG, INDEX = "-wal", "-shm"
GRACE_SECONDS = 5.0  # between the first page of another process's checkpoint and its count of frames
GLANCE_SECONDS = 0.05  # between two checks for reads
CHECKPOINT_LOCK = 121  # byte of the shared index that is locked from before the first page until after the count
LOCKS = Path("/proc/locks")  # where Linux lists all locks; asking for one by opening the file would release ours
LASTING_SECONDS = 60.0  # after which an unexplained change is no checkpoint
LOOKS = 0.005  # seconds between two looks, while the writer waits for that count
ADVICE = "stop Muisti, put the file back or restore a backup, and start again"

_Inode = tuple[int, int]
_Head = bytes


class _Seen(NamedTuple):
    """State of the database file and its log after the last explained change.

    `checkpoints` has the number of frames that were moved into the file, and the salt of their log. Every checkpoint
    changes one of the two.
    """

    time: int
    size: int
    head: _Head
    checkpoints: tuple[int, bytes]
    frames: int

    @property
    def emptied(self) -> bool:
        """Tell whether all of the log was in the file: the next commit may restart the log."""
        return self.checkpoints[0] == self.frames


class OpenedFiles:
    """Identity of the files of one database. Thread-safe; each thread passes a connection outside of a transaction."""

    def __init__(self, path: Path, connection: apsw.Connection) -> None:
        """Record the files that a connection has just opened."""
        self._path = str(path)
        self._log_name, self._index = self._path + LOG, self._path + INDEX
        self._names = self._path, self._log_name, self._index
        self._noting = threading.RLock()
        self._refusal: str | None = None
        self._doubt_since: float | None = None
        _open_log(connection)
        self._log = LogFile(Path(self._log_name))
        self._inodes = tuple(number for name in self._names for number in _inode(os.stat(name)))
        self._sound_at = 0.0
        self._sealed = False
        self._seen = self._look(connection)

    def check(self, connection: apsw.Connection, *, frames: int = 0, wait: bool = False, patient: bool = True) -> None:
        """Raise `StoreReplaced` unless the files are still ours, and end with a commit that made the log `frames` long.

        A change of the database file may be the checkpoint of another process, which counts its frames when it ends.
        With `patient`, such a change is accepted for `GRACE_SECONDS`. Where somebody is seen to hold the lock of
        checkpoints, as on a slow disk, it is for longer. With `wait`, return only once it is explained.
        """
        if self._refusal is not None:
            raise StoreReplaced(self._refusal)
        counted, moved = connection.wal_checkpoint(mode=_COUNT)  # first: a later count is of a later file
        head = self._log.read(0, LOG_HEADER_BYTES)  # shorter when the log is empty if frames else b""
        found = self._found()
        if found is None:
            self._missing()
        inodes, changed, size, log_size = found
        if inodes != self._inodes:
            self._replaced(inodes)
        short = counted > 0 and log_size < LOG_HEADER_BYTES + counted * FRAME_BYTES
        if short or (frames and not self._log.ends_with(frames, head)):
            self._check_log(connection, counted if short else frames)
        seen = self._seen
        if changed != seen.time or size != seen.size:
            self._account(connection, wait=wait, patient=patient)
        elif frames and (seen.checkpoints[0] == seen.frames or seen.checkpoints != (moved, head[_SALT])):
            # The log has grown since.
            with self._noting:
                if self._seen is seen:
                    self._seen = seen._replace(checkpoints=(moved, salt_of(head)), frames=counted)
        if frames:
            self._sealed = False
        self._sound_at = time.monotonic() if self._doubt_since is None else 0.0

    def glance(self, connection: apsw.Connection, *, patient: bool = True) -> None:
        """Check for a read, unless a check passed within `GLANCE_SECONDS` and `patient` is set."""
        if self._refusal is not None or not patient or time.monotonic() - self._sound_at > GLANCE_SECONDS:
            self.check(connection, patient=patient)

    def seal(self) -> bool:
        """Record, in a transaction that writes, whether the file is as it was last seen, and return that.

        A commit restarts the log when all of it was moved. Nothing can be moved before that commit ends, and nobody
        else can commit. So a change of the file until then is no checkpoint. Other commits need no seal.
        """
        seen, self._sealed = self._seen, False
        if seen.checkpoints[0] != seen.frames:  # the log is not all in the file, so it does not restart
            return True
        found = self._found()
        same = found is not None and found[:3] == (self._inodes, seen.time, seen.size)
        self._sealed = same and seen.frames > 0  # an empty log has no known salt to compare with
        return same

    def note(self, connection: apsw.Connection) -> None:
        """Accept the database file as it is after our own checkpoint, unless it lacks the moved pages."""
        with self._noting, suppress(OSError, apsw.Error):
            seen = self._look(connection)
            if self._has_moved_pages(seen):
                self._seen, self._doubt_since = seen, None

    @property
    def ours(self) -> bool:
        """Tell whether the files can be closed as usual: no check has failed or is undecided."""
        found = self._found()
        settled = self._refusal is None and self._doubt_since is None
        return settled and found is not None and found[0] == self._inodes

    def close(self) -> None:
        """Close the log file. Close the connections before.

        When another whole database has our path, our log is renamed: SQLite would apply it to that database.
        """
        with suppress(OSError):
            if not self.ours and _inode(os.stat(self._log_name)) == self._inodes[2:4] and self._is_another_database():
                os.rename(self._log_name, f"{self._path}.left-{time.time_ns() // 1_000_000_000}{LOG}")
                if _inode(os.stat(self._index)) == self._inodes[4:]:
                    os.unlink(self._index)
        self._log.close()

    def _look(self, connection: apsw.Connection) -> _Seen:
        """Read the current state. Count checkpoints first, so that one that ends meanwhile counts as later."""
        frames, moved = connection.wal_checkpoint(mode=_COUNT)
        if frames < 0:
            _open_log(connection)
            frames, moved = connection.wal_checkpoint(mode=_COUNT)
        salt, head = self._log.salt(), self._pages([(0, HEADER_BYTES)])[0]
        found = os.stat(self._path)
        return _Seen(found.st_mtime_ns, found.st_size, head, (moved, salt), frames)

    def _pages(self, spans: Sequence[tuple[int, int]]) -> list[bytes]:
        """Read the database file at offsets, each with a length; bytes after its end are missing.

        SQLite's own layer reads. Closing the file outside of it would release the locks that SQLite has on it.
        """
        file = apsw.VFSFile("", self._path, [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
        try:
            return [_read(file, offset, length) for offset, length in spans]
        finally:
            file.xClose()

    def _has_moved_pages(self, seen: _Seen) -> bool:
        """Return whether the file has the last pages that checkpoints moved out of the log."""
        moved, salt = seen.checkpoints
        if moved <= 0:
            return True
        pages = self._log.moved_pages(moved, seen.frames, salt)
        if pages is None:
            return False
        spans = [((number - 1) * PAGE_BYTES, PAGE_BYTES) for number in pages]
        return self._pages(spans) == list(pages.values())

    def _found(self) -> tuple[tuple[int, ...], int, int, int] | None:
        """Return the inodes, time and size of the database, and size of the log; None when a file is missing."""
        try:
            one, log, index = os.stat(self._path), os.stat(self._log_name), os.stat(self._index)
        except OSError:
            return None
        inodes = (one.st_dev, one.st_ino, log.st_dev, log.st_ino, index.st_dev, index.st_ino)
        return inodes, one.st_mtime_ns, one.st_size, log.st_size

    def _account(self, connection: apsw.Connection, *, wait: bool, patient: bool) -> None:
        """Find the checkpoint of another process that changed the database file, or raise `StoreReplaced`.

        A checkpoint writes pages first and counts them afterwards. A change that is not counted in time is no
        checkpoint.
        """
        began = time.monotonic()
        while True:
            runs = self._is_moving()  # before the look: it may end meanwhile
            with self._noting:
                seen = self._look(connection)
                if self._is_accounted(seen):
                    self._seen, self._doubt_since = seen, None
                    return
                since = self._doubt_since = self._doubt_since or began
                idle = self._seen.emptied and seen[3:] == self._seen[3:]  # there was nothing to move
            passed = time.monotonic() - since
            hopeless = self._is_hopeless(seen)
            grace = LASTING_SECONDS if runs or self._is_moving() else GRACE_SECONDS
            if not patient or passed >= grace or hopeless or idle:
                lasting = passed >= LASTING_SECONDS or hopeless
                self._refuse(f"{Path(self._path).name} was written over while it was open", lasting=lasting)
            if not wait:
                return
            time.sleep(LOOKS)

    def _is_moving(self) -> bool:
        """Tell whether somebody holds the lock of checkpoints, where the system lists locks."""
        with suppress(OSError, ValueError):
            for line in LOCKS.read_text("ascii").splitlines():
                *_, kind, _, file, first, last = line.split()
                ours = kind == "WRITE" and file.endswith(f":{self._inodes[5]}") and last != "EOF"
                if ours and int(first) <= CHECKPOINT_LOCK <= int(last):
                    return True
        return False

    def _check_log(self, connection: apsw.Connection, frames: int) -> None:
        """Raise for a log that lacks frames which it still counts; otherwise another process restarted it."""
        if connection.wal_checkpoint(mode=_COUNT)[0] >= frames:
            self._refuse(f"{Path(self._log_name).name} was written over while it was open")

    def _is_accounted(self, seen: _Seen) -> bool:
        """Return whether a counted checkpoint explains the change, or only the file's time has changed."""
        before = self._seen
        if seen[1:3] != before[1:3]:
            moved, salt = seen.checkpoints
            begun = self._sealed and follows(salt, before.checkpoints[1])  # by our own commit
            if moved == 0 if begun else seen.checkpoints == before.checkpoints:
                return False
        return self._has_moved_pages(seen)

    def _is_hopeless(self, seen: _Seen) -> bool:
        """Return whether the file is no longer Muisti's in a way that no checkpoint leaves."""
        before, now = self._seen.head, seen.head
        program = int.from_bytes(now[68:72], "big")
        stranger = program != APPLICATION_ID and now[68:72] != before[68:72]
        return seen.size < PAGE_BYTES or now[:24] != before[:24] or stranger

    def _is_another_database(self) -> bool:
        head, size = self._pages([(0, HEADER_BYTES)])[0], os.stat(self._path).st_size
        same = head[:18] == self._seen.head[:18] and int.from_bytes(head[68:72], "big") == APPLICATION_ID
        return same and int.from_bytes(head[28:32], "big") * PAGE_BYTES == size

    def _replaced(self, inodes: tuple[int, ...]) -> NoReturn:
        place = next(place for place in range(6) if inodes[place] != self._inodes[place])
        self._refuse(f"{Path(self._names[place // 2]).name} was replaced while it was open", lasting=False)

    def _missing(self) -> NoReturn:
        name = next((name for name in self._names if not os.path.exists(name)), self._path)
        self._refuse(f"{Path(name).name} was deleted or moved while it was open", lasting=False)

    def _refuse(self, what: str, *, lasting: bool = True) -> NoReturn:
        """Raise `StoreReplaced`; with `lasting`, also from now on, since the file cannot come back as it was."""
        self._sound_at = 0.0
        message = f"{what}; what is written now may be lost: {ADVICE}"
        if lasting:
            self._refusal = message
        raise StoreReplaced(message)


_COUNT = getattr(apsw, "SQLITE_CHECKPOINT_NOOP", -1)  # counts frames, moves none


def _inode(found: os.stat_result) -> _Inode:
    return found.st_dev, found.st_ino


def _open_log(connection: apsw.Connection) -> None:
    """Let a connection open the log, or create it; before that it counts no frames."""
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()


def _read(file: apsw.VFSFile, offset: int, length: int) -> bytes:
    try:
        return file.xRead(length, offset)
    except apsw.IOError:  # the file is shorter
        return b""
