"""Tasks, work that outlives the request that asked for it: their states, items and progress. No I/O."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

from muisti.core.model.choices import TaskState
from muisti.core.model.errors import MuistiError, StoreCorrupt, StoreFailing, StoreFull, StoreReadOnly, StoreReplaced

ItemState = Literal["waiting", "working", "done", "failed", "skipped", "cancelled"]

OVER: tuple[TaskState, ...] = ("succeeded", "partial", "failed", "cancelled")

LASTING = (StoreFull, StoreFailing, StoreReadOnly, StoreReplaced, StoreCorrupt)  # errors that last until a person acts


class NewItem(Struct, frozen=True):
    """A part of a task that is about to be submitted. `argument` is for the kind of work, and is stored as JSON."""

    name: str
    argument: object = None


class Item(Struct, frozen=True, kw_only=True):
    """A part of a task. `attempts` counts how often work on it began."""

    number: int
    name: str
    argument: object
    state: ItemState
    attempts: int
    error_code: str | None = None
    error: str | None = None


class ItemOutcome(Struct, frozen=True):
    """Outcome of the work on an item. One that failed has a stable code and a text."""

    number: int
    state: Literal["done", "failed", "skipped"] = "done"
    error_code: str | None = None
    error: str | None = None


class Task(Struct, frozen=True, kw_only=True):
    """A task as it is stored. `asked` is the request, `result` what the work has answered at its end.

    `done`, `failed` and `skipped` count towards `total`, which is 0 while it is unknown. `attempts` counts how often a
    process has taken the task, `deaths` how often since the last progress. `revision` grows with each change.
    `elapsed` is in seconds, since work began.
    """

    number: int
    id: str
    space: str
    kind: str
    state: TaskState
    asked: object
    actor: str
    owner: str
    fence: int
    revision: int
    total: int
    done: int
    failed: int
    skipped: int
    position: str
    attempts: int
    deaths: int
    result: object
    error_code: str | None
    error: str | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    expires_at: datetime | None
    elapsed: float

    @property
    def is_over(self) -> bool:
        return self.state in OVER

    @property
    def finished(self) -> int:
        """Items that need no more work."""
        return self.done + self.failed + self.skipped

    @property
    def rate(self) -> float | None:
        """Finished items a second since work began; None before the first."""
        return self.finished / self.elapsed if self.finished and self.elapsed > 0 else None

    @property
    def left(self) -> float | None:
        """Estimated seconds until the end; None when unknown."""
        if self.is_over:
            return 0.0
        rate = self.rate
        return None if rate is None or not self.total else max(0, self.total - self.finished) / rate


class Failing(Struct, frozen=True):
    """A task that goes on although it keeps failing: `tries` is how often since the last progress."""

    task: str
    kind: str
    space: str
    tries: int


class TaskPage(Struct, frozen=True):
    """A page of tasks, newest first. `next_cursor` is None on the last."""

    items: tuple[Task, ...]
    next_cursor: str | None


class ItemPage(Struct, frozen=True):
    """A page of the items of a task, in their order. `next_cursor` is None on the last."""

    items: tuple[Item, ...]
    next_cursor: str | None


class TooManyTasks(MuistiError):
    """As many tasks of the space wait as may wait; nothing was stored."""

    code = "too_many_tasks"

    def __init__(self, space: str, most: int) -> None:
        super().__init__(f"{most:,} tasks of space {space!r} wait already; send this one again when some have ended")


class TaskOver(Exception):
    """Raised where work would go on for a task that this process no longer has. Nothing of the batch is stored."""

    def __init__(self, *, cancelled: bool = False) -> None:
        super().__init__("the task was cancelled" if cancelled else "another process has the task")
        self.cancelled = cancelled


class TaskFailed(Exception):
    """Raised by the work of a task that has failed with a result, such as a report of what is wrong."""

    def __init__(self, code: str, text: str, result: object) -> None:
        super().__init__(text)
        self.code, self.result = code, result


class Paused(Exception):
    """Raised where work of a task ends early because the process is about to stop. Another one goes on."""
