"""Tasks: work that outlives the request that asked for it."""

from typing import Annotated, get_args

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, HeaderParameter, QueryParameter

from muisti.core.model.tasks import ItemState, Task
from muisti.core.model.terms import TaskState
from muisti.service.auth.access import check
from muisti.service.auth.middleware import access_of
from muisti.service.feed import progress
from muisti.service.feed.stream import EventStream
from muisti.service.http.decode import Request
from muisti.service.http.parameters import CursorParameter, DryRunParameter, LimitParameter
from muisti.service.http.respond import followed, placed, tried
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.errors import HttpError
from muisti.service.schemas.tasks import TaskItemsReply, TaskReply, TasksReply

WAIT_MAX = 30  # seconds

StateParameter = Annotated[
    str | None,
    QueryParameter(name="state", description=f"Only tasks in these states, a,b,c of {', '.join(get_args(TaskState))}."),
]
KindParameter = Annotated[str | None, QueryParameter(name="kind", description="Only tasks of these kinds, a,b,c.")]
ItemStateParameter = Annotated[
    str | None,
    QueryParameter(name="state", description=f"Only items in these states, a,b,c of {', '.join(get_args(ItemState))}."),
]
WaitParameter = Annotated[
    float,
    QueryParameter(
        description="Seconds to wait for a change after revision `after`.",
        schema_extra={"minimum": 0, "maximum": WAIT_MAX},
    ),
]
AfterParameter = Annotated[int | None, QueryParameter(description="`revision` of the task as it was seen last.")]
LastRevision = Annotated[
    str | None,
    HeaderParameter(name="Last-Event-ID", description="To resume a stream: the id of the last event received."),
]


@get("/tasks", operation_id="listTasks", tags=["tasks"], needs="key")
async def list_tasks(
    request: Request,
    space: FromPath[str],
    backend: NamedDependency[Backend],
    states: StateParameter = None,
    kinds: KindParameter = None,
    limit: LimitParameter = 50,
    cursor: CursorParameter = None,
) -> Response[TasksReply]:
    """List tasks, newest first.

    A key that does not see the whole space sees the tasks that it has asked for. Ended tasks are kept for 30 days.
    """
    page = await backend.store(
        backend.engine.tasks.list,
        space,
        access_of(request.scope).caller(),
        states=_split(states),
        kinds=_split(kinds),
        limit=limit,
        cursor=cursor,
    )
    answer = await placed(Response(TasksReply.of(page)), backend, space)
    return followed(request, answer, page.next_cursor)


@get("/tasks/{task_id:str}", operation_id="getTask", tags=["tasks"], needs="key")
async def get_task(
    request: Request,
    space: FromPath[str],
    task_id: FromPath[str],
    backend: NamedDependency[Backend],
    wait: WaitParameter = 0.0,
    after: AfterParameter = None,
) -> Response[TaskReply]:
    """Show how far a task is.

    With `wait` and `after` the answer comes when the task has changed since that revision, or is over, at the latest
    after so many seconds. It comes earlier when something keeps the process from working on tasks.
    """
    caller = access_of(request.scope).caller()

    async def look() -> Task:
        return await backend.store(backend.engine.tasks.get, space, task_id, caller)

    if wait:
        backend.engine.tasks.ring()  # somebody waits, so a process that runs its own tasks alone takes this one
    tasks = backend.engine.tasks

    task = await progress.awaited(look, after, max(0.0, min(wait, WAIT_MAX)), lambda: tasks.obstacle is not None)
    answer = await placed(Response(TaskReply.of(task, tasks.obstacle)), backend, space)
    if not task.is_over:
        answer.headers["Retry-After"] = "1"
    return answer


@get("/tasks/{task_id:str}/items", operation_id="listTaskItems", tags=["tasks"], needs="key")
async def list_items(
    request: Request,
    space: FromPath[str],
    task_id: FromPath[str],
    backend: NamedDependency[Backend],
    states: ItemStateParameter = None,
    limit: LimitParameter = 50,
    cursor: CursorParameter = None,
) -> Response[TaskItemsReply]:
    """List the items of a task in their order, each with its error if it has failed."""
    page = await backend.store(
        backend.engine.tasks.items,
        space,
        task_id,
        access_of(request.scope).caller(),
        states=_split(states),
        limit=limit,
        cursor=cursor,
    )
    answer = await placed(Response(TaskItemsReply.of(page)), backend, space)
    return followed(request, answer, page.next_cursor)


@get(
    "/tasks/{task_id:str}/events",
    operation_id="followTask",
    tags=["tasks"],
    needs="key",
    media="text/event-stream",
    problems=["malformed_header"],
)
async def follow_task(
    request: Request,
    space: FromPath[str],
    task_id: FromPath[str],
    backend: NamedDependency[Backend],
    last_event_id: LastRevision = None,
) -> EventStream:
    """Follow a task as a stream of events, until it is over.

    An event `progress`, and at last `end`, has the task as the read of it has, and its id is the task's revision. A
    client that reconnects with `Last-Event-ID` gets the next event when the task has changed since.
    """
    caller = access_of(request.scope).caller()
    if last_event_id is not None and not (last_event_id.isascii() and last_event_id.isdigit()):
        raise HttpError("malformed_header", "Last-Event-ID must be the id of an event of this task")

    async def look() -> Task:
        return await backend.store(backend.engine.tasks.get, space, task_id, caller)

    async def allowed() -> None:
        """Check the key again: it may be revoked, or expire, while the stream runs."""
        check(await request.app.state.gate.enter(request.scope["headers"], request.scope["path"]), "key", space)

    await look()
    backend.engine.tasks.ring()
    last = None if last_event_id is None else int(last_event_id[:18])
    return EventStream(progress.blocks(look, allowed, lambda: backend.stopping, last), {})


@post("/tasks/{task_id:str}/cancel", status_code=200, operation_id="cancelTask", tags=["tasks"], needs="key")
async def cancel_task(
    request: Request,
    space: FromPath[str],
    task_id: FromPath[str],
    backend: NamedDependency[Backend],
    dry_run: DryRunParameter = False,
) -> Response[TaskReply]:
    """Cancel a task.

    It is over when this is answered, and stores nothing more. What it has stored stays: `done` and the items that are
    `done` say what. A task that is over is returned as it is. Tasks of other keys need the scope `write`.
    """
    access = access_of(request.scope)
    tasks, caller = backend.engine.tasks, access.caller()
    task = await backend.store(tasks.get, space, task_id, caller)
    if task.actor != access.actor:
        check(access, "write", space)
    if not dry_run:
        task = await backend.store(tasks.cancel, space, task_id, caller)
    return tried(dry_run, await placed(Response(TaskReply.of(task)), backend, space))


def _split(text: str | None) -> tuple[str, ...]:
    return () if text is None else tuple(part for part in text.split(",") if part)


ROUTES = (list_tasks, get_task, list_items, follow_task, cancel_task)
