"""A database in one SQLite file, through apsw, which carries a current SQLite.

One writer thread commits waiting batches in groups with `synchronous=FULL` and does all checkpoints. Readers are
pooled.
"""

import os
import queue
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, cast

import apsw

from core.errors import MuistiError, StoreCorrupt, StoreUnavailable
from core.meters import StoreMeters
from core.store.database import (
    REFUSAL,
    BadStatement,
    Database,
    Ended,
    Outcome,
    Refused,
    Rows,
    Scrubbed,
    Statement,
)
from core.store.free_space import Traces, look
from core.store.sqlite_errors import translated

APPLICATION_ID = 0x4D756973  # "Muis"
BUSY_TIMEOUT_MS = 10_000
BUSY_PAUSE_MS = 10
GROUP_STATEMENTS = 20_000  # a group stops growing here, so that nobody waits long for neighbours
CHECKPOINT_PAGES = 1_000  # 4 MB of log
JOURNAL_LIMIT_BYTES = 64 << 20
LOG_WAIT_MS = 3_000  # that the log may take to be emptied while readers hold it
CLEAN = 1  # user_version of a file in which all that was ever deleted was overwritten
# One statement, one snapshot: another process may be making the database.
IDENTITY = "SELECT application_id, (SELECT count(*) FROM sqlite_master) FROM pragma_application_id"
STOPPED = "nothing can be stored after an internal error; restart Muisti"

Synchronous = Literal["FULL", "NORMAL", "OFF"]


def is_safe_sqlite(version: str) -> bool:
    """Whether this SQLite is free of the WAL-reset corruption (sqlite.org/wal.html#walresetbug).

    >>> [is_safe_sqlite(v) for v in ("3.40.1", "3.44.6", "3.51.2", "3.51.3", "3.52.0", "3.54.1")]
    [False, True, False, True, False, True]
    """
    number = tuple(int(part) for part in version.split("."))
    if number[:2] == (3, 52):
        return number > (3, 52, 0)  # 3.52.0 was withdrawn for other faults
    return (3, 44, 6) <= number < (3, 45) or (3, 50, 7) <= number < (3, 51) or number >= (3, 51, 3)


class _Job:
    """A batch that waits for the writer, whether it is to be kept, and whom to tell how it ended."""

    __slots__ = ("_ended", "kept", "statements")

    def __init__(self, statements: Sequence[Statement], ended: Ended, *, kept: bool = True) -> None:
        self.statements = statements
        self.kept = kept
        self._ended: Ended | None = ended

    def end(self, outcome: Outcome) -> None:
        """Tell the outcome. What came first stays."""
        ended, self._ended = self._ended, None
        if ended is not None:
            ended(outcome)


class _Waiting:
    """Lets a thread wait for an outcome. A lock, which the writer opens, is a tenth of a `Future`."""

    __slots__ = ("_done", "_outcome")

    def __init__(self) -> None:
        self._outcome: Outcome = []
        self._done = threading.Lock()
        self._done.acquire()

    def __call__(self, outcome: Outcome) -> None:
        self._outcome = outcome
        self._done.release()

    def result(self) -> list[Rows]:
        """Wait for the rows of each statement, or raise what it ended with."""
        self._done.acquire()
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome


class _Errand:
    """Work of the writer's thread between two groups, with the connection that writes."""

    __slots__ = ("waiting", "work")

    def __init__(self, work: Callable[[], None]) -> None:
        self.work = work
        self.waiting = _Waiting()


