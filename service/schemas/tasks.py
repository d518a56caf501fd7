"""Replies about tasks."""

from datetime import datetime
from typing import Annotated, Any, Self, get_args

from msgspec import UNSET, Meta, UnsetType

from muisti.core.model.choices import TaskState
from muisti.core.model.errors import MuistiError
from muisti.core.model.tasks import Item, ItemState, Task
from muisti.service.schemas.copying import Reply
from muisti.service.schemas.fields import doc

TaskId = Annotated[str, doc("Id of a task.", examples=["0b9a3f7e-6c1d-4a52-9d6e-2f1f6f0f8a11"])]
StateName = Annotated[
    str, doc("`partial`: some items have failed. The last four are final.", enum=list(get_args(TaskState)))
]
ItemStateName = Annotated[str, doc("State of an item.", enum=list(get_args(ItemState)))]


class ErrorReply(Reply, frozen=True, kw_only=True):
    """The reason why a task or an item has failed."""

    code: Annotated[str, doc("Stable code of the error.", examples=["document.encrypted"])]
    detail: str


class TaskReply(Reply, frozen=True, kw_only=True):
    """A task: what it does, how far it is, and how it ended. What a cancelled task has stored stays."""

    id: TaskId
    kind: Annotated[str, doc("Kind of work.", examples=["ingest"])]
    state: StateName
    space: str
    actor: Annotated[str, doc("Caller that asked for it, as in the audit log.")]
    asked: Annotated[Any, doc("The request, as its kind stores it.")]
    total: Annotated[int | None, doc("Number of items; null while unknown.")]
    done: Annotated[int, doc("Items that have succeeded.")]
    failed: Annotated[int, doc("Items that have failed; they are listed with their errors.")]
    skipped: Annotated[int, doc("Items that needed no work.")]
    rate: Annotated[float | None, doc("Finished items a second.")]
    seconds_left: Annotated[float | None, doc("Estimated seconds until the end; null when unknown.")]
    attempts: Annotated[int, doc("How often a process has taken the task.")]
    revision: Annotated[int, doc("Grows with each change of the task.")]
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    expires_at: Annotated[datetime | None, doc("Time at which the ended task is forgotten.")]
    result: Annotated[Any, doc("Result of the work, once it has ended.")] | UnsetType = UNSET
    error: ErrorReply | UnsetType = UNSET
    obstacle: (
        Annotated[
            ErrorReply,
            doc(
                "The error that keeps the process that answers from working on tasks, such as a full disk. "
                "It tries again by itself; the task is kept."
            ),
        ]
        | UnsetType
    ) = UNSET

    @classmethod
    def of(cls, value: Task, obstacle: MuistiError | None = None, /, **more: Any) -> Self:
        rate, left = value.rate, value.left
        return super().of(
            value,
            total=value.total or None,
            rate=None if rate is None else round(rate, 2),
            seconds_left=None if left is None else round(left, 1),
            error=_error(value.error_code, value.error),
            obstacle=UNSET if obstacle is None or value.is_over else _error(obstacle.code, str(obstacle)),
            **more,
        )


class TasksReply(Reply, frozen=True, kw_only=True):
    """A page of tasks, newest first."""

    items: list[TaskReply]
    next_cursor: str | None


class TaskItemReply(Reply, frozen=True, kw_only=True):
    """An item of a task, such as one file."""

    number: int
    name: Annotated[str, Meta(examples=["docs/guide.pdf"])]
    state: ItemStateName
    attempts: Annotated[int, doc("How often work on it has begun.")]
    error: ErrorReply | UnsetType = UNSET

    @classmethod
    def of(cls, value: Item, /, **more: Any) -> Self:
        return super().of(value, error=_error(value.error_code, value.error), **more)


class TaskItemsReply(Reply, frozen=True, kw_only=True):
    """A page of the items of a task, in their order."""

    items: list[TaskItemReply]
    next_cursor: str | None


def _error(code: str | None, text: str | None) -> ErrorReply | UnsetType:
    return UNSET if code is None else ErrorReply(code=code, detail=text or "")
