"""Points of a space's history: checkpoints, differences, rollback; and forks, compared and merged."""

from typing import Annotated

from litestar import Response
from litestar.params import FromPath, JSONBody

from muisti.service.asgi.header_names import SEQ
from muisti.service.auth.access import check
from muisti.service.checkpoints.schemas import (
    CheckpointBody,
    CheckpointReply,
    CheckpointsReply,
    ClearBody,
    ClearedReply,
    ComparisonReply,
    DiffReply,
    ForkBody,
    MergeBody,
    MergedReply,
    RollBackBody,
    RolledBackReply,
)
from muisti.service.http.parameters import DRY, PAST, CursorParameter, LimitParameter, query
from muisti.service.http.request import Request
from muisti.service.http.respond import followed, planned, read, tried, written_headers
from muisti.service.http.routing import Routes
from muisti.service.schemas.errors import HttpError
from muisti.service.schemas.policy import SpaceReply

routes = Routes("checkpoints")

_POINT = "A checkpoint, a time, or a change: its number or a Muisti-Seq."
SinceParameter = Annotated[str, query(_POINT)]
UntilParameter = Annotated[str | None, query(f"{_POINT} Now, unless it is given.")]


@routes.post("/checkpoints", needs="write", problems=["conflict", "already_exists", "sensitive_content"], standard=DRY)
async def create_checkpoint(request: Request, data: JSONBody[CheckpointBody]) -> Response[CheckpointReply]:
    """Name the current point of the space's history.

    The versions at that point are kept until the checkpoint is deleted, even beyond the retention of the space.
    """
    seen = request.memories
    made, seq = await request.ask(seen.timeline.create_checkpoint, data.name, data.note)
    answer = read(CheckpointReply.at(made, seq), seq)
    answer.status_code = 201
    return tried(request, answer)


@routes.get("/checkpoints", needs="read")
async def list_checkpoints(request: Request) -> Response[CheckpointsReply]:
    """List the checkpoints, newest first."""
    found, seq = await request.ask(request.memories.timeline.list_checkpoints)
    return read(CheckpointsReply(items=[CheckpointReply.at(one, seq) for one in found]), seq)


@routes.delete("/checkpoints/{checkpoint:str}", needs="write", standard=DRY)
async def delete_checkpoint(request: Request, checkpoint: FromPath[str]) -> Response[None]:
    """Delete a checkpoint.

    The retention of the space then applies to its point of history. No memory changes.
    """
    await request.ask(request.memories.timeline.delete_checkpoint, checkpoint)
    return tried(request, Response(None, status_code=204))


@routes.get("/diff", needs="read", problems=PAST)
async def diff_space(
    request: Request,
    since: SinceParameter,
    until: UntilParameter = None,
    limit: LimitParameter = 50,
    cursor: CursorParameter = None,
) -> Response[DiffReply]:
    """Read the differences between two points.

    The answer names the memories that were added, changed and ended, field by field. Memories that were added and ended
    between the points are left out. A page may have fewer items than `limit` and still have a next one.
    """
    ask = request.memories.timeline.diff
    found = await request.ask(ask, since, until, limit=limit, cursor=cursor)
    return followed(request, read(DiffReply.of(found), found.until), found.next_cursor)


@routes.post(
    "/rollback",
    status_code=200,
    needs="delete",
    screens=True,
    problems=[*PAST, "quota_exceeded", "sensitive_content"],
    standard=DRY,
)
async def roll_back(request: Request, data: JSONBody[RollBackBody]) -> Response[RolledBackReply]:
    """Restore the whole space as it was at a point.

    In one step, memories added since are ended, and memories changed or ended since are restored. Nothing is lost:
    histories keep all versions, and rolling back to the answer's `before` undoes it. Text that becomes current again
    passes the policy of the space as if it were new. Needs the scopes `write` and `delete`.
    """
    check(request.access, "write")
    done = await request.ask(request.memories.timeline.roll_back, data.to)
    answer = Response(RolledBackReply.of(done), status_code=200, headers=written_headers(done.written))
    return planned(done.written.plan, answer)


@routes.post("/clear", status_code=200, needs="delete", standard=DRY)
async def clear_space(request: Request, data: JSONBody[ClearBody]) -> Response[ClearedReply]:
    """Delete all memories of the space.

    Their histories stay, and rolling back to the answer's `before` brings them back. To erase them for good, purge.
    """
    done = await request.ask(request.memories.timeline.clear, data.confirm)
    answer = Response(ClearedReply.of(done), status_code=200, headers=written_headers(done.written))
    return planned(done.written.plan, answer)


# Forks of a space: copied, compared, merged

forks = Routes("spaces")

OtherParameter = Annotated[str, query("The space that would be merged.")]


@forks.post("/fork", needs="admin", problems=["already_exists", "quota_exceeded"], standard=DRY)
async def fork_space(request: Request, data: JSONBody[ForkBody]) -> Response[SpaceReply]:
    """Copy a space.

    Each current memory is copied with its vectors, as version 1 under a new id. Earlier versions, keys and quotas are
    not copied. The copy has the policy of the space, which is not applied again to copied memories; its own quota
    counts.
    """
    access = request.access
    if not access.grant.reaches(data.name):
        raise HttpError("forbidden", f"this key may only create the spaces {', '.join(access.grant.spaces)} only")
    if not request.dry_run:
        await request.backend.store(request.backend.engines.beside, request.space, data.name)
    made = await request.ask(request.memories.timeline.fork, data.name)
    headers = {SEQ: str(made.at), "Location": f"/v1/spaces/{made.name}"}
    return tried(request, Response(SpaceReply.of(request.engine.spaces.ruled(made)), status_code=201, headers=headers))


@forks.get("/compare", needs="read", problems=["conflict", "model_mismatch"])
async def compare_spaces(
    request: Request, other: OtherParameter, limit: LimitParameter = 50, cursor: CursorParameter = None
) -> Response[ComparisonReply]:
    """Preview a merge of another space into this one.

    The answer lists, memory by memory, what each side has changed since both were the same. The order is that of the
    ids in the other space.
    """
    check(request.access, "read", other)
    request.backend.engines.together(request.space, other)
    found = await request.ask(request.memories.timeline.compare, other, limit=limit, cursor=cursor)
    return followed(request, read(ComparisonReply.of(found), found.seq), found.next_cursor)


@forks.post(
    "/merge",
    status_code=200,
    needs="delete",
    screens=True,
    problems=["merge_conflict", "conflict", "quota_exceeded", "echo", "sensitive_content"],
    standard=DRY,
)
async def merge_spaces(request: Request, data: JSONBody[MergeBody]) -> Response[MergedReply]:
    """Take over the changes of another space since it was forked from this one, or last merged into it.

    A merge is atomic. Different changes of both sides to a memory are refused unless there is a `strategy`. Memories of
    a space that is no fork are added, without duplicates. A repeated merge takes over only what is new. Incoming text
    passes the policy of this space as if it were new. When the policy refuses some of it, nothing is merged, and
    `errors` names the memories by their ids in the other space.
    Needs the scopes `write` and `delete`, and `read` in the other space.
    """
    access = request.access
    check(access, "write")
    check(access, "admin" if data.drop else "read", data.source)
    request.backend.engines.together(request.space, data.source)
    seen = request.memories
    done = await request.backend.store(seen.timeline.merge, data.source, request.space, data.strategy, drop=data.drop)
    return planned(done.plan, Response(MergedReply.of(done), status_code=200, headers=written_headers(done)))
