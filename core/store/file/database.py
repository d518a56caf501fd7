"""A database in one SQLite file, through apsw, which brings a recent SQLite.

One thread commits the writes of all others, with `synchronous=FULL` (`core.store.file.writer`). Readers are pooled.
"""

import os
import queue
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn, cast

import apsw

from muisti.core.model.errors import Busy, StoreReadOnly, StoreReplaced, StoreUnavailable
from muisti.core.store.database import Database, Ended, Rows, Scrubbed, Statement
from muisti.core.store.file import opening
from muisti.core.store.file.opened_files import OpenedFiles
from muisti.core.store.file.opening import CLEAN
from muisti.core.store.file.opening import Synchronous as Synchronous
from muisti.core.store.file.sqlite_errors import Health, LockWait, Notice, translated
from muisti.core.store.file.writer import CHECKPOINT_PAGES, Waiting, Writer, run
from muisti.core.store.free_space import Traces, look
from muisti.core.support.meters import StoreMeters
from muisti.core.support.waiting import refuse_long

READER_SECONDS = 10.0  # for which a thread waits for a reader


class FileDatabase:
    """A `Database` on one file. Several processes may open the same file."""

    local = True

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        readers: int = 8,
        reader_seconds: float = READER_SECONDS,
        synchronous: Synchronous = "FULL",
        vfs: str | None = None,
        checkpoint_pages: int = CHECKPOINT_PAGES,
        may_only_read: bool = False,
        notice: Notice | None = None,
    ) -> None:
        """Open the file; create it when it is missing.

        A read waits `reader_seconds` for one of the `readers`. With `may_only_read`, a file that cannot be written is
        opened and refuses writes. `notice` gets the name of the process that has the file locked, once a write has
        waited for a second.

        The others serve tests. Below FULL, `synchronous` loses acknowledged writes in a power cut. `vfs` names another
        file layer. A log of `checkpoint_pages` is checkpointed.

        Raises:
            StoreReadOnly: the file can only be read.
            StoreUnavailable: the file cannot be opened, or the installed SQLite may corrupt it.
            StoreCorrupt: the file is no Muisti database.
            Conflict: the file is from before the first release.
        """
        self._path = Path(path).absolute()
        self._vfs = vfs
        opening.refuse_unsafe_sqlite()
        self._files: OpenedFiles | None = None
        self._health = Health(self._path)
        self._only_reads = False
        waiting = LockWait(self._path, notice)
        try:
            with translated(self._path):
                connection = opening.writing(self._path, vfs, synchronous, waiting)
                if vfs is None:
                    self._files = OpenedFiles(self._path, connection)
            self._writer = Writer(connection, checkpoint_pages, self._files, self._health, waiting)
        except StoreReadOnly as refusal:
            if not may_only_read:
                raise
            self._only_reads = True
            with translated():
                opening.only_reading(self._path).close()
            self._writer = _NoWriter(refusal)
        self._pool: queue.LifoQueue[apsw.Connection | None] = queue.LifoQueue()
        for _ in range(readers):
            self._pool.put(None)  # opened on first use
        self._readers, self._reader_seconds = readers, reader_seconds

    @property
    def engine(self) -> str:
        return f"SQLite {apsw.sqlite_lib_version()}"

    @property
    def indexes(self) -> Path | None:
        return None if self._only_reads else Path(f"{self._path}-index")

    @property
    def meters(self) -> StoreMeters:
        return self._writer.meters

    @property
    def primary(self) -> Database:
        return self

    def check(self) -> None:
        with self._reader() as connection, translated():
            self._health.check()
            if self._files is not None:
                self._files.check(connection)

    def read(self, statements: Sequence[Statement]) -> list[Rows]:
        connection = self._free() or self._opened()
        try:
            if self._files is not None:
                self._files.glance(connection, patient=not self._health.damaged)
            try:
                return [run(connection, statements[0])] if len(statements) == 1 else _answered(connection, statements)
            except apsw.SQLError as error:
                self._health.doubt(connection, error)
                raise
        except BaseException as error:
            self._health.meet(error)
            raise
        finally:
            self._pool.put(connection)

    def write(self, statements: Sequence[Statement]) -> list[Rows]:
        waiting = Waiting()
        self._writer.put(statements, waiting)
        return waiting.result()

    def rehearse(self, statements: Sequence[Statement]) -> list[Rows]:
        waiting = Waiting()
        self._writer.put(statements, waiting, kept=False)
        return waiting.result()

    def queue(self, statements: Sequence[Statement], ended: Ended) -> bool:
        self._writer.put(statements, ended)
        return True

    def expect(self, writes: int) -> None:
        self._writer.expect(writes)

    def hurry(self) -> None:
        self._writer.hurry()

    def scrub(self, traces: Traces) -> Scrubbed:
        """Empty the log and search free space; rewrite the whole file where traces are found."""
        unchecked: dict[str, str] = {}
        found: dict[str, int] = {}
        try:
            self._writer.empty_log()
            if traces.all or not self._is_clean() or self._look(traces):
                self._writer.rewrite()
            found["free space of the file"] = 0
        except StoreUnavailable as error:
            unchecked["free space of the file"] = f"not rewritten, so repeat this: {error}"
        log = Path(f"{self._path}-wal")
        found["write-ahead log, in bytes"] = log.stat().st_size if log.exists() else 0
        return Scrubbed(found, unchecked)

    def close(self) -> None:
        if not self._writer.close():
            return
        connections = [self._pool.get() for _ in range(self._readers)]
        connections.append(self._writer.connection)
        opened = [connection for connection in connections if connection is not None]
        if self._files is not None and not self._files.ours:
            for connection in opened:  # else the last one to close would checkpoint our log into another's file
                opening.leave_log(connection)
        for connection in opened:
            connection.close()  # the last one to close empties the log
        if self._files is not None:
            self._files.close()

    @contextmanager
    def _reader(self) -> Generator[apsw.Connection]:
        connection = self._free() or self._opened()
        try:
            yield connection
        finally:
            self._pool.put(connection)

    def _free(self) -> apsw.Connection | None:
        """Take a reader out of the pool; None is one that is not open yet.

        Raises:
            WouldWait: no reader is free, and this thread may not wait for one.
            Busy: no reader became free in time.
        """
        try:
            return self._pool.get_nowait()
        except queue.Empty:
            refuse_long()
        try:
            return self._pool.get(timeout=self._reader_seconds)
        except queue.Empty:
            raise Busy(
                f"all {self._readers} readers of the database were in use for {self._reader_seconds:g} s; try again"
            ) from None

    def _opened(self) -> apsw.Connection:
        """Open a reader that `_free` has found closed. Its place stays free when that fails."""
        try:
            refuse_long()
            return self._open_reader()
        except BaseException:  # whatever ends the opening, its place is free again; the error goes on
            self._pool.put(None)
            raise

    def _open_reader(self) -> apsw.Connection:
        with translated():
            if self._only_reads:
                return opening.only_reading(self._path)
            connection = opening.reading(self._path, self._vfs)
            try:
                if self._files is not None:  # the path may name another database by now
                    self._files.check(connection)
            except StoreReplaced:
                opening.leave_log(connection)
                connection.close()
                raise
            return connection

    def _is_clean(self) -> bool:
        with self._reader() as connection, translated():
            return cast(int, connection.pragma("user_version")) == CLEAN

    def _look(self, traces: Traces) -> int:
        """Count traces of erased texts in free space.

        SQLite's own layer reads. Closing the file outside of it would release the locks that SQLite has on it.
        """
        flags = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY
        with translated():
            file = apsw.VFSFile(self._vfs or "", str(self._path), [flags, 0])
            try:
                return look(file, traces)
            finally:
                file.xClose()


