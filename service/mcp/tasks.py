"""The extension `io.modelcontextprotocol/tasks`: tasks of the database, which any process of it answers for.

A client that declares the extension gets a task in place of the result of long work. Its id names the space too, so a
question for it needs no state here. Whoever may not see a task gets the answer for one that does not exist.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any, Literal

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_NAME_HEADER, decode_header_value
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from msgspec import to_builtins

from muisti.core.model.errors import MuistiError, NotFound
from muisti.core.model.tasks import Task
from muisti.service.auth.access import check
from muisti.service.schemas.errors import HttpError
from muisti.service.schemas.tasks import TaskReply
from muisti.service.tools.rendering import counted, one_line
from muisti.service.tools.session import TASKS, Session

Context = ServerRequestContext[Any, Any]
SessionOf = Callable[[Context], Session]
Json = dict[str, Any]

POLL_MS = 1_000
RESULT = 4_000  # characters of the result of a task that are in its text
STATES = {"succeeded": "completed", "partial": "completed", "failed": "completed", "cancelled": "cancelled"}
BROKEN = "task."  # the codes of tasks whose processes ended; other errors are results of the tool
NEEDED = types.ClientCapabilities(extensions={TASKS: {}})


class TaskParams(types.RequestParams):
    task_id: str


class UpdateParams(TaskParams):
    input_responses: Json


def takes_tasks(ctx: Context) -> bool:
    """Tell whether the client of a request declares the extension."""
    able = ctx.session.client_capabilities
    modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
    return modern and able is not None and TASKS in (able.extensions or {})


def created(task: Task) -> Json:
    """Return the result of a request that a task goes on with."""
    return {"resultType": "task", **_about(task)}


def detailed(task: Task) -> Json:
    """Return a task with the result of the tool call that made it, once that has ended."""
    found = _about(task)
    if found["status"] == "failed":
        return {**found, "error": {"code": types.INTERNAL_ERROR, "message": task.error or ""}}
    if found["status"] != "completed":
        return found
    reply: Json = to_builtins(TaskReply.of(task))
    text = _told(task)
    if task.result is not None and len(result := one_line(json.dumps(task.result, ensure_ascii=False))) <= RESULT:
        text = f"{text}\n{result}"
    failed = task.state == "failed"
    content = [{"type": "text", "text": text}]
    return {**found, "result": {"content": content, "structuredContent": reply, "isError": failed}}


def _about(task: Task) -> Json:
    changed = task.ended_at or task.started_at or task.created_at
    kept = None if task.expires_at is None else round(1000 * (task.expires_at - task.created_at).total_seconds())
    return {
        "taskId": f"{task.space}:{task.id}",
        "status": "failed" if (task.error_code or "").startswith(BROKEN) else STATES.get(task.state, "working"),
        "statusMessage": _told(task),
        "createdAt": _time(task.created_at.isoformat()),
        "lastUpdatedAt": _time(changed.isoformat()),
        "ttlMs": kept,
        "pollIntervalMs": POLL_MS,
    }


def _time(text: str) -> str:
    return text.replace("+00:00", "Z")


def _told(task: Task) -> str:
    of = f" of {task.total:,}" if task.total else ""
    failed = f", {counted(task.failed, 'failure', 'failures')}" if task.failed else ""
    why = f": {one_line(task.error)}" if task.error else ""
    return f"{task.kind} {task.state}, {task.finished:,}{of} done{failed}{why}"


def missing(error: Exception | None = None) -> MCPError:
    """Return the error for a client that has not declared the extension, or for a task that it may not see."""
    if error is None:
        told = types.MissingRequiredClientCapabilityErrorData(required_capabilities=NEEDED)
        data = told.model_dump(by_alias=True, mode="json", exclude_none=True)
        return MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, f"Declare the extension {TASKS}", data)
    if isinstance(error, MuistiError | HttpError) and error.code in ("busy", "store_unavailable", "internal"):
        return MCPError(types.INTERNAL_ERROR, str(error), {"code": error.code})
    return MCPError(types.INVALID_PARAMS, "Task not found", {"code": "not_found"})


async def task_of(session: Session, name: str) -> Task:
    """Return the task of an id.

    Raises:
        MuistiError, HttpError: there is none that the caller may see.
    """
    space, _, id_ = name.partition(":")
    of = session.space(space, "key")
    return await session.backend.store(session.backend.engine.tasks.get, of, id_, session.caller())


class TaskMethods:
    """The methods `tasks/get`, `tasks/update` and `tasks/cancel`."""

    def __init__(self, session_of: SessionOf) -> None:
        self._session_of = session_of

    def add_to(self, server: Server[Any]) -> None:
        """Declare the extension and its methods."""
        server.extensions[TASKS] = {}
        server.add_request_handler("tasks/get", TaskParams, self.get)
        server.add_request_handler("tasks/update", UpdateParams, self.update)
        server.add_request_handler("tasks/cancel", TaskParams, self.cancel)

    async def get(self, ctx: Context, params: TaskParams) -> Json:
        task = await self._found(ctx, params)
        if not task.is_over:  # somebody waits, so a process that only runs its own tasks takes this one
            self._session_of(ctx).backend.engine.tasks.ring()
        return detailed(task)

    async def update(self, ctx: Context, params: UpdateParams) -> Json:
        """Take note of answers. No task of ours asks for any: a question comes before its task is made."""
        await self._found(ctx, params)
        return {}

    async def cancel(self, ctx: Context, params: TaskParams) -> Json:
        task, session = await self._found(ctx, params), self._session_of(ctx)
        try:
            if task.actor != session.access.actor:
                check(session.access, "write", task.space)
            await session.backend.store(session.backend.engine.tasks.cancel, task.space, task.id, session.caller())
        except (MuistiError, HttpError) as error:
            raise missing(error) from error
        return {}

    async def _found(self, ctx: Context, params: TaskParams) -> Task:
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            raise MCPError(types.METHOD_NOT_FOUND, "Method not found", ctx.method)
        if not takes_tasks(ctx):
            raise missing()
        if ctx.request is not None and decode_header_value(ctx.request.headers.get(MCP_NAME_HEADER)) != params.task_id:
            raise MCPError(types.HEADER_MISMATCH, f"{MCP_NAME_HEADER} header does not match taskId")
        try:
            return await task_of(self._session_of(ctx), params.task_id)
        except (MuistiError, HttpError) as error:
            raise missing(error) from error


class TaskChanged(types.Notification[Json, Literal["notifications/tasks"]]):
    method: Literal["notifications/tasks"] = "notifications/tasks"


class Followed:
    """The tasks of a stream of changes, as its client last saw them. At first it has seen none."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._seen: dict[str, int] = {}

    async def begin(self, names: Iterable[str]) -> list[str]:
        """Return those of the tasks that the caller may see; the stream reports changes of these."""
        found = [name for name in names if await self._task(name) is not None]
        self._seen = dict.fromkeys(found, -1)
        return found

    async def changes(self, meta: Json) -> list[TaskChanged]:
        """Return what has changed. A task that is over is reported once more, and then no longer."""
        found: list[TaskChanged] = []
        for name, seen in [*self._seen.items()]:
            task = await self._task(name)
            if task is not None and task.revision != seen:
                found.append(TaskChanged(params={**detailed(task), "_meta": meta}))
            if task is None or task.is_over:
                del self._seen[name]
            else:
                self._seen[name] = task.revision
        return found

    async def _task(self, name: str) -> Task | None:
        try:
            return await task_of(self._session, name)
        except (NotFound, HttpError):  # HttpError: the key does not reach it
            return None


def followed_ids(ctx: Context, asked: types.SubscriptionFilter, most: int) -> list[str]:
    """Return the ids of tasks that a client wants to follow.

    Raises:
        MCPError: it has not declared the extension, or there are too many.
    """
    named: Any = (asked.model_extra or {}).get("taskIds")
    if named is None:
        return []
    if not takes_tasks(ctx):
        raise missing()
    if not isinstance(named, list) or len(named) > most or not all(isinstance(one, str) for one in named):
        raise MCPError(types.INVALID_PARAMS, f"taskIds must be a list of at most {most} texts")
    return list(dict.fromkeys(named))