class FileDatabase:
    """A `Database` on one file. Several processes may open the same file."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        readers: int = 8,
        synchronous: Synchronous = "FULL",
        vfs: str | None = None,
        checkpoint_pages: int = CHECKPOINT_PAGES,
    ) -> None:
        """Open the file, making it when it is missing.

        Below FULL, `synchronous` loses acknowledged writes in a power cut; `vfs` names another file layer; a log of
        `checkpoint_pages` moves into the file. These serve tests.

        Raises:
            StoreUnavailable: the file cannot be opened, or the SQLite at hand may corrupt it.
            StoreCorrupt: the file is no Muisti database.
        """
        self._path = Path(path).absolute()
        self._vfs = vfs
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._errands: queue.SimpleQueue[_Errand] = queue.SimpleQueue()
        self._meters = StoreMeters(waiting=self._jobs.qsize)
        self._checkpoint_pages = checkpoint_pages
        self._log_pages = 0
        self._closed = False
        self._stopped = False
        self._closing = threading.Lock()
        if not is_safe_sqlite(apsw.sqlite_lib_version()):
            raise StoreUnavailable(
                f"SQLite {apsw.sqlite_lib_version()} may corrupt write-ahead logs; install a newer apsw"
            )
        with translated():
            self._writer = self._open_writer(synchronous)
        self._pool: queue.LifoQueue[apsw.Connection | None] = queue.LifoQueue()
        for _ in range(readers):
            self._pool.put(None)  # opened on first use
        self._readers = readers
        self._thread = threading.Thread(target=self._write_groups, name="muisti-writer", daemon=True)
        self._thread.start()

    @property
    def engine(self) -> str:
        return f"SQLite {apsw.sqlite_lib_version()}"

    @property
    def local(self) -> bool:
        return True

    @property
    def meters(self) -> StoreMeters:
        return self._meters

    @property
    def primary(self) -> Database:
        return self

    def read(self, statements: Sequence[Statement]) -> list[Rows]:
        with self._reader() as connection, translated():
            if len(statements) == 1:
                return [_run(connection, statements[0])]
            connection.execute("BEGIN")
            try:
                return [_run(connection, statement) for statement in statements]
            finally:
                if connection.in_transaction:  # a failed read may have ended it
                    connection.execute("COMMIT")

    def write(self, statements: Sequence[Statement]) -> list[Rows]:
        waiting = _Waiting()
        self.queue(statements, waiting)
        return waiting.result()

    def rehearse(self, statements: Sequence[Statement]) -> list[Rows]:
        waiting = _Waiting()
        self._put(_Job(tuple(statements), waiting, kept=False))
        return waiting.result()

    def queue(self, statements: Sequence[Statement], ended: Ended) -> bool:
        self._put(_Job(tuple(statements), ended))
        return True

    def _put(self, job: _Job) -> None:
        with self._closing:
            if self._closed:
                raise StoreUnavailable("the database is closed")
            if self._stopped:
                raise StoreUnavailable(STOPPED)
            self._jobs.put(job)

    def scrub(self, traces: Traces) -> Scrubbed:
        """Empty the log, and look through free space; rewrite the whole file where something is found there."""
        unchecked: dict[str, str] = {}
        found: dict[str, int] = {}
        try:
            self._run_errand(self._empty_log)
            if traces.all or not self._is_clean() or self._look(traces):
                self._run_errand(self._rewrite)  # with what is in use, and nothing else
            found["free space of the file"] = 0
        except StoreUnavailable as error:
            unchecked["free space of the file"] = f"not rewritten, so repeat this: {error}"
        log = Path(f"{self._path}-wal")
        found["write-ahead log, in bytes"] = log.stat().st_size if log.exists() else 0
        return Scrubbed(found, unchecked)

    def close(self) -> None:
        with self._closing:
            if self._closed:
                return
            self._closed = True
            self._jobs.put(None)
        self._thread.join()
        for _ in range(self._readers):
            connection = self._pool.get()
            if connection is not None:
                connection.close()
        self._writer.close()  # the last connection to close empties the log

    def _open_writer(self, synchronous: Synchronous) -> apsw.Connection:
        if self._vfs is None:
            _make_folder(self._path.parent)
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))  # memories are private: owner only
        connection = self._connect()
        found, tables = cast(tuple[int, int], connection.execute(IDENTITY).get)
        if found != APPLICATION_ID and tables:
            connection.close()
            raise StoreCorrupt(f"{self._path.name} is a database of another program (application_id {found})")
        _keep_log(connection)
        connection.pragma("synchronous", synchronous)
        connection.pragma("secure_delete", True)
        if found != APPLICATION_ID:
            connection.pragma("application_id", APPLICATION_ID)
            connection.pragma("user_version", CLEAN)
        connection.pragma("foreign_keys", True)
        connection.pragma("journal_size_limit", JOURNAL_LIMIT_BYTES)
        connection.wal_autocheckpoint(0)
        connection.set_wal_hook(self._note_log)
        return connection

    def _connect(self) -> apsw.Connection:
        connection = apsw.Connection(str(self._path), vfs=self._vfs, statementcachesize=256)
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        # Else SQLite, as apsw builds it, compiles a join anew each time that values are bound to it (docs/why.md).
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        return connection

    @contextmanager
    def _reader(self) -> Generator[apsw.Connection]:
        connection = self._pool.get()
        try:
            if connection is None:
                with translated():
                    connection = self._connect()
                    connection.pragma("query_only", True)
            yield connection
        finally:
            self._pool.put(connection)

    def _note_log(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        self._log_pages = pages
        return apsw.SQLITE_OK

    def _write_groups(self) -> None:
        group: list[_Job] = []
        running = True
        try:
            while running:
                group, running = self._next_group()
                if group:
                    self._commit(group)
                if self._log_pages >= self._checkpoint_pages:
                    self._checkpoint()
                self._run_errands()
        finally:
            self._dismiss(group)

    def _dismiss(self, group: list[_Job]) -> None:
        """This thread ends, as it should or by an error of ours: nobody may wait for it."""
        with self._closing:
            self._stopped = True
        with suppress(queue.Empty):
            while True:
                job = self._jobs.get_nowait()
                group.extend([] if job is None else [job])
        for job in group:
            job.end(StoreUnavailable(STOPPED))
        self._run_errands(StoreUnavailable(STOPPED))

    def _run_errand(self, work: Callable[[], None]) -> None:
        """Let the writer's thread do something between two groups, and wait for it."""
        errand = _Errand(work)
        self._errands.put(errand)
        self.queue((), lambda _: None)  # wakes it
        errand.waiting.result()

    def _run_errands(self, refusal: Exception | None = None) -> None:
        with suppress(queue.Empty):
            while True:
                errand = self._errands.get_nowait()
                try:
                    if refusal is not None:
                        raise refusal
                    with translated():
                        errand.work()
                except (MuistiError, apsw.Error) as failure:
                    errand.waiting(failure)
                else:
                    errand.waiting([])

    def _next_group(self) -> tuple[list[_Job], bool]:
        """Wait for a job, then take what else waits. The second value is False when it is time to stop."""
        group: list[_Job] = []
        size = 0
        job = self._jobs.get()
        while job is not None:
            group.append(job)
            size += len(job.statements)
            if size >= GROUP_STATEMENTS:
                return group, True
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                return group, True
        return group, False

    def _commit(self, group: list[_Job]) -> None:
        """Commit a group with one sync. A job that is refused takes only itself back."""
        outcomes: list[Outcome] = []
        began = time.perf_counter()
        try:
            with translated():
                self._writer.execute("BEGIN IMMEDIATE")
                outcomes.extend(self._try(job) for job in group)
                self._writer.execute("COMMIT")
        except (MuistiError, apsw.Error) as failure:
            self._roll_back()
            for job in group:
                job.end(failure)
            return
        self._meters.commit_seconds.add(time.perf_counter() - began)
        self._meters.group_writes.add(len(group))
        for job, outcome in zip(group, outcomes, strict=True):
            job.end(outcome)

    def _try(self, job: _Job) -> Outcome:
        """Run a job inside a savepoint. Raises when the whole group must fail."""
        self._writer.execute("SAVEPOINT job")
        results: list[Rows] = []
        outcome: Outcome = results
        try:
            results.extend(_run(self._writer, statement) for statement in job.statements)
        except apsw.ConstraintError as error:
            outcome = _refusal(error, len(results))
        except (apsw.SQLError, apsw.RangeError, apsw.TooBigError, apsw.BindingsError) as error:
            outcome = BadStatement(str(error))
        except (TypeError, ValueError, OverflowError) as error:  # a value that SQLite cannot hold
            outcome = error
        else:
            if job.kept:
                self._writer.execute("RELEASE job")
                return results
        self._writer.execute("ROLLBACK TO job")
        self._writer.execute("RELEASE job")
        return outcome

    def _roll_back(self) -> None:
        if self._writer.in_transaction:
            self._writer.execute("ROLLBACK")

    def _checkpoint(self) -> None:
        """Move the log into the file as far as readers allow; never waits for them."""
        try:
            self._writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        except apsw.Error:
            return  # nothing is lost: the log stays, the next commit tries again, and a real fault fails that commit
        finally:
            self._log_pages = 0

    def _empty_log(self) -> None:
        """Move all of the log into the file, and cut it to nothing. Raises when readers hold it for too long."""
        self._writer.set_busy_timeout(LOG_WAIT_MS)
        try:
            self._writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            self._log_pages = 0
        finally:
            self._writer.set_busy_timeout(BUSY_TIMEOUT_MS)

    def _rewrite(self) -> None:
        """Write the whole file anew."""
        self._writer.execute("VACUUM")
        self._writer.pragma("user_version", CLEAN)
        self._empty_log()

    def _is_clean(self) -> bool:
        with self._reader() as connection, translated():
            return cast(int, connection.pragma("user_version")) == CLEAN

    def _look(self, traces: Traces) -> int:
        """How much of what was erased is in free space.

        Read through SQLite's own layer: whoever else closes the file lets go of the locks that SQLite has on it.
        """
        flags = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY
        with translated():
            file = apsw.VFSFile(self._vfs or "", str(self._path), [flags, 0])
            try:
                return look(file, traces)
            finally:
                file.xClose()


