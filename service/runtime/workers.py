"""Threads for the synchronous core, in bounded pools: for searches, for the database, for slow kinds, for vital calls.

No kind of request, space or key takes all threads of the pools that others need; see `service.runtime.admission`.

The pool is our own because `concurrent.futures` with `asyncio.wrap_future` takes 45 µs of processor time a call. This
pool takes 5 µs when many calls wait.
"""

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from math import ceil
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

import msgspec

from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.choices import OnConflict
from muisti.core.model.context import Context
from muisti.core.model.errors import Busy
from muisti.core.model.hits import Answer, JointAnswer
from muisti.core.model.operations import Erasure
from muisti.core.model.outcomes import Written
from muisti.core.model.spaces import Space
from muisti.core.model.values import Draft, RequestKey
from muisti.core.query.query import Part, Query
from muisti.core.support.waiting import (
    Overtaken,
    Urgent,
    WouldCrowd,
    WouldWait,
    begin,
    without_waiting,
    work_slowly,
    working_for,
)
from muisti.core.views.memories import Memories
from muisti.core.views.read import Read
from muisti.core.views.read import Request as ContextRequest
from muisti.core.views.write import Write
from muisti.service.observability.meters import Meters
from muisti.service.observability.read_log import ReadLog
from muisti.service.observability.tracing import Tracing
from muisti.service.runtime.adding import Adds, end_soon
from muisti.service.runtime.admission import LANE, Admission, Lane, Line, Shares
from muisti.service.runtime.engines import Engines
from muisti.service.runtime.looks import Looks
from muisti.service.runtime.models import summary_writer
from muisti.service.schemas.health import ServerStatsReply
from muisti.service.settings import Settings

P = ParamSpec("P")
R = TypeVar("R")


SLOW_PART = 8  # one of so many threads for the database is for slow kinds of requests, or one for each processor
SPACE_SHARE, SLOW_SPACE_SHARE = 0.75, 0.5  # of the threads, for one space and for one key
CONTEXT = 16_000  # tokens of a context that is made quickly
VITAL = 2  # threads for readiness and keys


def processors() -> int:
    """Count the processors that this process may use now, which may be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Job:
    """A call that waits for a thread. Either a thread takes it, or the caller that gives up takes it back."""

    def __init__(self, call: Callable[[], Any], lane: Lane) -> None:
        self.call, self.lane = call, lane
        self.queued = False
        self.loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[Any] = self.loop.create_future()
        self._untaken = threading.Lock()

    def take(self) -> bool:
        return self._untaken.acquire(blocking=False)


class Pool:
    """A pool of threads. One call runs on each thread, and `waiting` more wait in a queue; further calls are refused.

    All calls come from one event loop, which must run until the pool is closed. A thread starts when a call finds all
    others busy. Starting all takes 8 ms, and a server that is asked little needs few of them.
    """

    def __init__(
        self, name: str, threads: int, waiting: int, line: Line, share: float = 1.0, *, is_slow: bool = False
    ) -> None:
        """`share`: part of the threads that one space, or one key, may take. A slow pool gives way to others."""
        self._is_slow = is_slow
        self._name, self._most, self._waiting = name, threads, waiting
        self._line = line
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._free = self.capacity = threads + waiting
        self._threads: list[threading.Thread] = []
        self._shares = Shares[_Job](max(1, ceil(share * threads)), max(1, waiting // 2))

    @property
    def calls(self) -> int:
        """The number of calls that run or wait; never more than `capacity`."""
        return self.capacity - self._free

    async def run(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a call on a thread. Cancelling takes back a call that waits, never one that runs.

        Raises:
            Busy: too many calls wait, of all or of the same space or key.
        """
        lane = LANE.get()
        if not self._free or self._shares.is_full(lane):
            raise Busy(f"{self._waiting - self._free} requests are waiting already; try again in a moment")
        job = _Job(partial(call, *args, **kwargs), lane)
        self._free -= 1
        if len(self._threads) < min(self.calls, self._most):
            self._start()
        if self._shares.admits(job, lane):
            self._queue(job)
        try:
            with Urgent.waiting() if self._is_slow else nullcontext():
                return await job.answer
        except asyncio.CancelledError:
            if job.take():
                if job.queued:  # else it was held back, and the line does not count it
                    self._line.give_up()
                self._ended(job)
            raise

    def _start(self) -> None:
        name = f"muisti-{self._name}-{len(self._threads)}"
        thread = threading.Thread(target=self._work, name=name, daemon=True)
        thread.start()
        self._threads.append(thread)

    def close(self) -> None:
        """Wait until all calls have ended."""
        started = [*self._threads]
        for _ in started:
            self._jobs.put(None)
        for thread in started:
            thread.join()

    def _work(self) -> None:
        if self._is_slow:
            work_slowly()
        while (job := self._jobs.get()) is not None:
            if job.take():
                self._line.leave()
                begin()
                try:
                    with working_for(job.lane.space):
                        answer, error = job.call(), None
                except BaseException as raised:  # noqa: BLE001  # the caller's to handle, whatever it is
                    answer, error = None, raised
                job.loop.call_soon_threadsafe(self._answered, job, answer, error)
                del job, answer, error  # else they would stay in memory until the next call

    def _queue(self, job: _Job) -> None:
        job.queued = True
        self._line.enter()
        self._jobs.put(job)

    def _ended(self, job: _Job) -> None:
        self._free += 1
        for held in self._shares.release(job, job.lane):
            self._queue(held)

    def _answered(self, job: _Job, answer: Any, error: BaseException | None) -> None:
        self._ended(job)
        if job.answer.done():  # the caller gave up
            return
        if error is None:
            job.answer.set_result(answer)
        else:
            job.answer.set_exception(error)


