"""Tasks: work that outlives the request that asked for it."""

from typing import Annotated, get_args

from litestar import Response
from litestar.params import FromPath, HeaderParameter

from muisti.core.model.choices import TaskState
from muisti.core.model.tasks import ItemState, Task
from muisti.service.auth.access import check
from muisti.service.feed.stream import EventStream, awaited, task_blocks
from muisti.service.http.parameters import DRY, CursorParameter, LimitParameter, query
from muisti.service.http.request import Request
from muisti.service.http.respond import followed, placed, tried
from muisti.service.http.routing import Routes
from muisti.service.schemas.errors import HttpError
from muisti.service.schemas.tasks import TaskItemsReply, TaskReply, TasksReply

routes = Routes("tasks")

WAIT_MAX = 30  # seconds

StateParameter = Annotated[
    str | None, query(f"Only tasks in these states, a,b,c of {', '.join(get_args(TaskState))}.", name="state")
]
KindParameter = Annotated[str | None, query("Only tasks of these kinds, a,b,c.", name="kind")]
ItemStateParameter = Annotated[
    str | None, query(f"Only items in these states, a,b,c of {', '.join(get_args(ItemState))}.", name="state")
]
WaitParameter = Annotated[
    float, query("Seconds to wait for a change after revision `after`.", minimum=0, maximum=WAIT_MAX)
]
AfterParameter = Annotated[int | None, query("`revision` of the task as it was seen last.")]
LastRevision = Annotated[
    str | None,
    HeaderParameter(name="Last-Event-ID", description="To resume a stream: the id of the last event received."),
]


@routes.get("/tasks", needs="key")
async def list_tasks(
    request: Request,
    states: StateParameter = None,
    kinds: KindParameter = None,
    limit: LimitParameter = 50,
    cursor: CursorParameter = None,
) -> Response[TasksReply]:
    """List tasks, newest first.

    A key that does not see the whole space sees the tasks that it has asked for. Ended tasks are kept for 30 days.
    """
    page = await request.ask(
        request.engine.tasks.list,
        request.caller,
        states=_split(states),
        kinds=_split(kinds),
        limit=limit,
        cursor=cursor,
    )
    answer = await placed(Response(TasksReply.of(page)), request)
    return followed(request, answer, page.next_cursor)


@routes.get("/tasks/{task_id:str}", needs="key")
async def get_task(
    request: Request, task_id: FromPath[str], wait: WaitParameter = 0.0, after: AfterParameter = None
) -> Response[TaskReply]:
    """Show how far a task is.

    With `wait` and `after` the answer comes when the task has changed since that revision, or is over, at the latest
    after so many seconds. It comes earlier when something keeps the process from working on tasks.
    """
    caller = request.caller

    async def look() -> Task:
        return await request.ask(request.engine.tasks.get, task_id, caller)

    if wait:
        request.engine.tasks.ring()  # somebody waits, so a process that runs its own tasks alone takes this one
    tasks = request.engine.tasks

    task = await awaited(look, after, max(0.0, min(wait, WAIT_MAX)), lambda: tasks.obstacle is not None)
    answer = await placed(Response(TaskReply.of(task, tasks.obstacle)), request)
    if not task.is_over:
        answer.headers["Retry-After"] = "1"
    return answer


@routes.get("/tasks/{task_id:str}/items", needs="key")
async def list_task_items(
    request: Request,
    task_id: FromPath[str],
    states: ItemStateParameter = None,
    limit: LimitParameter = 50,
    cursor: CursorParameter = None,
) -> Response[TaskItemsReply]:
    """List the items of a task in their order, each with its error if it has failed."""
    page = await request.ask(
        request.engine.tasks.items, task_id, request.caller, states=_split(states), limit=limit, cursor=cursor
    )
    answer = await placed(Response(TaskItemsReply.of(page)), request)
    return followed(request, answer, page.next_cursor)


@routes.get("/tasks/{task_id:str}/events", needs="key", media="text/event-stream", problems=["malformed_header"])
async def follow_task(request: Request, task_id: FromPath[str], last_event_id: LastRevision = None) -> EventStream:
    """Follow a task as a stream of events, until it is over.

    An event `progress`, and at last `end`, has the task as the read of it has, and its id is the task's revision. A
    client that reconnects with `Last-Event-ID` gets the next event when the task has changed since.
    """
    caller = request.caller
    if last_event_id is not None and not (last_event_id.isascii() and last_event_id.isdigit()):
        raise HttpError("malformed_header", "Last-Event-ID must be the id of an event of this task")

    async def look() -> Task:
        return await request.ask(request.engine.tasks.get, task_id, caller)

    async def allowed() -> None:
        """Check the key again: it may be revoked, or expire, while the stream runs."""
        check(await request.app.state.gate.enter(request.scope["headers"], request.scope["path"]), "key", request.space)

    await look()
    request.engine.tasks.ring()
    last = None if last_event_id is None else int(last_event_id[:18])
    return EventStream(task_blocks(look, allowed, lambda: request.backend.stopping, last), {})


@routes.post("/tasks/{task_id:str}/cancel", status_code=200, needs="key", standard=DRY)
async def cancel_task(request: Request, task_id: FromPath[str]) -> Response[TaskReply]:
    """Cancel a task.

    It is over when this is answered, and stores nothing more. What it has stored stays: `done` and the items that are
    `done` say what. A task that is over is returned as it is. Tasks of other keys need the scope `write`.
    """
    access = request.access
    tasks, caller = request.engine.tasks, access.caller()
    task = await request.ask(tasks.get, task_id, caller)
    if task.actor != access.actor:
        check(access, "write", request.space)
    if not request.dry_run:
        task = await request.ask(tasks.cancel, task_id, caller)
    return tried(request, await placed(Response(TaskReply.of(task)), request))


def _split(text: str | None) -> tuple[str, ...]:
    return () if text is None else tuple(part for part in text.split(",") if part)
