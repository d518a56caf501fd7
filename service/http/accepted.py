"""The answer to a request whose work goes on as a task."""

from urllib.parse import quote

from litestar import Response

from muisti.core.model.tasks import Task
from muisti.service.http.headers import REPLAYED
from muisti.service.schemas.tasks import TaskReply

RETRY_AFTER = 1  # seconds after which a client should look for the first time


def accepted(task: Task, *, replayed: bool = False) -> Response[TaskReply]:
    """Answer 202 with the task, its address, and when to look at it. `replayed`: an earlier request has made it."""
    headers = {"Location": address(task), "Retry-After": str(RETRY_AFTER)} | ({REPLAYED: "true"} if replayed else {})
    return Response(TaskReply.of(task), status_code=202, headers=headers)


def address(task: Task) -> str:
    """Return the path of a task."""
    return f"/v1/spaces/{quote(task.space, safe='')}/tasks/{task.id}"
