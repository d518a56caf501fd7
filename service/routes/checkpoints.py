"""Checkpoints: named points of a space's history; the diff between points, and rollback to one."""

from typing import Annotated

from litestar import Response, delete, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, QueryParameter

from muisti.service.auth.access import check
from muisti.service.auth.middleware import access_of, memories
from muisti.service.http.decode import Request
from muisti.service.http.parameters import PAST, CursorParameter, DryRunParameter, LimitParameter
from muisti.service.http.respond import followed, planned, read, tried, written_headers
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.checkpoints import (
    CheckpointBody,
    CheckpointReply,
    CheckpointsReply,
    ClearBody,
    ClearedReply,
    DiffReply,
    RollBackBody,
    RolledBackReply,
)

_POINT = "A checkpoint, a time, or a change: its number or a Muisti-Seq."
SinceParameter = Annotated[str, QueryParameter(description=_POINT)]
UntilParameter = Annotated[str | None, QueryParameter(description=f"{_POINT} Now, unless it is given.")]


@post(
    "/checkpoints",
    operation_id="createCheckpoint",
    tags=["checkpoints"],
    needs="write",
    problems=["conflict", "already_exists", "sensitive_content"],
)
async def create_checkpoint(
    request: Request,
    space: FromPath[str],
    data: JSONBody[CheckpointBody],
    backend: NamedDependency[Backend],
    dry_run: DryRunParameter = False,
) -> Response[CheckpointReply]:
    """Name the current point of the space's history.

    The versions at that point are kept until the checkpoint is deleted, even beyond the retention of the space.
    """
    seen = memories(request, backend, dry_run=dry_run)
    made, seq = await backend.store(seen.timeline.create_checkpoint, space, data.name, data.note)
    answer = read(CheckpointReply.of(made, seq), seq)
    answer.status_code = 201
    return tried(dry_run, answer)


@get("/checkpoints", operation_id="listCheckpoints", tags=["checkpoints"], needs="read")
async def list_checkpoints(
    request: Request, space: FromPath[str], backend: NamedDependency[Backend]
) -> Response[CheckpointsReply]:
    """List the checkpoints, newest first."""
    found, seq = await backend.store(memories(request, backend).timeline.list_checkpoints, space)
    return read(CheckpointsReply(items=[CheckpointReply.of(one, seq) for one in found]), seq)


@delete("/checkpoints/{checkpoint:str}", operation_id="deleteCheckpoint", tags=["checkpoints"], needs="write")
async def delete_checkpoint(
    request: Request,
    space: FromPath[str],
    checkpoint: FromPath[str],
    backend: NamedDependency[Backend],
    dry_run: DryRunParameter = False,
) -> Response[None]:
    """Delete a checkpoint.

    The retention of the space then applies to its point of history. No memory changes.
    """
    await backend.store(memories(request, backend, dry_run=dry_run).timeline.delete_checkpoint, space, checkpoint)
    return tried(dry_run, Response(None, status_code=204))


@get("/diff", operation_id="diffSpace", tags=["checkpoints"], needs="read", problems=PAST)
async def diff_space(
    request: Request,
    space: FromPath[str],
    since: SinceParameter,
    backend: NamedDependency[Backend],
    until: UntilParameter = None,
    limit: LimitParameter = 50,
    cursor: CursorParameter = None,
) -> Response[DiffReply]:
    """Read the differences between two points.

    The answer names the memories that were added, changed and ended, field by field. Memories that were added and ended
    between the points are left out. A page may have fewer items than `limit` and still have a next one.
    """
    ask = memories(request, backend).timeline.diff
    found = await backend.store(ask, space, since, until, limit=limit, cursor=cursor)
    return followed(request, read(DiffReply.of(found), found.until), found.next_cursor)


@post(
    "/rollback",
    status_code=200,
    operation_id="rollBack",
    tags=["checkpoints"],
    needs="delete",
    screens=True,
    problems=[*PAST, "quota_exceeded", "sensitive_content"],
)
async def roll_back(
    request: Request,
    space: FromPath[str],
    data: JSONBody[RollBackBody],
    backend: NamedDependency[Backend],
    dry_run: DryRunParameter = False,
) -> Response[RolledBackReply]:
    """Restore the whole space as it was at a point.

    In one step, memories added since are ended, and memories changed or ended since are restored. Nothing is lost:
    histories keep all versions, and rolling back to the answer's `before` undoes it. Text that becomes current again
    passes the policy of the space as if it were new. Needs the scopes `write` and `delete`.
    """
    check(access_of(request.scope), "write")
    done = await backend.store(memories(request, backend, dry_run=dry_run).timeline.roll_back, space, data.to)
    answer = Response(RolledBackReply.of(done), status_code=200, headers=written_headers(done.written))
    return planned(done.written.plan, answer)


@post(
    "/clear",
    status_code=200,
    operation_id="clearSpace",
    tags=["checkpoints"],
    needs="delete",
)
async def clear_space(
    request: Request,
    space: FromPath[str],
    data: JSONBody[ClearBody],
    backend: NamedDependency[Backend],
    dry_run: DryRunParameter = False,
) -> Response[ClearedReply]:
    """Delete all memories of the space.

    Their histories stay, and rolling back to the answer's `before` brings them back. To erase them for good, purge.
    """
    done = await backend.store(memories(request, backend, dry_run=dry_run).timeline.clear, space, data.confirm)
    answer = Response(ClearedReply.of(done), status_code=200, headers=written_headers(done.written))
    return planned(done.written.plan, answer)


ROUTES = (create_checkpoint, list_checkpoints, delete_checkpoint, diff_space, roll_back, clear_space)
