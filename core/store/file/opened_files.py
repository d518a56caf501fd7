"""Checks that the files which SQLite opened are still those that their path names, with what SQLite wrote.

SQLite goes on with a file that somebody deleted, moved, replaced or wrote over. It reports success, and nobody finds
the commit again. Four kinds of evidence show it; only the last reads pages, and only after a checkpoint:

- the device and inode of the database, its log and its shared index;
- the time and size of the database file, which only a checkpoint changes (checkpoints count in the log);
- the head of the log and of the frame that the last commit ended with, which have a salt in common;
- the pages that a checkpoint moved last, which the log and the database file have in common.
"""

import os
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, NoReturn

import apsw

from muisti.core.model.errors import StoreReplaced
from muisti.core.store.file.log_file import LogFile, follows, log_bytes, salt_of
from muisti.core.store.file.opening import APPLICATION_ID
from muisti.core.store.file.pages import HEADER_BYTES, PAGE_BYTES

LOG, INDEX = "-wal", "-shm"
GRACE_SECONDS = 5.0  # from the first page of another process's checkpoint until it counts its frames
GLANCE_SECONDS = 0.01  # between two checks for reads
LASTING_SECONDS = 60.0  # a change that is not accounted for by then is none of a checkpoint
LOOKS = 0.005  # seconds between two looks, while the writer waits for that word
ADVICE = "stop Muisti, put the file back or restore a backup, and start again"

_Inode = tuple[int, int]
_Head = bytes