def _make_folder(folder: Path) -> None:
    """Make a folder and those above, and make them last: SQLite syncs the folder of its file and none above it."""
    missing = [above for above in (folder, *folder.parents) if not above.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for made in missing if os.name == "posix" else ():
        parent = os.open(made.parent, os.O_RDONLY)
        try:
            os.fsync(parent)
        finally:
            os.close(parent)


def _keep_log(connection: apsw.Connection) -> None:
    """Write ahead. SQLite does not wait by itself for another process that makes a new file do so, so this does."""
    for _ in range(BUSY_TIMEOUT_MS // BUSY_PAUSE_MS):
        with suppress(apsw.BusyError):
            mode = connection.pragma("journal_mode", "wal")
            if mode != "wal":
                raise StoreUnavailable(f"this file system allows journal mode {mode} only; use a local disk")
            return
        time.sleep(BUSY_PAUSE_MS / 1000)
    raise StoreUnavailable("another process holds the database; try again")


def _run(connection: apsw.Connection, statement: Statement) -> Rows:
    return cast(Rows, connection.execute(statement.sql, statement.args).fetchall())


def _refusal(error: apsw.ConstraintError, statement: int) -> Refused:
    detail = str(error)
    _, marker, code = detail.partition(REFUSAL)
    return Refused(code if marker else "constraint", statement, detail)
