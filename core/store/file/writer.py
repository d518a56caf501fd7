"""The one thread that writes to a SQLite file: it commits waiting batches in groups, and does all checkpoints."""

import queue
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from typing import cast

import apsw

from muisti.core.model.errors import MuistiError, StoreUnavailable
from muisti.core.store.database import BadStatement, Ended, Outcome, Rows, Statement, refusal
from muisti.core.store.file.opened_files import OpenedFiles
from muisti.core.store.file.opening import CLEAN
from muisti.core.store.file.sqlite_errors import Health, LockWait
from muisti.core.support.meters import StoreMeters

GROUP_STATEMENTS = 20_000  # a group stops growing here, so that no write waits long for others
GATHER_SECONDS = 0.01  # for which a group waits for expected writes
CHECKPOINT_PAGES = 1_000  # 4 MB of log
HURRY_SECONDS = 0.1
LOG_WAIT_MS = 3_000  # for emptying the log while readers hold it
STOPPED = "nothing can be stored after an internal error; restart Muisti"


class Waiting:
    """Lets a thread wait for an outcome. A lock that the writer releases costs a tenth of a `Future`."""

    __slots__ = ("_done", "_outcome")

    def __init__(self) -> None:
        self._outcome: Outcome = []
        self._done = threading.Lock()
        self._done.acquire()

    def __call__(self, outcome: Outcome) -> None:
        self._outcome = outcome
        self._done.release()

    def result(self) -> list[Rows]:
        """Wait; return the rows of each statement, or raise the error."""
        self._done.acquire()
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome


class _Job:
    """A batch that waits for the writer, whether to keep it, and the callback for its outcome."""

    __slots__ = ("_ended", "kept", "statements")

    def __init__(self, statements: Sequence[Statement], ended: Ended, *, kept: bool) -> None:
        self.statements = tuple(statements)
        self.kept = kept
        self._ended: Ended | None = ended

    def end(self, outcome: Outcome) -> None:
        """Report the outcome. Only the first call counts."""
        ended, self._ended = self._ended, None
        if ended is not None:
            ended(outcome)


_KEPT = attrgetter("kept")


class _Errand:
    """Maintenance task that runs between two groups, on the connection that writes."""

    __slots__ = ("waiting", "work")

    def __init__(self, work: Callable[[], None]) -> None:
        self.work = work
        self.waiting = Waiting()