def _answered(connection: apsw.Connection, statements: Sequence[Statement]) -> list[Rows]:
    """Return the rows of several statements, all of one moment."""
    connection.execute("BEGIN")
    found: list[Rows] = []
    try:
        for statement in statements:
            found.append(run(connection, statement))
        return found
    finally:
        if connection.in_transaction:  # a failed read may have ended the transaction
            connection.execute("COMMIT")


class _NoWriter:
    """Takes the place of the writer of a read-only file: refuses every write with the reason."""

    def __init__(self, refusal: StoreReadOnly) -> None:
        self._refusal = str(refusal)
        self._closed = False
        self.connection = None
        self.meters = StoreMeters(waiting=lambda: 0)

    def put(self, statements: Sequence[Statement], ended: Ended, *, kept: bool = True) -> NoReturn:
        """Raise `StoreReadOnly`."""
        del statements, ended, kept
        raise StoreReadOnly(self._refusal)

    def empty_log(self) -> NoReturn:
        """Raise `StoreReadOnly`."""
        raise StoreReadOnly(self._refusal)

    def rewrite(self) -> NoReturn:
        """Raise `StoreReadOnly`."""
        raise StoreReadOnly(self._refusal)

    def expect(self, writes: int) -> None:
        """Do nothing."""

    def hurry(self) -> None:
        """Do nothing."""

    def close(self) -> bool:
        """Return whether this is the first call."""
        closed, self._closed = self._closed, True
        return not closed
