"""Threads that run tasks: one claims them and keeps their leases, and each task in work has one of its own."""

import logging
import threading
import time
from typing import Self

from muisti.core.engine import Engine
from muisti.core.model.errors import MuistiError
from muisti.core.model.tasks import Task
from muisti.core.support.waiting import work_slowly, working_for
from muisti.core.tasks.claim import Claim
from muisti.service.settings import Settings

_LOG = logging.getLogger("muisti.tasks")

LOOK = 2.0  # seconds between looks for tasks of other processes
REST_MAX = 60.0  # seconds between tries to claim a task while they fail
BEAT = 0.5  # seconds between looks whether the tasks in work were cancelled


class TaskThreads:
    """The tasks in work in a process, from the first one to `close`.

    A task that this process submits begins immediately. With `start`, tasks that other processes submit or leave are
    found too, within `LOOK` seconds. A task whose lease is known is taken when the lease ends.
    """

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._engine, self._most, self._lease = engine, settings.tasks, settings.task_lease
        self._runner = engine.runner(settings.task_lease, settings.tasks_per_space, _broken)
        self._stop = False
        self.rest = 0.0  # seconds between the last try to claim a task, which failed, and the next one; else 0
        self._next_try = 0.0  # by the monotonic clock
        self._woken = threading.Event()
        self._lock = threading.Lock()
        self._claiming: threading.Thread | None = None
        self._working: set[threading.Thread] = set()
        engine.tasks.listen(self.start)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Look for tasks now, and from now on."""
        self._next_try = 0.0
        self._woken.set()
        with self._lock:
            if self._claiming is None and self._most and not self._stop:
                self._claiming = threading.Thread(target=self._claim_all, name="tasks", daemon=True)
                self._claiming.start()

    def close(self) -> None:
        """Give back what is in work, after the items in work now. Other processes go on; the engine stays open."""
        self._engine.tasks.ignore(self.start)
        with self._lock:
            self._stop = True
        self._runner.stop()
        self._woken.set()
        if self._claiming is not None:
            self._claiming.join()

    def _claim_all(self) -> None:
        """Claim tasks and keep their leases, until `close`; then wait for those in work."""
        prolonged = time.monotonic()
        while not self._stop or self._working:
            self._woken.clear()
            wait = self._look() if not self._stop and len(self._working) < self._most else LOOK
            if not wait:
                continue
            self._woken.wait(min(wait, BEAT) if self._working else wait)
            now = time.monotonic()
            late = now - prolonged > self._lease / 3
            if self._working and self._beat(prolong=late) and late:
                prolonged = now

    def _look(self) -> float:
        """Claim a task and begin it, and return 0; else the seconds until one may be due, or another try."""
        if (left := self._next_try - time.monotonic()) > 0:
            return left
        try:
            found = self._runner.claim()
        except MuistiError as error:
            self.rest = min(2 * self.rest, REST_MAX) or LOOK
            self._next_try = time.monotonic() + self.rest
            _LOG.warning("no tasks can be claimed", extra={"code": error.code, "seconds_to_next_try": self.rest})
            return self.rest
        if self.rest:
            self.rest = 0.0
            _LOG.info("tasks can be claimed again")
        if not isinstance(found, Claim):
            return LOOK if found is None else min(max(found, 0.01), LOOK)
        thread = threading.Thread(target=self._work, args=(found,), name=f"task {found.task.kind}", daemon=True)
        self._working.add(thread)
        thread.start()
        return 0.0

    def _work(self, claim: Claim) -> None:
        try:
            _told("task begins", claim.task)
            work_slowly()
            with working_for(claim.task.space):
                self._runner.run(claim)
        except MuistiError as error:  # the database does not answer; the lease runs out
            _LOG.warning("task left", extra={"task": claim.task.id, "code": error.code})
        finally:
            self._working.discard(threading.current_thread())
            self._woken.set()

    def _beat(self, *, prolong: bool) -> bool:
        try:
            self._runner.beat(prolong=prolong)
        except MuistiError as error:
            _LOG.warning("leases cannot be prolonged", extra={"code": error.code})
            return False
        return True


def _told(what: str, task: Task) -> None:
    _LOG.info(what, extra={"task": task.id, "kind": task.kind, "space": task.space, "attempts": task.attempts})


def _broken(task: Task, error: str, trace: list[str]) -> None:
    """Log an error of ours without its message, which may quote a memory."""
    of = {"task": task.id, "kind": task.kind, "space": task.space, "tries": task.deaths}
    _LOG.error("task broken", extra={**of, "error": error, "trace": trace})