class Writer:
    """Writer that takes jobs from any thread. A refused job is rolled back alone, without the rest of its group."""

    def __init__(
        self,
        connection: apsw.Connection,
        checkpoint_pages: int = CHECKPOINT_PAGES,
        files: OpenedFiles | None = None,
        health: Health | None = None,
        waiting: LockWait | None = None,
    ) -> None:
        """Write with a connection, which stays open when the writer is closed.

        A log of `checkpoint_pages` is checkpointed. `files` None: the files are not checked.
        `waiting` waits for locks of other processes.
        """
        self.connection = connection
        self._path = Path(connection.filename)
        self._checkpoint_pages = checkpoint_pages
        self._files = files
        self._health = health or Health(self._path)
        self._waiting = waiting or LockWait(self._path)
        connection.set_busy_handler(self._waiting)
        self._doubtful = False  # check the files before anything is written
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._errands: queue.SimpleQueue[_Errand] = queue.SimpleQueue()
        self.meters = StoreMeters(waiting=self._jobs.qsize)
        self._log_pages = 0
        self._committed_pages = 0  # of the log, after a commit that is not checked yet
        self._closed = False
        self._stopped = False
        self._closing = threading.Lock()
        self._expected = 0
        self._expecting = threading.Lock()
        self._gathering = False  # the writer waits until no more writes are expected
        self._gathered = threading.Semaphore(0)
        connection.set_wal_hook(self._note_log)
        self._thread = threading.Thread(target=self._write_groups, name="muisti-writer", daemon=True)
        self._thread.start()

    def put(self, statements: Sequence[Statement], ended: Ended, *, kept: bool = True) -> None:
        """Queue statements to be written, or where not `kept` only tried. The writer's thread calls `ended`.

        Raises:
            StoreUnavailable: the writer was closed, or has stopped.
        """
        with self._closing:
            if self._closed:
                raise StoreUnavailable("the database is closed")
            if self._stopped:
                raise StoreUnavailable(STOPPED)
            self._jobs.put(_Job(statements, ended, kept=kept))

    def expect(self, writes: int) -> None:
        """Announce so many more writes (fewer when negative); a group waits for them briefly."""
        with self._expecting:
            self._expected += writes
            gathered = self._expected <= 0 and self._gathering
            if gathered:
                self._gathering = False
        if gathered:
            self._gathered.release()

    def hurry(self) -> None:
        """Wait only briefly for locks of other processes from now on."""
        self._waiting.seconds = HURRY_SECONDS

    def empty_log(self) -> None:
        """Checkpoint the whole log and truncate it. Raises when readers hold it for too long."""
        self._run_errand(self._empty_log)

    def rewrite(self) -> None:
        """Rewrite the whole file without its free space."""
        self._run_errand(self._rewrite)

    def close(self) -> bool:
        """Write the waiting jobs and stop; return whether the writer still ran. The connection stays open."""
        with self._closing:
            if self._closed:
                return False
            self._closed = True
            self._jobs.put(None)
        self._thread.join()
        return True

    def _note_log(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        self._log_pages = self._committed_pages = pages
        return apsw.SQLITE_OK

    def _write_groups(self) -> None:
        group: list[_Job] = []
        running = True
        try:
            while running:
                group, running = self._next_group()
                if group:
                    self._commit(group)
                if self._log_pages >= self._checkpoint_pages and not self._doubtful:
                    self._checkpoint()
                if not self._errands.empty():
                    self._run_errands()
        finally:
            self._dismiss(group)

    def _dismiss(self, group: list[_Job]) -> None:
        """End all waiting jobs, since this thread ends, by `close` or by an error in Muisti."""
        with self._closing:
            self._stopped = True
        with suppress(queue.Empty):
            while True:
                job = self._jobs.get_nowait()
                group.extend([] if job is None else [job])
        for job in group:
            job.end(StoreUnavailable(STOPPED))
        self._run_errands(StoreUnavailable(STOPPED))

    def _next_group(self) -> tuple[list[_Job], bool]:
        """Wait for a job and for expected ones, then take all. The second value says whether to continue."""
        group: list[_Job] = []
        size = 0
        job = self._jobs.get()
        if job is not None and self._expected > 1:  # one may be this job, whose sender has not counted it down yet
            self._gather()
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

    def _gather(self) -> None:
        """Wait until no more writes are expected, at most `GATHER_SECONDS`."""
        with self._expecting:
            self._gathering = self._expected > 0
            if not self._gathering:
                return
        if self._gathered.acquire(timeout=GATHER_SECONDS):
            return
        with self._expecting:
            late, self._gathering = not self._gathering, False
        if late:  # `expect` released the semaphore meanwhile
            self._gathered.acquire()

    def _commit(self, group: list[_Job]) -> None:
        """Commit a group with one sync. A refused job is rolled back alone."""
        outcomes: list[Outcome] = []
        began = time.perf_counter()
        try:
            try:
                if self._health.damaged:
                    self._health.check()
                if self._doubtful:
                    self._check_files()
                outcomes = self._run_together(group) or self._run_apart(group)
                self._check_files()  # before any outcome is reported: the file may have gone during the write
            except BaseException as error:
                self._health.meet(error)
                raise
        except (MuistiError, apsw.Error) as failure:
            self._roll_back()
            self._doubtful = True
            for job in group:
                job.end(failure)
            return
        self.meters.commit_seconds.add(time.perf_counter() - began)
        self.meters.group_writes.add(len(group))
        for job, outcome in zip(group, outcomes, strict=True):
            job.end(outcome)

    def _run_together(self, group: Sequence[_Job]) -> list[Outcome] | None:
        """Commit a group without savepoints. None, with nothing done, for a dry run or a refusal among several jobs."""
        if not all(map(_KEPT, group)):
            return None
        self._begin()
        outcomes: list[Outcome] = []
        for job in group:
            outcome = self._run(job)
            if isinstance(outcome, Exception):
                self._roll_back()
                return [outcome] if len(group) == 1 else None
            outcomes.append(outcome)
        self.connection.execute("COMMIT")
        return outcomes

    def _begin(self) -> None:
        """Begin a transaction that writes, on files that are still ours."""
        self.connection.execute("BEGIN IMMEDIATE")
        while self._files is not None and not self._files.seal():
            self._roll_back()
            self._check_files()
            self.connection.execute("BEGIN IMMEDIATE")

    def _run_apart(self, group: Sequence[_Job]) -> list[Outcome]:
        """Commit the jobs of a group that are not refused, each in its savepoint."""
        self._begin()
        outcomes = [self._try(job) for job in group]
        self.connection.execute("COMMIT")
        return outcomes

    def _try(self, job: _Job) -> Outcome:
        """Run a job inside a savepoint. Raises when the whole group must fail."""
        self.connection.execute("SAVEPOINT job")
        outcome = self._run(job)
        if not job.kept or isinstance(outcome, Exception):
            self.connection.execute("ROLLBACK TO job")
        self.connection.execute("RELEASE job")
        return outcome

    def _run(self, job: _Job) -> Outcome:
        """Return the rows of each statement, or the refusal of one. Raises when the whole group must fail."""
        results: list[Rows] = []
        outcome: Outcome = results
        try:
            for statement in job.statements:
                results.append(cast(Rows, self.connection.execute(statement.sql, statement.args).fetchall()))
        except apsw.ConstraintError as error:
            outcome = refusal(str(error), len(results))
        except (apsw.SQLError, apsw.RangeError, apsw.TooBigError, apsw.BindingsError, apsw.MismatchError) as error:
            outcome = BadStatement(str(error))
        except (TypeError, ValueError, OverflowError) as error:  # a value that SQLite cannot hold
            outcome = error
        return outcome

    def _check_files(self) -> None:
        pages, self._committed_pages = self._committed_pages, 0
        if self._files is not None:
            self._doubtful = True
            self._files.check(self.connection, frames=pages, wait=True)
            self._doubtful = False

    def _roll_back(self) -> None:
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def _checkpoint(self) -> None:
        """Checkpoint the log as far as readers allow, without waiting for them."""
        try:
            self.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        except apsw.Error:
            return  # nothing is lost: the log stays, the next commit retries, and a real fault fails that commit
        finally:
            self._log_pages = 0
            self._note_files()

    def _note_files(self) -> None:
        if self._files is not None:
            self._files.note(self.connection)

    def _run_errand(self, work: Callable[[], None]) -> None:
        """Run a task on the writer's thread between two groups, and wait for it."""
        errand = _Errand(work)
        self._errands.put(errand)
        self.put((), lambda _: None)  # wakes the writer
        errand.waiting.result()

    def _run_errands(self, refusal: Exception | None = None) -> None:
        with suppress(queue.Empty):
            while True:
                errand = self._errands.get_nowait()
                try:
                    if refusal is not None:
                        raise refusal
                    with self._health:
                        self._check_files()
                        errand.work()
                except (MuistiError, apsw.Error) as failure:
                    errand.waiting(failure)
                else:
                    errand.waiting([])

    def _empty_log(self) -> None:
        self.connection.set_busy_timeout(LOG_WAIT_MS)
        try:
            self.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            self._log_pages = 0
        finally:
            self._note_files()
            self.connection.set_busy_handler(self._waiting)

    def _rewrite(self) -> None:
        self.connection.execute("VACUUM")
        self.connection.pragma("user_version", CLEAN)
        self._empty_log()


def run(connection: apsw.Connection, statement: Statement) -> Rows:
    return cast(Rows, connection.execute(statement.sql, statement.args).fetchall())
