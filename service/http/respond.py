"""Builds answers with the headers that their values ask for."""

import re
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar, cast
from urllib.parse import quote, urlencode

from litestar import Response

from muisti.core.documents.model import Pruned, Synced
from muisti.core.model.outcomes import Ending, Plan, Written
from muisti.core.model.tasks import Task
from muisti.core.model.values import Found, Seq
from muisti.service.asgi.header_names import REPLAYED, SEQ
from muisti.service.asgi.messages import PlainResponse
from muisti.service.http.plain import stored, written_headers
from muisti.service.http.request import Request
from muisti.service.schemas.replies import AddedReply, DryRunReply, MemoryReply, WrittenReply
from muisti.service.schemas.tasks import TaskReply

A = TypeVar("A")
P = ParamSpec("P")
T = TypeVar("T")
D = TypeVar("D", Ending, Synced, Pruned)

CHECKED = "private, no-cache"  # may be kept by the caller alone, and asked about with If-None-Match each time


def whole(answer: PlainResponse) -> Response[Any]:
    """Return an answer as a response of Litestar."""
    return Response(answer.content, status_code=answer.status, headers=answer.headers)


def read(body: T, seq: Seq | str) -> Response[T]:
    """Answer with a body and the point of history at which it was read."""
    return Response(body, headers={SEQ: str(seq)})


async def answered(
    request: Request, ask: Callable[Concatenate[str, P], A], *args: P.args, **named: P.kwargs
) -> Response[A]:
    """Answer with what the core says of the space of the request, as it is."""
    found = await request.ask(ask, *args, **named)
    return read(found, cast(Any, found).seq)


async def placed(answer: Response[T], request: Request) -> Response[T]:
    """Add the space's current point of history to an answer that is not part of that history."""
    answer.headers[SEQ] = str((await request.ask(request.engine.spaces.get)).at)
    return answer


def followed(request: Request, answer: Response[T], cursor: str | None) -> Response[T]:
    """Add the address of the next page to the answer, as `Link`."""
    if cursor is not None:
        given = [(name, value) for name, value in request.query_params.multi_items() if name != "cursor"]
        # The path as it was sent: what was decoded may hold what no header can.
        path = request.scope["raw_path"].partition(b"?")[0].decode("latin-1")
        answer.headers["Link"] = f'<{path}?{urlencode([*given, ("cursor", cursor)])}>; rel="next"'
    return answer


def found(one: Found, *, is_known: bool) -> Response[MemoryReply] | Response[None]:
    """Answer with a memory, or 304 when the caller has this version already.

    Of one with anchors nothing is known: their states change with documents, in the same version.
    """
    headers = {SEQ: str(one.seq), "ETag": one.memory.etag, "Cache-Control": CHECKED}
    if is_known and not one.memory.anchors:
        return Response(None, status_code=304, headers=headers)
    return Response(MemoryReply.of(one.memory), headers=headers)


def planned(plan: Plan | None, answer: Response[T]) -> Response[T]:
    """Return the answer itself; for a dry run its plan, with the answer that the caller would get."""
    if plan is None:
        return answer
    reply = DryRunReply.of(plan, status=answer.status_code or 200, answer=answer.content)
    headers = {name: value for name, value in answer.headers.items() if name == SEQ}
    return cast(Response[T], Response(reply, status_code=200, headers=headers))


def tried(request: Request, answer: Response[T]) -> Response[T]:
    """Return the answer; for a dry run of what changes no memory, an empty plan with that answer."""
    return planned(Plan(0, ()) if request.dry_run else None, answer)


def written(one: Written) -> Response[WrittenReply]:
    """Answer with the memory that a write made or changed."""
    memory = one.memories[0]
    headers = {**written_headers(one), "ETag": memory.etag}
    if one.created:
        headers["Location"] = f"/v1/spaces/{memory.space}/memories/{memory.id}"
    answer = Response(WrittenReply.of_changed(one), status_code=201 if one.created else 200, headers=headers)
    return planned(one.plan, answer)


def added(one: Written) -> Response[AddedReply]:
    """Answer with the memory that was added and the memories like it, or with the plan of a dry run."""
    return planned(one.plan, whole(stored(one)))


def deleted(one: Written) -> Response[None]:
    return planned(one.plan, Response(None, status_code=204, headers=written_headers(one)))


def committed(done: D, reply: Callable[[D], T]) -> Response[T]:
    """Answer with what a change of several memories has done, or with the plan of a dry run."""
    timing = {"Server-Timing": f"commit;dur={done.commit:.2f}"} if done.commit else {}
    return planned(done.plan, Response(reply(done), headers={SEQ: str(done.seq)} | timing, status_code=200))


RETRY_AFTER = 1  # seconds after which a client should look for the first time


def accepted(task: Task, *, replayed: bool = False) -> Response[TaskReply]:
    """Answer 202 with the task, its address, and when to look at it. `replayed`: an earlier request has made it."""
    headers = {"Location": address(task), "Retry-After": str(RETRY_AFTER)} | ({REPLAYED: "true"} if replayed else {})
    return Response(TaskReply.of(task), status_code=202, headers=headers)


def address(task: Task) -> str:
    """Return the path of a task."""
    return f"/v1/spaces/{quote(task.space, safe='')}/tasks/{task.id}"


_MINIMAL = re.compile(r'(?:^|,)\s*return\s*=\s*"?minimal"?\s*(?:$|[,;])', re.IGNORECASE)


def minimal(header: str) -> bool:
    """Return whether `Prefer` asks for an answer without the memory.

    >>> minimal("respond-async, return=minimal"), minimal("return=representation")
    (True, False)
    """
    return _MINIMAL.search(header) is not None


def preferred(request: Request, answer: Response[Any]) -> Response[Any]:
    """Return the answer without its body when the caller prefers that. The headers keep what the caller must know."""
    if not minimal(request.headers.get("prefer", "")) or isinstance(answer.content, DryRunReply):
        return answer
    status = 204 if answer.status_code == 200 else answer.status_code
    headers = {**answer.headers, "Preference-Applied": "return=minimal"}
    return Response(None if status == 204 else b"", status_code=status, headers=headers, media_type="application/json")