class _Seen(NamedTuple):
    """The database file and its log as they were after the last change that is accounted for.

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
        """Whether all of the log was in the file: the next commit may begin the log again."""
        return self.checkpoints[0] == self.frames


class OpenedFiles:
    """The files of one database. Thread-safe; each thread passes a connection that is in no transaction."""

    def __init__(self, path: Path, connection: apsw.Connection) -> None:
        """Note the files that a connection has just opened."""
        self._path = str(path)
        self._log_name, self._index = self._path + LOG, self._path + INDEX
        self._noting = threading.RLock()
        self._refusal: str | None = None
        self._doubt_since: float | None = None
        _open_log(connection)
        self._log = LogFile(Path(self._log_name))
        self._inodes = tuple(number for name in self._names for number in _inode(os.stat(name)))
        self._sound_at = 0.0
        self._sealed = False
        self._seen = self._look(connection)

    @property
    def _names(self) -> tuple[str, str, str]:
        return self._path, self._log_name, self._index

    def check(self, connection: apsw.Connection, *, frames: int = 0, wait: bool = False, patient: bool = True) -> None:
        """Raise `StoreReplaced` unless the files are ours, and end with a commit that made the log `frames` long.

        A change of the database file may be the checkpoint of another process, which counts its frames when it ends.
        For `GRACE_SECONDS` such a change is accepted if `patient`. `wait`: until the change is accounted for.
        """
        if self._refusal is not None:
            raise StoreReplaced(self._refusal)
        counted, moved = connection.wal_checkpoint(mode=_COUNT)  # first: what is counted later has changed the file
        head = self._log.head() if frames else b""
        found = self._found()
        if found is None:
            self._missing()
        inodes, changed, size, log_size = found
        if inodes != self._inodes:
            self._replaced(inodes)
        short = counted > 0 and log_size < log_bytes(counted)
        if short or (frames and not self._log.ends_with(frames, head)):
            self._check_log(connection, counted if short else frames)
        seen = self._seen
        if changed != seen.time or size != seen.size:
            self._account(connection, wait=wait, patient=patient)
        elif frames and (seen.emptied or seen.checkpoints != (moved, salt_of(head))):  # the log has grown since
            with self._noting:
                if self._seen is seen:
                    self._seen = seen._replace(checkpoints=(moved, salt_of(head)), frames=counted)
        if frames:
            self._sealed = False
        self._sound_at = time.monotonic() if self._doubt_since is None else 0.0

    def glance(self, connection: apsw.Connection, *, patient: bool = True) -> None:
        """Check, for a read: not when that was done a moment ago, if `patient`."""
        if self._refusal is not None or not patient or time.monotonic() - self._sound_at > GLANCE_SECONDS:
            self.check(connection, patient=patient)

    def seal(self) -> bool:
        """Note, in a transaction that writes, that the file is as it was seen last. Returns whether it is.

        A commit begins the log again when all of it was moved. Nothing can be moved before that commit ends, and
        nobody else can commit, so a change of the file until then is no checkpoint. Other commits need no seal.
        """
        seen, self._sealed = self._seen, False
        if not seen.emptied:
            return True
        found = self._found()
        same = found is not None and found[:3] == (self._inodes, seen.time, seen.size)
        self._sealed = same and seen.frames > 0  # no salt of an empty log is known, which could be compared
        return same

    def note(self, connection: apsw.Connection) -> None:
        """Take the database file as it is now: a checkpoint of ours has changed it, unless it lacks those pages."""
        with self._noting, suppress(OSError, apsw.Error):
            seen = self._look(connection)
            if self._has_moved_pages(seen):
                self._seen, self._doubt_since = seen, None

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
            if not self.ours and _inode(os.stat(self._log_name)) == self._inodes[2:4] and self._is_another_database():
                os.rename(self._log_name, f"{self._path}.left-{time.time_ns() // 1_000_000_000}{LOG}")
                if _inode(os.stat(self._index)) == self._inodes[4:]:
                    os.unlink(self._index)
        self._log.close()

    def _look(self, connection: apsw.Connection) -> _Seen:
        """Count checkpoints first: one that ends meanwhile then counts as later than its change."""
        frames, moved = connection.wal_checkpoint(mode=_COUNT)
        if frames < 0:
            _open_log(connection)
            frames, moved = connection.wal_checkpoint(mode=_COUNT)
        salt, head = self._log.salt(), self._pages([(0, HEADER_BYTES)])[0]
        found = os.stat(self._path)
        return _Seen(found.st_mtime_ns, found.st_size, head, (moved, salt), frames)

    def _pages(self, spans: Sequence[tuple[int, int]]) -> list[bytes]:
        """Read the database file at offsets, each with a length; what lies behind its end is empty.

        SQLite's own layer reads: whoever else closes the file lets go of the locks that SQLite has on it.
        """
        file = apsw.VFSFile("", self._path, [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
        try:
            return [_read(file, offset, length) for offset, length in spans]
        finally:
            file.xClose()

    def _has_moved_pages(self, seen: _Seen) -> bool:
        """Whether the file has the last pages that checkpoints moved out of the log."""
        moved, salt = seen.checkpoints
        if moved <= 0:
            return True
        pages = self._log.moved_pages(moved, seen.frames, salt)
        if pages is None:
            return False
        spans = [((number - 1) * PAGE_BYTES, PAGE_BYTES) for number in pages]
        return self._pages(spans) == list(pages.values())

    def _found(self) -> tuple[tuple[int, ...], int, int, int] | None:
        """The inodes of the files, time and size of the database, and size of the log; None when one is missing."""
        try:
            one, log, index = (os.stat(name) for name in self._names)
        except OSError:
            return None
        inodes = (one.st_dev, one.st_ino, log.st_dev, log.st_ino, index.st_dev, index.st_ino)
        return inodes, one.st_mtime_ns, one.st_size, log.st_size

    def _account(self, connection: apsw.Connection, *, wait: bool, patient: bool) -> None:
        """Find the checkpoint of another process that changed the database file.

        It writes pages first and counts them afterwards. Only a change that it does not count in time is none of its.
        """
        began = time.monotonic()
        while True:
            with self._noting:
                seen = self._look(connection)
                if self._is_accounted(seen):
                    self._seen, self._doubt_since = seen, None
                    return
                since = self._doubt_since = self._doubt_since or began
                idle = self._seen.emptied and seen[3:] == self._seen[3:]  # there was nothing to move
            passed = time.monotonic() - since
            hopeless = self._is_hopeless(seen)
            if not patient or passed >= GRACE_SECONDS or hopeless or idle:
                lasting = passed >= LASTING_SECONDS or hopeless
                self._refuse(f"{Path(self._path).name} was written over while it was open", lasting=lasting)
            if not wait:
                return
            time.sleep(LOOKS)

    def _check_log(self, connection: apsw.Connection, frames: int) -> None:
        """Refuse a log that lacks frames which it still counts; else another process began it again."""
        if connection.wal_checkpoint(mode=_COUNT)[0] >= frames:
            self._refuse(f"{Path(self._log_name).name} was written over while it was open")

    def _is_accounted(self, seen: _Seen) -> bool:
        """Whether somebody touched the file without changing it, or a checkpoint did which is counted."""
        before = self._seen
        if seen[1:3] != before[1:3]:
            moved, salt = seen.checkpoints
            begun = self._sealed and follows(salt, before.checkpoints[1])  # by our own commit
            if moved == 0 if begun else seen.checkpoints == before.checkpoints:
                return False
        return self._has_moved_pages(seen)

    def _is_hopeless(self, seen: _Seen) -> bool:
        """Whether the file is none of Muisti's any more: no checkpoint leaves it so."""
        before, now = self._seen.head, seen.head
        program = int.from_bytes(now[68:72], "big")
        stranger = program != APPLICATION_ID and now[68:72] != before[68:72]
        return seen.size < PAGE_BYTES or now[:24] != before[:24] or stranger

    def _is_another_database(self) -> bool:
        """Whether the file that has our path now is a whole database."""
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
        """`lasting`: the file cannot come back as it was."""
        self._sound_at = 0.0
        told = f"{what}; what is written now may be lost: {ADVICE}"
        if lasting:
            self._refusal = told
        raise StoreReplaced(told)


_COUNT = getattr(apsw, "SQLITE_CHECKPOINT_NOOP", -1)  # counts frames, moves none


def _inode(found: os.stat_result) -> _Inode:
    return found.st_dev, found.st_ino


def _open_log(connection: apsw.Connection) -> None:
    """Let a connection open the log, and make it where there is none; before that it counts no frames."""
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()


def _read(file: apsw.VFSFile, offset: int, length: int) -> bytes:
    try:
        return file.xRead(length, offset)
    except apsw.IOError:  # the file is shorter
        return b""