class Uploads(msgspec.Struct, frozen=True):
    """The limits of what requests bring.

    `limit` is for files and `body` for JSON, `at_once` for a file that is stored before the answer, in bytes. `folder`
    is where files of the server may be named.
    """

    limit: int
    body: int
    at_once: int
    folder: str | None


Latencies = Callable[[], Awaitable[ServerStatsReply]]


class Backend:
    """The engine and the pools that its calls run on.

    Calls that write embed text too, and still belong to `store`: they wait for the disk.
    """

    def __init__(
        self,
        engine: Engine,
        settings: Settings,
        *,
        meters: Meters | None = None,
        tracing: Tracing | None = None,
        admission: Admission | None = None,
        engines: Engines | None = None,
    ) -> None:
        """`admission` has the queues in which calls wait. `engines` are those of all databases."""
        lines = admission or Admission(settings.queue_seconds, settings.queue_limit)
        searchers = settings.search_threads or processors()
        self._search = Pool("search", searchers, settings.queue_limit, lines.search)
        slow = max(2, min(settings.database_threads // SLOW_PART, processors()))
        slow = min(slow, settings.database_threads)
        fast = max(1, settings.database_threads - slow)
        self._store = Pool("store", fast, settings.queue_limit, lines.store, SPACE_SHARE)
        self._slow = Pool("slow", slow, settings.queue_limit, Line(), SLOW_SPACE_SHARE, is_slow=True)
        self._vital = Pool("vital", VITAL, settings.queue_limit, Line())
        self._adds = Adds(settings.queue_limit, lines.disk)
        self.pools = {"search": self._search, "store": self._store, "slow": self._slow, "vital": self._vital}
        self.meters = meters or Meters()
        self.reads = ReadLog(settings.read_log, settings.read_log_size)
        self._tracing = tracing
        self._asking = 0  # searches under way
        self.engines = engines or Engines(engine, settings)
        self.looks = Looks(self.engines)
        self.main = engine  # of the directory, which has what belongs to no space
        self.signing_key_file = settings.signing_key_file
        self.summary_writer = summary_writer(settings)
        self.uploads = Uploads(
            limit=settings.upload_limit,
            body=settings.body_limit,
            at_once=settings.upload_at_once,
            folder=settings.server_files,
        )
        self.latencies: Latencies | None = None  # a server sets it; commands measure none
        self.stopping = False  # the server takes no more requests: what would go on for long should end

    @property
    def engine(self) -> Engine:
        """Return the engine of the space that the request works in; that of the directory when it is in none.

        Raises:
            DatabaseDown: the database of the space does not answer.
        """
        return self.engines.of(LANE.get().space)

    async def store(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a call that waits for the database: one of a slow kind of request on a thread for these."""
        found = await (self._slow if LANE.get().slow else self._store).run(call, *args, **kwargs)
        if self._tracing is not None and not kwargs.get("dry_run"):
            verb = getattr(call, "__name__", "")
            if isinstance(found, Written):
                self._tracing.wrote(found, verb)
            elif isinstance(found, Erasure) or (isinstance(found, Space) and verb == "create"):
                self._tracing.stored(found)
        return found

    async def vital(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a brief call on which readiness or the recognition of a caller depends, on a thread for these."""
        return await self._vital.run(call, *args, **kwargs)

    async def compute(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a computation on the event loop when it is short, else on a thread."""
        try:
            with without_waiting():
                return call(*args, **kwargs)
        except WouldWait:
            return await (self._slow if LANE.get().slow else self._search).run(call, *args, **kwargs)

    async def search(self, memories: Memories, space: str, query: Query, max_age: float = 0.0) -> Answer:
        """Search on the event loop when that takes a millisecond or two, else on a thread.

        A thread on another core finds nothing in its cache and waits for the interpreter, which takes .5 ms. That pays
        when several callers search a large space at the same time and there is another core.
        """
        self._asking += 1
        try:
            try:
                answer = memories.read.search_at_once(space, query, max_age, alone=False)
            except WouldCrowd:
                answer = await self._search_in_turn(memories.read, space, query, max_age)
            except WouldWait:
                answer = await self._search.run(memories.read.search, space, query, max_age)
        finally:
            self._asking -= 1
        self.meters.searched(answer)
        if self._tracing is not None:
            self._tracing.searched(answer, query.text)
        return answer

    async def _search_in_turn(self, read: Read, space: str, query: Query, max_age: float) -> Answer:
        """Search a space of middle size: on the event loop for a lone caller, else on a thread."""
        await asyncio.sleep(0)  # whoever asks at the same time is counted
        if self._asking == 1 or processors() == 1:
            with suppress(WouldWait):
                return read.search_at_once(space, query, max_age, alone=True)
        return await self._search.run(read.search, space, query, max_age)

    async def context(self, memories: Memories, space: str, request: ContextRequest) -> Context:
        """Make a context on a thread: one of many tokens on a thread for slow kinds of requests."""
        pool = self._slow if request.token_budget > CONTEXT else self._store
        found = await pool.run(memories.context.build, space, request)
        if self._tracing is not None:
            self._tracing.packed(found, request.query)
        return found

    async def search_spaces(
        self, caller: Caller, parts: Sequence[Part], query: Query, max_age: float = 0.0
    ) -> JointAnswer:
        """Search several spaces on a thread, those of each database together."""
        views = {part.space: self.engines.of(part.space).seen_by(caller).read for part in parts}
        first = next(iter(views.values()), self.main.seen_by(caller).read)
        answer = await self._search.run(first.search_spaces, parts, query, max_age, views)
        self.meters.searched(answer)
        if self._tracing is not None:
            self._tracing.searched(answer, query.text)
        return answer

    async def add(
        self, memories: Memories, space: str, draft: Draft, on_conflict: OnConflict, request: RequestKey | None
    ) -> Written:
        """Add one memory. It is prepared on the event loop when that takes a millisecond or two, else on a thread.

        The database's own thread commits it. A thread in between would only wait for the interpreter.
        """
        if request is None:
            with suppress(WouldWait, Overtaken):
                written = await self._added(memories.write, space, draft, on_conflict)
                if self._tracing is not None:
                    self._tracing.wrote(written, "add")
                return written
        return await self.store(memories.write.add, space, [draft], on_conflict=on_conflict, request=request)

    async def _added(self, write: Write, space: str, draft: Draft, on_conflict: OnConflict) -> Written:
        """Add one memory without a thread of ours.

        Raises:
            WouldWait: this may take longer; nothing is begun.
            Overtaken: the space has changed meanwhile; nothing is stored.
        """
        begun, outcome = await self._adds.add(write, space, draft, on_conflict)
        try:
            return end_soon(write, begun, outcome)
        except WouldWait:
            return await self._store.run(write.end_add, begun, outcome)

    def close(self) -> None:
        """Wait until all calls have ended. The engine stays open."""
        for pool in self.pools.values():
            pool.close()
