"""Replies about tasks."""

from datetime import datetime
from typing import Annotated, Any, get_args

from msgspec import UNSET, Meta, Struct, UnsetType

from muisti.core.model.errors import MuistiError
from muisti.core.model.tasks import Item, ItemPage, ItemState, Task, TaskPage
from muisti.core.model.terms import TaskState

TaskId = Annotated[str, Meta(description="Id of a task.", examples=["0b9a3f7e-6c1d-4a52-9d6e-2f1f6f0f8a11"])]
StateName = Annotated[
    str,
    Meta(
        description="`partial`: some items have failed. The last four are final.",
        extra_json_schema={"enum": list(get_args(TaskState))},
    ),
]
ItemStateName = Annotated[
    str, Meta(description="State of an item.", extra_json_schema={"enum": list(get_args(ItemState))})
]


class ErrorReply(Struct, frozen=True, kw_only=True):
    """The reason why a task or an item has failed."""

    code: Annotated[str, Meta(description="Stable code of the error.", examples=["document.encrypted"])]
    detail: str


class TaskReply(Struct, frozen=True, kw_only=True):
    """A task: what it does, how far it is, and how it ended. What a cancelled task has stored stays."""

    id: TaskId
    kind: Annotated[str, Meta(description="Kind of work.", examples=["ingest"])]
    state: StateName
    space: str
    actor: Annotated[str, Meta(description="Caller that asked for it, as in the audit log.")]
    asked: Annotated[Any, Meta(description="The request, as its kind stores it.")]
    total: Annotated[int | None, Meta(description="Number of items; null while unknown.")]
    done: Annotated[int, Meta(description="Items that have succeeded.")]
    failed: Annotated[int, Meta(description="Items that have failed; they are listed with their errors.")]
    skipped: Annotated[int, Meta(description="Items that needed no work.")]
    rate: Annotated[float | None, Meta(description="Finished items a second.")]
    seconds_left: Annotated[float | None, Meta(description="Estimated seconds until the end; null when unknown.")]
    attempts: Annotated[int, Meta(description="How often a process has taken the task.")]
    revision: Annotated[int, Meta(description="Grows with each change of the task.")]
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    expires_at: Annotated[datetime | None, Meta(description="Time at which the ended task is forgotten.")]
    result: Annotated[Any, Meta(description="Result of the work, once it has ended.")] | UnsetType = UNSET
    error: ErrorReply | UnsetType = UNSET
    obstacle: (
        Annotated[
            ErrorReply,
            Meta(
                description="The error that keeps the process that answers from working on tasks, such as a full disk. "
                "It tries again by itself; the task is kept."
            ),
        ]
        | UnsetType
    ) = UNSET

    @classmethod
    def of(cls, task: Task, obstacle: MuistiError | None = None) -> "TaskReply":
        rate, left = task.rate, task.left
        return cls(
            id=task.id,
            kind=task.kind,
            state=task.state,
            space=task.space,
            actor=task.actor,
            asked=task.asked,
            total=task.total or None,
            done=task.done,
            failed=task.failed,
            skipped=task.skipped,
            rate=None if rate is None else round(rate, 2),
            seconds_left=None if left is None else round(left, 1),
            attempts=task.attempts,
            revision=task.revision,
            created_at=task.created_at,
            started_at=task.started_at,
            ended_at=task.ended_at,
            expires_at=task.expires_at,
            result=UNSET if task.result is None else task.result,
            error=_error(task.error_code, task.error),
            obstacle=UNSET
            if obstacle is None or task.is_over
            else ErrorReply(code=obstacle.code, detail=str(obstacle)),
        )


class TasksReply(Struct, frozen=True, kw_only=True):
    """A page of tasks, newest first."""

    items: list[TaskReply]
    next_cursor: str | None

    @classmethod
    def of(cls, page: TaskPage) -> "TasksReply":
        return cls(items=[TaskReply.of(one) for one in page.items], next_cursor=page.next_cursor)


class TaskItemReply(Struct, frozen=True, kw_only=True):
    """An item of a task, such as one file."""

    number: int
    name: Annotated[str, Meta(examples=["docs/guide.pdf"])]
    state: ItemStateName
    attempts: Annotated[int, Meta(description="How often work on it has begun.")]
    error: ErrorReply | UnsetType = UNSET

    @classmethod
    def of(cls, item: Item) -> "TaskItemReply":
        return cls(
            number=item.number,
            name=item.name,
            state=item.state,
            attempts=item.attempts,
            error=_error(item.error_code, item.error),
        )


class TaskItemsReply(Struct, frozen=True, kw_only=True):
    """A page of the items of a task, in their order."""

    items: list[TaskItemReply]
    next_cursor: str | None

    @classmethod
    def of(cls, page: ItemPage) -> "TaskItemsReply":
        return cls(items=[TaskItemReply.of(one) for one in page.items], next_cursor=page.next_cursor)


def _error(code: str | None, text: str | None) -> ErrorReply | UnsetType:
    return UNSET if code is None else ErrorReply(code=code, detail=text or "")
